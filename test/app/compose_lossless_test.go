package app

import (
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/html"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Text for one account is published there without any other setting.
func TestAccountTextIsPublished(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		saved := b.open("/posts/new?caption=For+all&account="+c.id()).form("Save draft").
			fill("text-"+c.id(), "Only here.").press().shows(200, "Saved.")
		if own := c.storedPost(t, saved.path).Targets[0].Caption; own == nil || *own != "Only here." {
			t.Fatalf("account text = %v", own)
		}
		edit := b.open(saved.path+"/edit").shows(200, "Customized", "Only here.")
		edit.form("Save").fill("text-"+c.id(), "").press().shows(200, "Saved.")
		if own := c.storedPost(t, saved.path).Targets[0].Caption; own != nil {
			t.Errorf("an empty field is stored as %q", *own)
		}
		b.open(saved.path+"/edit").form("Save").fill("notext-"+c.id(), "1").fill("nomedia-"+c.id(), "1").press().shows(200)
		for range 2 { // saving again does not change it
			one := c.storedPost(t, saved.path).Targets[0]
			if one.Caption == nil || *one.Caption != "" || one.Media == nil || len(one.Media) != 0 {
				t.Errorf("%+v", one)
			}
			b.open(saved.path+"/edit").form("Save").press().shows(200, "Saved.")
		}
	})
}

// The form keeps the text, media and options of a deselected account. Saving asks what to do with them.
func TestUnselectedAccountKeepsContent(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		picture, film := strings.TrimPrefix(c.addImage(t, "own", 7), "/media/"), strconv.FormatInt(c.addVideo(t), 10)
		want := url.Values{"text-" + c.id(): {"Kept\nmeanwhile."}, "media-" + c.id(): {picture, film},
			"notext-" + c.id(): {"1"}, "alt-" + picture: {"Boats."}, "cover-" + film: {"1.5"}}
		f := b.open("/posts/new?caption=For+all&account=" + c.id()).form("Check")
		maps.Copy(f.values, want)
		f.values.Del("account")
		kept := f.press().shows(200)
		for _, p := range []*page{kept, kept.form("Check").fill("account", c.id()).press().shows(200)} {
			for name, values := range want {
				if got := p.form("Save draft").values[name]; !slices.Equal(got, values) {
					t.Errorf("%s: %q", name, got)
				}
			}
		}
		fresh := kept.form("Check").values
		fresh.Set("account", c.id())
		fresh.Set("fresh", c.id())
		b.send("POST", "/posts/preview", fresh).shows(200, "Boats.", "Post without text").
			contains(`name="media-`+c.id()+`" value="`+film, `value="1.5"`)
		none := b.open("/posts/new?caption=For+all").form("Check")
		none.values.Set("nomedia-"+c.id(), "1")
		if got := none.press().shows(200).form("Save draft").values.Get("nomedia-" + c.id()); got != "1" {
			t.Errorf("the option “no media” = %q", got)
		}

		rejected := kept.form("Save draft").press().shows(422, "Not saved.", "There is text for Bluesky (",
			"), which is not selected. Select the account or clear its text.")
		rejected.contains(`id="error-text-`+c.id(), `<textarea id="text-`+c.id())
		rejected = rejected.form("Save draft").fill("text-"+c.id(), "").press().
			shows(422, "There are images or videos for Bluesky (")
		rejected = rejected.form("Remove own").press().shows(200).form("Save draft").press().shows(422)
		rejected.form("Remove film").press().shows(200).form("Save draft").press().shows(200, "Saved.")
	})
}

// Every submit button uploads the chosen files, without JavaScript.
func TestFilesWithEverySubmitButton(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Owner)
		for i, button := range []string{"Save draft", "Schedule", "Publish now…", "Send for approval…", "Check"} {
			f := b.open("/posts/new?caption=With+a+picture&date=2031-05-06&time=10:15&account=" + c.id()).form(button)
			if kind := attribute(f.node, "enctype"); kind != "multipart/form-data" {
				t.Fatalf("form encoding = %q", kind)
			}
			p := f.attach(strings.Repeat("x", i+1)+".png", colorPNG(t, uint8(i*20))).shows(200)
			if button == "Check" {
				if media := p.form("Save draft").values["media"]; len(media) != 1 {
					t.Errorf("%s: %v", button, media)
				}
				continue
			}
			var id string
			must.NoError(t, h.db.QueryRow(t.Context(), `SELECT id FROM posts ORDER BY id DESC LIMIT 1`).Scan(&id))
			if held := c.storedPost(t, "/posts/"+id); len(held.Media) != 1 || held.Media[0].Name != strings.Repeat("x", i+1) {
				t.Errorf("%s: %+v", button, held.Media)
			}
		}
		// A post is not published without its rejected file.
		posts := c.count(t, "posts")
		p := b.open("/posts/new?caption=Hello&account="+c.id()).form("Save draft").attach("notes.txt", []byte("Not a picture."))
		p.shows(422, "notes.txt: The library accepts JPEG")
		if got := p.form("Save draft").values.Get("caption"); got != "Hello" || c.count(t, "posts") != posts {
			t.Errorf("%q", got)
		}
	})
}

