package app

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/media"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/web/unsaved"
)

// storeUnsaved stores unsaved input as the composer's script does while a person types.
func (b *browser) storeUnsaved(f *form) *page {
	return b.send(http.MethodPost, "/posts/unsaved", f.values)
}

// Unsaved input is stored without creating a post and is offered only to the same person in the same team.
func TestRestoreUnsavedPost(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c, other := h.crew(t), h.crew(t)
		b := c.as(t, access.Editor)
		film := strconv.FormatInt(c.addVideo(t), 10)
		f := b.open("/posts/new?account="+c.id()).shows(200).lacks("card offers").form("Save draft").
			fill("caption", "Half a\nthought").fill("text-"+c.id(), "Only here").fill("date", "2031-05-06").fill("time", "10:15").
			fill("repeat", "weekly")
		f.values["media"], f.values["cover-"+film] = []string{film}, []string{"1.5"}
		posts, events := c.count(t, "posts"), c.count(t, "events")
		if p := b.storeUnsaved(f); p.status != http.StatusNoContent {
			t.Fatalf("status %d", p.status)
		}
		b.storeUnsaved(f.fill("caption", "Half a thought, and more"))
		if c.count(t, "posts") != posts || c.count(t, "events") != events {
			t.Error("storing unsaved input created a post or an event")
		}
		for _, stranger := range []*browser{c.as(t, access.Owner), other.as(t, access.Editor)} {
			stranger.open("/posts/new").shows(200).lacks("Half a thought")
			stranger.open("/posts/new?unsaved="+f.values.Get("draft")).shows(200, "These changes were saved or discarded")
		}
		offered := b.open("/posts/new").shows(200, "1 unfinished post", "Half a thought, and more", "Discard")
		again := offered.follow("Restore").shows(200).lacks("card offers").form("Save draft")
		for name, want := range f.values {
			if name != "once" && name != "in_team" && again.values.Get(name) != want[0] {
				t.Errorf("%s: %q, want %q", name, again.values.Get(name), want[0])
			}
		}
		// Saving deletes the stored input. A late request does not store the input again.
		again.fill("repeat", "").press().shows(200, "Saved.")
		b.storeUnsaved(again).shows(409, "Not saved", "This form was already submitted, perhaps in another tab.")
		b.open("/posts/new").shows(200).lacks("card offers")

		b.storeUnsaved(b.open("/posts/new").form("Save draft").fill("caption", "Never mind"))
		b.open("/posts/new").shows(200, "Never mind").form("Discard").press().shows(200, "Discarded.").lacks("Never mind")
		// Input without text and media is not stored and deletes stored input.
		again = b.open("/posts/new").form("Save draft").fill("caption", "Never mind")
		b.storeUnsaved(again)
		for _, f := range []*form{
			again.fill("caption", ""), b.open("/posts/new").form("Save draft").fill("account", c.id()),
			b.open("/posts/new").form("Save draft").fill("date", "2031-05-06").fill("repeat", "weekly"),
		} {
			if p := b.storeUnsaved(f); p.status != http.StatusResetContent {
				t.Errorf("status %d", p.status)
			}
		}
		if n := c.count(t, "unsaved_forms WHERE fields <> ''"); n != 0 {
			t.Errorf("%d unsaved forms", n)
		}
		b.open("/posts/new").shows(200).lacks("card offers")
		// Options are input too.
		quote := b.open("/posts/new?account="+c.id()).form("Save draft").fill("bluesky-quote", "https://bsky.app/profile/a/post/b")
		if p := b.storeUnsaved(quote); p.status != http.StatusNoContent {
			t.Errorf("status %d", p.status)
		}
	})
}

