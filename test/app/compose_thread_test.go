package app

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/core/access"
)

// A person writes a thread, changes it and publishes it. Nothing typed is lost, and blank parts are not published.
func TestComposeThread(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Owner)
		p := b.open("/posts/new?caption=First.&account="+c.id()).shows(200, "Add to thread")
		p = p.form("Add to thread").press().shows(200, "Part 2").form("Add to thread").fill("part-1", "Second.").press().
			shows(200, "Part 2", "Part 3", "Second.").form("Add to thread").fill("part-2", " ").press().
			shows(200, "Part 4")
		long := p.form("Schedule").fill("part-3", strings.Repeat("x", 301)).fill("date", "2030-01-02").fill("time", "10:00").press().
			shows(422, "Too long for Bluesky: 301/300 characters.").contains(`id="error-part-3"`)
		saved := long.form("Save draft").fill("part-3", "Third.").press().shows(200, "Saved.", "Second.", "Third.")
		stored := c.storedPost(t, saved.path)
		if len(stored.Thread) != 2 || stored.Thread[0].Caption != "Second." || stored.Thread[1].Caption != "Third." {
			t.Fatalf("%+v", stored.Thread)
		}
		edited := b.open(saved.path+"/edit").shows(200, "Part 2", "Part 3").form("Remove part 2").press().lacks("Second.").form("Save").
			press().shows(200, "Saved.")
		if stored = c.storedPost(t, edited.path); len(stored.Thread) != 1 || stored.Thread[0].Caption != "Third." {
			t.Fatalf("%+v", stored.Thread)
		}
		b.open(saved.path+"/edit").form("Save").press().shows(200, "Saved.")
		if again := c.storedPost(t, edited.path); !again.UpdatedAt.Equal(stored.UpdatedAt) {
			t.Error("saving without a change changed the post")
		}
	})
}

// Media are added to a part, reordered, described and removed without JavaScript. They survive errors and autosave.
func TestComposePartMedia(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Owner)
		kept := mediaID(c.addImage(t, "kept", 200))
		p := b.open("/posts/new?caption=First.&account="+c.id()).form("Add to thread").press().
			shows(200, "To add files here, choose this part").form("Add to thread").press()
		p = p.form("Upload").fill("part-1", "Second.").fill("into", "part-1").attach("quay.png", colorPNG(t, 10)).shows(200, "quay")
		quay := p.form("Save draft").values["partmedia-1"][0]
		p = p.form("Add selected").fill("into", "part-1").fill("picked", kept).press().shows(200, "kept").
			form("Move kept up").press()
		f := p.form("Schedule").fill("alt-"+kept, "A gray square").fill("part-2", strings.Repeat("x", 301))
		if got := f.values["partmedia-1"]; !slices.Equal(got, []string{kept, quay}) || f.values.Has("media") {
			t.Errorf("part %v, post %v", got, f.values["media"])
		}
		if stored := b.storeUnsaved(f); stored.status != http.StatusNoContent {
			t.Fatalf("status %d", stored.status)
		}
		restored := b.open("/posts/new").follow("Restore").shows(200, "A gray square", "quay")
		long := restored.form("Schedule").press().shows(422, "301/300", "A gray square", "quay")
		saved := long.form("Save draft").fill("part-2", "").press().shows(200, "Saved.").contains(`alt="A gray square"`)
		held := c.storedPost(t, saved.path)
		if len(held.Media) != 0 || len(held.Thread) != 1 || len(held.Thread[0].Media) != 2 ||
			held.Thread[0].Media[0].Name != "kept" || held.Thread[0].Media[0].Alt != "A gray square" {
			t.Fatalf("%+v", held.Thread)
		}
		edited := b.open(saved.path+"/edit").shows(200, "A gray square").form("Remove kept").press().form("Save").press()
		if held = c.storedPost(t, edited.path); len(held.Thread[0].Media) != 1 || held.Thread[0].Media[0].Name != "quay" {
			t.Errorf("%+v", held.Thread)
		}
	})
}