// A draft needs neither an account nor a time.
func TestIncompleteDraft(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		f := b.open("/posts/new").form("Save draft").fill("caption", "An idea").fill("date", "2031-05-06")
		saved := f.press().shows(200, "Saved.")
		held := c.storedPost(t, saved.path)
		if held.Status != post.Draft || len(held.Targets) != 0 || held.PlannedDay != "2031-05-06" || !held.ScheduledAt.IsZero() {
			t.Errorf("%+v", held)
		}
		if again := f.press().shows(200); again.path != saved.path || c.count(t, "posts") != 1 {
			t.Errorf("submitted twice: %s, %d posts", again.path, c.count(t, "posts"))
		}
		edit := b.open(saved.path + "/edit").form("Save")
		if got := edit.values; got.Get("date") != "2031-05-06" || got.Get("time") != "" || got.Get("caption") != "An idea" {
			t.Errorf("%v", got)
		}
		edit.fill("account", c.id()).fill("time", "10:15").press().shows(200, "Saved.")
		if held = c.storedPost(t, saved.path); len(held.Targets) != 1 || held.PlannedDay != "" || held.ScheduledAt.IsZero() {
			t.Errorf("%+v", held)
		}
		b.open(saved.path+"/edit").form("Save").fill("time", "").press().shows(200, "Saved.")
		b.open(saved.path+"/edit").form("Schedule").press().shows(422, "Choose the time as well.")
		b.open("/posts").shows(200, "An idea")
		b.open("/calendar").shows(200)
	})
}

// All errors are shown together, in form order and next to their fields. The first field gets the focus.
func TestAllProblemsShown(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		f := b.open("/posts/new?account="+c.id()).form("Schedule").fill("caption", strings.Repeat("x", 352)).
			fill("date", "2020-05-06").fill("time", "10:15").fill("repeat", "daily").fill("every", "0")
		p := f.press().shows(422, "The post wasn’t scheduled.", "Too long for Bluesky: 352/300 characters.",
			"That time has passed.", "Enter a whole number from 1 to 99.")
		focused := []string{}
		for d := range p.doc.Descendants() {
			if d.Type == html.ElementNode && has(d, "autofocus") {
				focused = append(focused, attribute(d, "id"))
			}
		}
		if !slices.Equal(focused, []string{"caption", "every", "date"}) {
			t.Errorf("focused: %v", focused)
		}
		p.contains(`id="error-caption"`, `id="error-date"`, `id="error-every"`, `<a href="#caption">Too long for Bluesky`)
		p = b.send("POST", "/posts/new", url.Values{"do": {"publish"}, "caption": {"x"}}).shows(422, "Select at least one account.")
		p.contains(`id="error-accounts"`, `name="account" value="`+c.id()+`" data-platform="bluesky" autofocus>`)
		own := b.open("/posts/new?caption=short&account="+c.id()).form("Publish now…").
			fill("text-"+c.id(), strings.Repeat("y", 301)).press()
		own.shows(422, "Too long for Bluesky: 301/300 characters.").contains(`id="error-text-` + c.id() + `"`)
		if n := c.count(t, "posts"); n != 0 {
			t.Errorf("%d posts", n)
		}
	})
}

// The script asks before saving whether to publish a new post or send it for approval, so that canceling creates no
// draft.
func TestAskBeforeSaving(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		form := url.Values{"caption": {"Hello"}, "account": {c.id()}, "once": {"asks"}, "ask": {"yes"}, "do": {"publish"}}
		b.send("POST", "/posts/new", form).shows(200, "Publish now", "Bluesky:", "Publish to 1 account", "Cancel")
		form.Set("do", "approval")
		b.send("POST", "/posts/new", form).shows(200, "Send for approval", "Message to the client",
			"Schedule when approved", "Create link")
		form.Set("caption", strings.Repeat("x", 301))
		b.send("POST", "/posts/new", form).shows(200, "A network would reject this post")
		form.Del("account")
		b.send("POST", "/posts/new", form).shows(422, "Select at least one account.")
		if n := c.count(t, "posts"); n != 0 {
			t.Errorf("%d posts were saved before the confirmation", n)
		}
	})
}

// Only the Schedule button starts a series. The other buttons keep the rule in the form.
func TestSeriesStartsOnSchedule(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		f := b.open("/posts/new?caption=Again&account="+c.id()).form("Schedule").
			fill("date", "2031-05-06").fill("time", "10:15").fill("repeat", "daily")
		for _, button := range []string{"save", "publish", "approval"} {
			f.values.Set("do", button)
			b.send("POST", "/posts/new", f.values).shows(422,
				"Only Schedule starts a series. Schedule the post, or choose “Does not repeat”.").contains(`id="error-often"`)
		}
		if n := c.count(t, "posts"); n != 0 {
			t.Errorf("%d posts", n)
		}
		f.press().shows(200, "The post repeats on schedule")
	})
}