// A form's confirmation is shown even if requests of scripts, such as autosave or a live update, arrive before the
// page, and after an error.
func TestConfirmationSurvivesScripts(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		f := b.open("/posts/new?account="+c.id()).form("Save draft").fill("caption", "Confirmed")
		b.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		saved := f.press().shows(http.StatusSeeOther)
		b.http.CheckRedirect = nil
		script := *b
		script.http = &http.Client{Jar: b.http.Jar, Transport: fetchDest("empty")}
		script.storeUnsaved(f).shows(http.StatusConflict).lacks("Saved. It will not")
		script.open(saved.header.Get("Location")).shows(http.StatusOK).lacks("Saved. It will not")
		b.open("/posts/00000000-0000-0000-0000-000000000000").shows(http.StatusNotFound).lacks("Saved. It will not")
		b.open(saved.header.Get("Location")).shows(http.StatusOK, "Saved. It will not be published until")
		b.open(saved.header.Get("Location")).shows(http.StatusOK).lacks("Saved. It will not")
	})
}

// fetchDest is a transport that sets Sec-Fetch-Dest.
type fetchDest string

// RoundTrip sends a request.
func (dest fetchDest) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Sec-Fetch-Dest", string(dest))
	return http.DefaultTransport.RoundTrip(r)
}

// Unsaved changes do not affect the post and do not overwrite concurrent changes.
func TestRestoreUnsavedChanges(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b, owner := c.as(t, access.Editor), c.as(t, access.Owner)
		saved := b.open("/posts/new?caption=First").form("Save draft").press().shows(200, "Saved.")
		b.storeUnsaved(b.open(saved.path+"/edit").form("Save").fill("caption", "Mine"))
		if held := c.storedPost(t, saved.path); held.Caption != "First" {
			t.Errorf("caption = %q", held.Caption)
		}
		owner.open(saved.path+"/edit").shows(200).lacks("Mine").form("Save").fill("caption", "Theirs").press().shows(200, "Saved.")
		b.open("/posts/new").shows(200).lacks("Mine")
		offered := b.open(saved.path+"/edit").shows(200, "You have unsaved changes", "Mine")
		restored := offered.follow("Restore").shows(200).form("Save")
		restored.press().shows(422, "Someone else has changed this post.", "Saved version", "Theirs").
			form("Save").press().shows(200, "Saved.")
		if held := c.storedPost(t, saved.path); held.Caption != "Mine" {
			t.Errorf("caption = %q", held.Caption)
		}
		b.open(saved.path + "/edit").shows(200).lacks("card offers")
		stranger := h.crew(t).as(t, access.Editor)
		stranger.send(http.MethodPost, "/posts/unsaved", url.Values{"draft": {strings.Repeat("A", 26)},
			"post": {strings.TrimPrefix(saved.path, "/posts/")}, "caption": {"x"}}).shows(404)
	})
}

// Unsaved changes to a post that was deleted or published in the meantime are offered as a new post.
func TestRestoreUnsavedChangesOfDeletedPost(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		for text, end := range map[string]string{
			"Deleted":   `DELETE FROM posts WHERE id = ?`,
			"Published": `UPDATE posts SET status = 'published' WHERE id = ?`,
		} {
			saved := b.open("/posts/new?caption=First").form("Save draft").press().shows(200, "Saved.")
			b.storeUnsaved(b.open(saved.path+"/edit").form("Save").fill("caption", text+" meanwhile"))
			b.open("/posts/new").shows(200).lacks(text + " meanwhile")
			c.change(t, end, strings.TrimPrefix(saved.path, "/posts/"))
			c.as(t, access.Owner).open("/posts/new").shows(200).lacks(text + " meanwhile")
			restored := b.open("/posts/new").shows(200, text+" meanwhile").follow("Restore").shows(200).form("Save draft")
			again := restored.press().shows(200, "Saved.")
			if held := c.storedPost(t, again.path); again.path == saved.path || held.Caption != text+" meanwhile" {
				t.Errorf("caption of %s = %q", again.path, held.Caption)
			}
			b.open("/posts/new").shows(200).lacks(text + " meanwhile")
		}
	})
}

