package app

import (
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/voice"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// createVoice creates a voice as the owner.
func (c *crew) createVoice(tb testing.TB, name string) int64 {
	tb.Helper()
	owner := must.Get(c.Teams.InApp(tb.Context(), c.people[access.Owner].ID, c.team.ID))(tb)
	made := must.Get(c.Voices.Create(tb.Context(), operation.Call{Actor: owner, Now: c.now()}, voice.Draft{Name: name}))(tb)
	return made.ID
}

// mustBeSmall checks that the page has less than 100 KB.
func (p *page) mustBeSmall() *page {
	p.b.t.Helper()
	if len(p.source) >= 100<<10 {
		p.b.t.Errorf("%s has %d bytes", p.path, len(p.source))
	}
	return p
}

func TestVoices(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		b.open("/voices").shows(200, "No brand voices yet.").follow("Create a brand voice").form("Create brand voice").
			fill("name", "  Harbour ").fill("business_description", "A roastery\r\nat the quay.").fill("tone", "Warm.").
			fill("point_of_view", "first_person_plural").
			fill("audience_name", "Regulars", "").fill("audience_description", "They live nearby.", "").
			fill("emoji_policy", "sparing").fill("use.words", "quay\r\nblend\r\n").
			fill("avoid.phrases", "limited offer").fill("custom_instructions", "Say the farm.").press().
			shows(200, "The brand voice was created.", "Harbour", "Default for new posts", "A roastery", "Regulars", "quay",
				"Words to use Use: quay Use: blend", "Avoid: limited offer", "Point of view We – the business", "Emoji A few",
				"Say the farm.").mustBeSmall()
		voices := b.open("/voices").shows(200, "Harbour Default for new posts Warm. Use: quay", "1 audience")
		shown := voices.follow("Harbour")
		edit := shown.follow("Edit").form("Save")
		if edit.values.Get("business_description") != "A roastery\nat the quay." ||
			edit.values.Get("use.words") != "quay\nblend" || edit.values.Get("point_of_view") != "first_person_plural" ||
			edit.values.Get("content_language") != "" || len(edit.values["audience_name"]) != 3 ||
			edit.values["audience_description"][0] != "They live nearby." {
			t.Errorf("form values = %v", edit.values)
		}
		edit.fill("tone", "<script>dry</script>").fill("audience_name", "Regulars", "Visitors", "").
			fill("audience_description", "They live nearby.", "", "").fill("content_language", "pt-br").press().
			shows(200, "The brand voice was saved.", "<script>dry</script>", "Visitors", "Language Portuguese, Brazil").lacks("<script>dry")

		for field, wrong := range map[string][2]string{
			"name":             {strings.Repeat("n", 101), "The field “Name” is limited to 100 characters."},
			"content_language": {"klingonish-", "The field “Language” must be a BCP 47 language tag"},
			"avoid.words":      {"quay", "The field “Words to avoid” contains items that are also to be used."},
		} {
			f := shown.follow("Edit").form("Save").fill(field, wrong[0]).fill("custom_instructions", "typed just now")
			again := f.press().shows(422, wrong[1])
			if got := again.form("Save").values; got.Get(field) != wrong[0] || got.Get("custom_instructions") != "typed just now" {
				t.Errorf("the input is lost: %v", got)
			}
		}

		c.createVoice(t, "Second")
		b.open("/voices/new").form("Create brand voice").fill("name", "HARBOUR").press().
			shows(422, "The team already has a brand voice with this name.")
		b.open("/voices").shows(200, "Second Only a name so far. Describe the voice").follow("Second").
			shows(200, "This voice has only a name so far.", "Emoji Not specified")
		second := b.open("/voices").follow("Second").form("Set as default").press().shows(200, "This is now the default")
		second.follow("Delete").shows(200, "Delete “ Second ”?", "deleted permanently").follow("Cancel").shows(200, "Second")
		second.follow("Delete").form("Delete voice").press().shows(200, "The brand voice was deleted.").lacks("Second")
		if n := h.count(t, "brand_voices WHERE team_id = ? AND is_default = 1", c.team.ID); n != 1 {
			t.Errorf("%d defaults", n)
		}
	})
}