// A text with “Post without text” selected causes an error and is kept in the form.
func TestTextWithPublishWithoutText(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		f := b.open("/posts/new?caption=For+all&account="+c.id()).form("Save draft").
			fill("text-"+c.id(), "Only here.").fill("notext-"+c.id(), "1")
		b.send("POST", "/posts/preview", f.values).
			shows(200, "Not ready to publish.", "Remove the text for Bluesky (").lacks("Ready to publish.")
		f.press().shows(422, "Remove the text for Bluesky (", "), or clear “Post without text”.").
			contains(`id="error-text-` + c.id())
		f.fill("text-"+c.id(), " ").press().shows(200, "Saved.")
	})
}

// Files for a deselected account are added to the post instead.
func TestFilesOfUnselectedAccount(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		f := c.as(t, access.Editor).open("/posts/new?caption=For+all&account="+c.id()).form("Upload").fill("into", c.id())
		f.values.Del("account")
		added := f.attach("quay.png", colorPNG(t, 3)).shows(200, "quay").form("Save draft").values
		if len(added["media"]) != 1 || len(added["media-"+c.id()]) != 0 {
			t.Errorf("media of the post: %v, of the account: %v", added["media"], added["media-"+c.id()])
		}
	})
}

// A form with rejected files names each file and keeps the other input. If the library is full, texts are still saved.
func TestRejectedFilesKeepForm(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		c := open(t, url, func(cfg *server.Config) {
			for i := range cfg.Catalog.Plans {
				cfg.Catalog.Plans[i].StorageBytes = 300
			}
		}).crew(t)
		b := c.as(t, access.Editor)
		typed := func(p *page, want string) *form {
			f := p.form("Check")
			if f.values.Get("caption") != want || f.values.Get("date") != "2031-05-06" {
				t.Errorf("form values = %v", f.values)
			}
			return f
		}
		f := b.open("/posts/new?caption=Hello").form("Save draft").fill("date", "2031-05-06")
		p := f.attachAll(map[string][]byte{"a.txt": []byte("No picture."), "b.txt": []byte("Neither.")}).
			shows(422, "a.txt: The library accepts JPEG", "b.txt: The library accepts JPEG")
		long := strings.Repeat("x", 200<<10)
		f = typed(p, "Hello").fill("caption", long)
		typed(f.attach("", nil).shows(200), long)
		p = f.attach("noise.png", make([]byte, 200<<10)).shows(403).contains(`id="error-files"`)
		typed(p, long)
	})
}

// A form keeps its input if the person has too many concurrent uploads.
func TestTooManyUploads(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		f := b.open("/posts/new?caption=Hello").form("Check").fill("date", "2031-05-06")
		patient := &http.Client{Jar: b.http.Jar, Transport: &http.Transport{ExpectContinueTimeout: time.Minute}}
		stall := func() { // starts an upload and returns when the server has read or rejected the form
			body, stalled := io.Pipe()
			r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, h.root+"/posts/new", body))(t)
			r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
			r.Header.Set("Expect", "100-continue")
			var all sync.WaitGroup
			all.Go(func() {
				if resp, err := patient.Do(r); err == nil {
					resp.Body.Close()
				}
				_ = body.Close()
			})
			_, err := stalled.Write([]byte("--x\r\n"))
			t.Cleanup(func() { stalled.CloseWithError(io.ErrUnexpectedEOF); all.Wait() })
			if err != nil {
				t.Error("the server rejected an upload:", err)
			}
		}
		for range 6 {
			stall()
		}
		p := f.attach("quay.png", colorPNG(t, 3))
		p.shows(429, "You already have 6 uploads in progress.").contains(`id="error-files"`)
		if p.header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
		if got := p.form("Save draft").values; got.Get("caption") != "Hello" || got.Get("date") != "2031-05-06" {
			t.Errorf("form values = %v", got)
		}
	})
}

// After signing in again, a form keeps its texts and names the files that must be chosen again.
func TestFileNamesAfterSignIn(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		for _, size := range []int{100, 3 << 20} {
			f := b.open("/posts/new?caption=Hello").form("Save draft")
			c.signOut(t, access.Editor)
			asked := f.attach("quay.png", make([]byte, size)).shows(200, "Your input will be restored")
			again := asked.form("Sign in").fill("email", c.people[access.Editor].Email).fill("password", password).press()
			again.shows(200, "You are signed in again.", "Not uploaded: quay.png. Choose these files again.")
			if got := strings.Contains(again.text(), "Check the fields below the files"); got != (size > 2<<20) {
				t.Errorf("a file of %d bytes: %s", size, again.text())
			}
			if got := again.form("Save draft").values.Get("caption"); size == 100 && got != "Hello" {
				t.Errorf("text = %q", got)
			}
		}
	})
}