// Stored unsaved input is limited in size, number and age.
func TestUnsavedFormLimits(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		form := func() *form { return b.open("/posts/new").form("Save draft").fill("caption", "An idea") }
		b.storeUnsaved(form().fill("caption", strings.Repeat("x", 600<<10))).shows(422)
		b.storeUnsaved(form().fill("draft", "x")).shows(422)
		for range 22 {
			b.storeUnsaved(form())
		}
		own := "unsaved_forms WHERE person_id = ?"
		if n := h.count(t, own, c.people[access.Editor].ID); n != 20 {
			t.Errorf("%d forms are stored", n)
		}
		c.change(t, `UPDATE unsaved_forms SET kept_at = ? WHERE person_id = ?`, db.Micros(h.db.Now().Add(-31*24*time.Hour)),
			c.people[access.Editor].ID)
		b.storeUnsaved(form())
		if n := must.Get(unsaved.Sweep(t.Context(), h.db))(t); n < 19 || h.count(t, own, c.people[access.Editor].ID) != 1 {
			t.Errorf("%d forms were deleted by the sweep", n)
		}
	})
}

// Saving many posts does not delete the unsaved input of another form.
func TestSavingKeepsOtherUnsavedForms(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		b.storeUnsaved(b.open("/posts/new").form("Save draft").fill("caption", "Left for later"))
		for i := range 20 {
			c.change(t, `INSERT INTO unsaved_forms (person_id, id, team_id, fields, kept_at) VALUES (?, ?, ?, '', ?)`,
				c.people[access.Editor].ID, "SAVED"+strconv.Itoa(i), c.team.ID, db.Micros(h.db.Now().Add(time.Minute)))
		}
		b.storeUnsaved(b.open("/posts/new").form("Save draft").fill("caption", "The next idea"))
		b.open("/posts/new").shows(200, "Left for later", "The next idea")
		if n := h.count(t, "unsaved_forms WHERE person_id = ? AND fields = ''", c.people[access.Editor].ID); n != 20 {
			t.Errorf("%d saved forms are stored", n)
		}
	})
}

// A new post preselects the accounts of the person's last post.
func TestNewPostPreselectsLastAccounts(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b, second := c.as(t, access.Editor), strconv.FormatInt(c.addAccount(t), 10)
		accounts := func(b *browser, path string) []string {
			return b.open(path).shows(200).form("Save draft").values["account"]
		}
		if got := accounts(b, "/posts/new"); len(got) > 0 {
			t.Errorf("accounts of the first post = %v", got)
		}
		b.open("/posts/new?account="+c.id()+"&account="+second+"&caption=Both").form("Save draft").press().shows(200, "Saved.")
		b.open("/posts/new?account="+second+"&caption=One").form("Save draft").press().shows(200, "Saved.")
		b.open("/posts/new?caption=None").form("Save draft").fill("account").press().shows(200, "Saved.")
		p := b.open("/posts/new?date=2031-05-06").shows(200, "Same accounts as your last post.", "Write something or add media")
		if got := p.form("Save draft").values["account"]; !slices.Equal(got, []string{second}) {
			t.Errorf("preselected: %v", got)
		}
		if got := accounts(b, "/posts/new?account="+c.id()); !slices.Equal(got, []string{c.id()}) {
			t.Errorf("preselected by the link: %v", got)
		}
		if got := accounts(c.as(t, access.Owner), "/posts/new"); len(got) > 0 {
			t.Errorf("preselected for another person: %v", got)
		}
		c.change(t, `UPDATE social_accounts SET connection_state = 'lost' WHERE id = ?`, second)
		if got := accounts(b, "/posts/new"); len(got) > 0 {
			t.Errorf("preselected although disconnected: %v", got)
		}
	})
}

// A form with too many files shows an error and keeps its input.
func TestTooManyFilesInPost(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		b := h.crew(t).as(t, access.Editor)
		files := map[string][]byte{}
		for i := range media.MaxFormFiles + 1 {
			files[strconv.Itoa(i)+".txt"] = []byte("No picture.")
		}
		p := b.open("/posts/new?caption=Hello").form("Upload").attachAll(files).
			shows(422, fmt.Sprintf(media.TooManyFormFiles, media.MaxFormFiles))
		if got := p.form("Save draft").values.Get("caption"); got != "Hello" {
			t.Errorf("typed: %q", got)
		}
	})
}