// Published posts with a text can be added as material. Each post is added once.
func TestVoicePastPosts(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		at := fmt.Sprintf("/voices/%d", c.createVoice(t, "Harbour"))
		add := func() *page { return b.open(at + "/material").form("Add past posts").press() }
		c.draft(t, "A draft.", "")
		add().shows(200, "There are no other published posts with text.")
		for n := range 23 {
			h.change(t, `UPDATE posts SET status = 'published' WHERE id = ?`, c.draft(t, fmt.Sprintf("Post number %d.", n), ""))
		}
		h.change(t, `UPDATE posts SET caption = '' WHERE id = ?`, c.draft(t, "Without a text.", ""))
		add().shows(200, "20 published posts were added.", "Post number 22.", "Post number 3.").
			lacks("Read all (14 characters): Post number 2.")
		add().shows(200, "3 published posts were added.", "Post number 0.")
		add().shows(200, "There are no other published posts with text.")
		for n := range 76 {
			h.change(t, `INSERT INTO voice_materials (voice_id, kind, post_id, content, digest, created_at)
				SELECT id, 'text', '', 'x', ?, 1 FROM brand_voices`, fmt.Sprint(n))
		}
		for range 2 {
			h.change(t, `UPDATE posts SET status = 'published' WHERE id = ?`, c.draft(t, "One more.", ""))
		}
		b.open(at+"/material").form("Add past posts").press().shows(200, "1 published post was added.", "up to 100 pieces")
		b.send(http.MethodPost, at+"/material/past-posts", url.Values{}).shows(422, "at most 100 pieces of material")
		if n := h.count(t, "voice_materials"); n != 100 {
			t.Errorf("%d pieces of material", n)
		}
	})
}

// A new voice can start from past posts. They fill in only empty fields and become material of the voice.
func TestVoiceFromPastPosts(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		b.open("/voices/new").form("Use past posts").fill("tone", "Dry.").press().
			shows(200, "no published posts with text yet").form("Create brand voice")
		for range 3 {
			h.change(t, `UPDATE posts SET status = 'published' WHERE id = ?`, c.draft(t, "Our roastery is open and warm.", ""))
		}
		f := b.open("/voices/new").form("Use past posts").fill("tone", "Dry.").fill("emoji_policy", "free").press().
			shows(200, "3 published posts were read.").form("Create brand voice")
		for name, want := range map[string]string{
			"tone": "Dry.", "emoji_policy": "free", "point_of_view": "first_person_plural", "use.words": "open\nroastery\nwarm",
		} {
			if got := f.values.Get(name); got != want {
				t.Errorf("%s = %q, want %q", name, got, want)
			}
		}
		unwanted := f.fill("past_posts").press().shows(422, "needs a name").form("Create brand voice")
		if unwanted.values.Has("past_posts") {
			t.Error("the cleared checkbox is checked after an error")
		}
		again := unwanted.fill("past_posts", "1").press().shows(422, "needs a name").form("Create brand voice")
		again.fill("name", "Harbour").press().shows(200, "The brand voice was created.", "roastery", "3 pieces")
	})
}

// A new voice is shown even if the past posts could not be added to it.
func TestVoiceWithoutPastPosts(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		h.change(t, `UPDATE posts SET status = 'published' WHERE id = ?`, c.draft(t, "Our roastery is open.", ""))
		f := b.open("/voices/new").form("Use past posts").press().form("Create brand voice").fill("name", "Harbour")
		must.Get(h.db.Writer().ExecContext(t.Context(), `ALTER TABLE voice_materials RENAME COLUMN digest TO digest_gone`))(t)
		f.press().shows(200, "The brand voice was created, but the past posts were not added.", "Team posts", "Harbour")
	})
}

// A new voice can start from a web page. The page fills in only empty fields, and its text becomes material of the
// voice.
func TestVoiceFromWebsite(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, address string) {
		var gone atomic.Bool
		site := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if gone.Load() {
				w.WriteHeader(http.StatusGone)
				return
			}
			fmt.Fprint(w, `<html><title>Harbour</title><meta name="description" content="We roast."><p>Open daily &amp; warm.`)
		}))
		t.Cleanup(site.Close)
		h := open(t, address, func(cfg *server.Config) {
			cfg.ImportRoots = x509.NewCertPool()
			cfg.ImportRoots.AddCert(site.Certificate())
		})
		b := h.crew(t).as(t, access.Editor)
		start := b.open("/voices/new").form("Read website").fill("name", "Quay").fill("website", "http://harbour.example.com").
			press().shows(422, "begins with https://").form("Read website").fill("website", site.URL)
		start.values.Set("start", "enter") // the button that browsers press on Enter
		read := b.send(http.MethodPost, "/voices/new", start.values).shows(200, "The web page was read.").lacks("Open daily")
		f := read.form("Create brand voice")
		if name, about := f.values.Get("name"), f.values.Get("business_description"); name != "Quay" || about != "We roast." {
			t.Errorf("the form has name %q and description %q", name, about)
		}
		again := f.fill("name", "").press().shows(422, "needs a name").lacks("The web page was read.").form("Create brand voice")
		again.fill("name", "Quay").values.Set("start", "enter")
		made := b.send(http.MethodPost, "/voices/new", again.values).shows(200, "The brand voice was created.", "We roast.", "1 piece")
		b.open(made.path+"/material").form("Add link").fill("add_page", "1").fill("link", "https://quay.example.com/about").press().
			shows(200, "The link was added, but the text of its page was not.", "https://quay.example.com/about", "Texts 1 Links 1")
		gone.Store(true)
		read.form("Create brand voice").fill("name", "Other").press().
			shows(200, "The brand voice was created, but the web page was not added.")
	})
}