// A text that is too long for a network with threads is split without JavaScript. Nothing is lost.
func TestSplitIntoThread(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Owner)
		first := strings.Repeat("Cold brew needs time. ", 13)
		p := b.open("/posts/new?account="+c.id()).shows(200).lacks("Split into a thread").form("Save draft").
			fill("caption", first+"\r\n\r\nSo we wait.").press().shows(200, "Saved.")
		if got := c.storedPost(t, p.path).Caption; len(got) < 290 {
			t.Fatalf("%q", got)
		}
		fits := b.open(p.path+"/edit").shows(200).lacks("Split into a thread").form("Check").fill("caption", first+first+"So we wait.")
		split := fits.press().shows(200, "Split into a thread", "Too long for Bluesky").form("Split into a thread").press().
			shows(200, "Part 2", "So we wait.").lacks("Split into a thread", "Too long for Bluesky")
		saved := split.form("Save").press().shows(200, "Saved.")
		held := c.storedPost(t, saved.path)
		text := held.Caption
		for _, part := range held.Thread {
			text += " " + part.Caption
		}
		if text != first+first+"So we wait." || len(held.Thread) != 1 {
			t.Errorf("%d parts: %q", len(held.Thread), text)
		}
		link := "https://harbour.example/" + strings.Repeat("x", 300)
		p = b.open("/posts/new?account="+c.id()).form("Check").fill("caption", link).press()
		p.form("Split into a thread").press().shows(422, "A link is too long for one part.").contains(`id="error-caption"`)
	})
}

// A network without threads blocks a thread, and the problem is shown at the parts.
func TestThreadOnOtherNetwork(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		c.change(t, `UPDATE social_accounts SET platform = 'linkedin' WHERE id = ?`, c.account)
		b := c.as(t, access.Owner)
		f := b.open("/posts/new?caption=First.&account=" + c.id()).form("Schedule")
		f.values.Set("part-1", "Second.")
		says := "LinkedIn has no threads, so this post cannot be published there."
		f.fill("date", "2030-01-02").fill("time", "10:00").press().shows(422, says, "Second.").
			contains(`id="error-thread"`)
		f.values["account"] = []string{c.id(), c.addAccountOf(t, "facebook"), c.addAccountOf(t, "x")}
		p := b.send(http.MethodPost, "/posts/preview", f.values).shows(200, "X harbour", ": 7 / 280")
		if n := strings.Count(p.source, "Facebook and LinkedIn have no threads, so this post cannot be published there."); n != 2 {
			t.Errorf("%d sentences about networks without threads, want one at the parts and one in the list of problems", n)
		}
	})
}

// A single problem with the text of a single account is shown only at its preview. Other problems are also listed.
func TestPreviewListsProblems(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		long, facebook := strings.Repeat("é", 301), c.addAccountOf(t, "facebook")
		for name, test := range map[string]struct {
			values url.Values
			lists  bool
		}{
			"none":             {url.Values{"account": {c.id()}, "caption": {"Short."}}, false},
			"text":             {url.Values{"account": {c.id()}, "caption": {long}}, false},
			"another field":    {url.Values{"account": {c.addAccountOf(t, "instagram")}, "caption": {"No image."}}, true},
			"several accounts": {url.Values{"account": {c.id(), facebook}, "caption": {long}}, true},
			"a thread":         {url.Values{"account": {c.id()}, "caption": {long}, "part-1": {"Second."}}, true},
		} {
			f := b.open("/posts/new?caption=x").form("Save draft")
			maps.Copy(f.values, test.values)
			shown := b.send(http.MethodPost, "/posts/preview", f.values).shows(200).source
			if got := strings.Contains(shown, `<details class="issues">`); got != test.lists {
				t.Errorf("%s: listed %v, want %v", name, got, test.lists)
			}
		}
	})
}

// The preview lists each problem once, as a link to the field that corrects it.
func TestPreviewLinksProblems(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		accounts := []string{c.addAccountOf(t, "facebook"), c.addAccountOf(t, "linkedin"), c.addAccountOf(t, "pinterest")}
		f := b.open("/posts/new?caption=First.").form("Save draft").fill("account", accounts...)
		f.values.Set("facebook-format", "story")
		shown := func() string {
			_, list, _ := strings.Cut(b.send(http.MethodPost, "/posts/preview", f.values).shows(200).source, `<details class="issues">`)
			list, _, _ = strings.Cut(list, "</details>")
			return list
		}
		list := shown()
		for link, says := range map[string]string{
			"media": "A story on Facebook needs an image or a video.", "caption": "A story on Facebook has no text.",
		} {
			if !strings.Contains(list, `<a href="#`+link+`">`+says) {
				t.Errorf("no link to #%s: %s", link, list)
			}
		}
		f.values.Set("part-1", "Second.")
		if list = shown(); strings.Count(list, `<a href="#thread">`) != 1 {
			t.Errorf("want one link to the thread for all networks: %s", list)
		}
	})
}
