package app

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/voice"
	"pressroom.example/pressroom/internal/testkit/must"
)

// The composer offers the hashtags of the team's own lists.
func TestComposerOffersHashtags(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c, other := h.crew(t), h.crew(t)
		b := c.as(t, access.Editor)
		b.open("/posts/new").shows(200).contains(`aria-controls="hashtags"`)
		b.open("/posts/hashtags").shows(200, "Your team has no list of its own yet.")
		many := make([]string, 40)
		for i := range many {
			many[i] = fmt.Sprintf("harbour%02d", i)
		}
		c.createHashtagList(t, "Bar", "coffee", "latteart")
		c.createHashtagList(t, "Quay", many...)
		c.createHashtagList(t, "Nothing yet")
		other.createHashtagList(t, "Theirs", "secret")
		b.open("/posts/hashtags").shows(200, "Bar", "#coffee", "#latteart", "Add all 2", "#harbour39", "Add the first 30").
			lacks("secret", "Nothing yet")
		b.send(http.MethodGet, "/hashtags", nil).shows(200)
		c.as(t, access.Viewer).open("/posts/hashtags").shows(403)
	})
}

// The month beside the date marks the days with posts of the team.
func TestComposerMonth(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c, other := h.crew(t), h.crew(t)
		b := c.as(t, access.Editor)
		c.draft(t, "Planned", "2031-03-05T10:30:00Z")
		other.draft(t, "Theirs", "2031-03-06T10:30:00Z")
		p := b.open("/posts/month?month=2031-03").shows(200, "March 2031", "Mon").
			contains(`data-day="2031-02-24"`, `data-day="2031-04-06"`, `data-month="2031-02"`, `data-month="2031-04"`,
				`aria-label="Wednesday 5 March 2031, 1 post" title="`).lacks("2031-04-07", "disabled")
		if n := strings.Count(p.source, " post\""); n != 1 {
			t.Errorf("%d days have posts", n)
		}
		now := b.open("/posts/month?month=x").shows(200, c.now().UTC().Format("January 2006"))
		now.contains(" today\"", "disabled")
	})
}

// The composer checks a text against the words of a brand voice while the person types.
func TestComposerChecksBrandVoice(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		b.open("/posts/new").shows(200).lacks(`name="voice"`)
		owner := must.Get(c.Teams.InApp(t.Context(), c.people[access.Owner].ID, c.team.ID))(t)
		voiceWith := func(name string, use, avoid []string) string {
			made := must.Get(c.Voices.Create(t.Context(), operation.Call{Actor: owner, Now: c.now()}, voice.Draft{Name: name,
				Guide: voice.Guide{Use: voice.BrandVoiceUse{Words: use}, Avoid: voice.BrandVoiceUse{Words: avoid}}}))(t)
			return strconv.FormatInt(made.ID, 10)
		}
		warm := voiceWith("Warm", []string{"quay", "blend"}, []string{"cheap", "bargain"})
		dry := voiceWith("Dry", nil, []string{"wonderful"})
		p := b.open("/posts/new?caption=A+wonderful+blend,+and+CHEAP&account="+c.id()).
			shows(200, "Words to avoid in “Warm”: cheap", "Words to use:", "blend (used)", "quay").lacks("bargain", "quay (used)")
		f := p.form("Save draft")
		if got := f.values.Get("voice"); got != warm {
			t.Errorf("voice = %q, want the default %s", got, warm)
		}
		preview := func(text, own, with string) *page {
			f.fill("caption", text).fill("text-"+c.id(), own).fill("voice", with)
			return b.send(http.MethodPost, "/posts/preview", f.values).shows(200)
		}
		preview("Nothing wrong", "", warm).shows(200).lacks("Words to avoid in", "No words to avoid")
		preview("Nothing wrong", "A bargain", warm).shows(200, "Words to avoid in “Warm”: bargain")
		preview("A wonderful bargain", "", dry).shows(200, "Words to avoid in “Dry”: wonderful").lacks("Words to use")
		preview("A wonderful bargain", "", "-1").lacks("Words to avoid")
		preview("A bargain", "", "999999").shows(200, "Words to avoid in “Warm”: bargain") // the voice was deleted
		f.fill("caption", "A wonderful bargain").fill("voice", dry)
		if got := b.send(http.MethodPost, "/posts/new", f.values).shows(200).form("Save draft").values.Get("voice"); got != dry {
			t.Errorf("the redisplayed form has the voice %q", got)
		}
	})
}

// Several files of the library are added at once. A search keeps those that were selected before it.
func TestComposerAddsFromLibrary(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		p := b.open("/posts/new").form("Upload").attach("quay.png", colorPNG(t, 10)).form("Upload").
			attach("roastery.png", colorPNG(t, 90))
		ids := p.form("Save draft").values["media"]
		p = b.open("/posts/new").shows(200, "Choose from the library").form("Search").fill("picked", ids[0]).fill("q", "roast").press()
		p.contains(`<input type="hidden" name="picked" value="` + ids[0] + `">`).lacks("quay")
		p = p.form("Add selected").fill("picked", ids...).press().shows(200, "In the post")
		if got := p.form("Save draft").values["media"]; len(got) != 2 || got[0] != ids[0] || got[1] != ids[1] {
			t.Errorf("media %v, want %v", got, ids)
		}
		b.open("/posts/new").form("Search").fill("kind", "video").press().shows(200, "No files match your filters.")
		f := b.open("/posts/new").form("Search")
		f.values.Set("folder", "999") // it was deleted
		f.press().shows(200, "quay", "roastery")
		f.values.Set("folder", "0")
		f.fill("kind", "image").press().shows(200, "quay", "roastery")
	})
}

// People who may write get emoji by category.
func TestEmoji(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		c.as(t, access.Editor).open("/posts/emoji").shows(200, "Food and drink").
			contains(`<button type="button" data-emoji="coffee tea" title="hot beverage">☕</button>`)
		c.as(t, access.Viewer).open("/posts/emoji").shows(403)
	})
}

// The compressed scripts have at most 120 KB on the composer and 40 KB on any other page.
func TestScriptBudget(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Owner)
		for path, most := range map[string]int64{
			"/posts/new": 120_000, "/": 40_000, "/posts": 40_000, "/calendar": 40_000, "/media/add": 40_000,
			"/posts/" + c.draft(t, "Small", ""): 40_000,
		} {
			var size int64
			for _, found := range regexp.MustCompile(`<script src="([^"]+)"`).FindAllStringSubmatch(b.open(path).source, -1) {
				r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, b.root+found[1], nil))(t)
				r.Header.Set("Accept-Encoding", "gzip")
				resp := must.Get(b.http.Do(r))(t)
				must.NoError(t, resp.Body.Close())
				size += resp.ContentLength
			}
			if size <= 0 || size > most {
				t.Errorf("%s has %d bytes of scripts, want at most %d", path, size, most)
			}
		}
	})
}