func TestVoiceMaterial(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		at := "/voices/" + strconv.FormatInt(c.createVoice(t, "Plain"), 10)
		b.open(at).shows(200, "None yet").follow("Source material").shows(200, "No posts with text yet.")
		long := strings.Repeat("Ä word and another. ", 2000)
		b.open(at+"/material").form("Add text").fill("text", long).press().
			shows(200, "The material was added.", "Ä word and another.").mustBeSmall()
		whole := b.open(at+"/material").
			follow("Read all (39,999 characters): Ä word and another. Ä word and another.…").shows(200, "part 1 of 3").mustBeSmall()
		whole.follow("Next part").shows(200, "part 2 of 3").follow("Next part").shows(200, "part 3 of 3").
			follow("First part").shows(200, "part 1 of 3")
		b.open(at+"/material").form("Add link").fill("link", "https://harbour.example.com/about").press().
			shows(200, "https://harbour.example.com/about")
		rejected := b.open(at+"/material").form("Add link").fill("link", "http://10.0.0.1/x").press().
			shows(422, "The address must begin with https://.")
		if got := rejected.form("Add link").values.Get("link"); got != "http://10.0.0.1/x" {
			t.Errorf("field = %q", got)
		}
		b.send(http.MethodPost, at+"/material", url.Values{}).shows(422, "exactly one of")
		b.send(http.MethodPost, at+"/material", url.Values{"post_id": {"none"}}).shows(422, "Post not found in this team.")
		c.draft(t, "Our winter blend is back", "")
		b.open(at+"/material").form("Add post").press().shows(200, "Team post", "Our winter blend is back").
			form("Remove: Our winter blend is back").press().
			shows(200, "The material was removed.", "Our winter blend is back")
		b.open(at).shows(200, "Source material 2", "2 pieces")
		if n := h.count(t, "voice_materials"); n != 2 {
			t.Errorf("%d pieces of material", n)
		}
	})
}

func TestVoicePermissions(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c, other := h.crew(t), h.crew(t)
		at := "/voices/" + strconv.FormatInt(c.createVoice(t, "Ours alone"), 10)
		pages := []string{"/voices/new", at + "/edit", at + "/delete", at + "/material", at + "/material/1"}
		actions := []string{
			"/voices/new", at + "/edit", at + "/default", at + "/delete", at + "/material", at + "/material/past-posts",
			at + "/material/1/remove",
		}
		viewer := c.as(t, access.Viewer)
		viewer.open("/voices").shows(200, "Ours alone").lacks("New brand voice")
		viewer.open(at).shows(200, "Ours alone").lacks("Edit", "Delete", "Source material")
		signedOut, stranger := h.browser(t), other.as(t, access.Owner)
		for _, path := range append([]string{"/voices", at}, pages...) {
			signedOut.open(path).shows(200, "Sign in").lacks("Ours alone")
		}
		for _, path := range append([]string{at}, pages[1:]...) {
			stranger.open(path).shows(404, "This page doesn’t exist").lacks("Ours alone")
		}
		for _, path := range pages {
			viewer.open(path).shows(403, "Your role in this team does not allow this.").lacks("Ours alone")
		}
		for _, path := range actions {
			form := url.Values{"name": {"Mine"}, "text": {"x"}}
			viewer.send(http.MethodPost, path, form).shows(403)
			signedOut.send(http.MethodPost, path, form).shows(200, "Sign in")
			if path != "/voices/new" {
				stranger.send(http.MethodPost, path, form).shows(404)
			}
		}
		stranger.open("/voices").shows(200).lacks("Ours alone")
		for _, path := range []string{"/voices/0", "/voices/x", "/voices/99999999999999999999", at + "/material/77"} {
			c.as(t, access.Owner).open(path).shows(404)
		}
		// A member of both teams is redirected to the voice's team.
		must.NoError(t, h.Teams.SetMember(t.Context(), c.team.ID, other.people[access.Editor].ID, access.Editor))
		both := other.as(t, access.Editor)
		both.open(at).shows(200, "You switched to the team", "Ours alone")
		if n := h.count(t, "brand_voices WHERE name = 'Ours alone'"); n != 1 {
			t.Errorf("%d voices remain", n)
		}
	})
}
