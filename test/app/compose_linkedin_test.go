package app

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/testkit/must"
)

// The composer has the options of LinkedIn.
func TestComposerLinkedIn(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		account := c.addAccountOf(t, "linkedin")
		b := c.as(t, access.Editor)
		saved := b.open("/posts/new").shows(http.StatusOK, "LinkedIn options").form("Save draft").fill("account", account).
			fill("caption", "Our menu").fill("linkedin-visibility", "CONNECTIONS").press().
			shows(http.StatusOK, "Saved.", "Connections only")
		want := network.Options{LinkedIn: &network.LinkedInOptions{Visibility: "CONNECTIONS"}}
		if diff := cmp.Diff(want, c.storedPost(t, saved.path).Options); diff != "" {
			t.Error(diff)
		}
		b.open(saved.path+"/edit").form("Save").fill("caption", "Our new menu").press().shows(http.StatusOK, "Saved.")
		if diff := cmp.Diff(want, c.storedPost(t, saved.path).Options); diff != "" {
			t.Error(diff)
		}
		b.open(saved.path+"/edit").form("Save").fill("linkedin-visibility", "FRIENDS").press().
			shows(http.StatusUnprocessableEntity, "Choose who can see the post on LinkedIn.")
	})
}

// The composer saves polls, link cards and mentions for LinkedIn, and shows them again.
func TestComposerLinkedInAttachments(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		account := c.addAccountOf(t, "linkedin")
		b := c.as(t, access.Editor)
		thumbnail := strings.TrimPrefix(c.addImage(t, "cover", 90), "/media/")
		f := b.open("/posts/new").form("Save draft").fill("account", account).fill("caption", "With @Studio North").
			fill("linkedin-article", "yes").fill("linkedin-article-source", "https://menu.test/today").
			fill("linkedin-article-title", " Menu ").
			fill("linkedin-article-description", "Coffee").
			fill("linkedin-mentions", "@Studio North = 2414183\r\n\r\nMira=urn:li:person:a_1\r\n")
		f.values.Set("linkedin-article-thumbnail", thumbnail) // shown for a post that has one
		saved := f.press().shows(http.StatusOK, "Saved.", "menu.test", "A mention on LinkedIn")
		id, err := strconv.ParseInt(thumbnail, 10, 64)
		must.NoError(t, err)
		want := network.Options{LinkedIn: &network.LinkedInOptions{
			Article: &network.LinkedInOptionsArticle{
				Source: "https://menu.test/today", Title: "Menu", Description: "Coffee", ThumbnailMediaID: id,
			},
			Mentions: []network.LinkedInMention{
				{Name: "Studio North", URN: "urn:li:organization:2414183"}, {Name: "Mira", URN: "urn:li:person:a_1"},
			},
		}}
		for _, text := range []string{"With @Studio North", "By @Studio North"} {
			b.open(saved.path+"/edit").form("Save").fill("caption", text).press().shows(http.StatusOK, "Saved.")
			if diff := cmp.Diff(want, c.storedPost(t, saved.path).Options); diff != "" {
				t.Error(diff)
			}
		}
		b.open(saved.path+"/edit").form("Save").fill("linkedin-mentions", "Mira").press().
			shows(http.StatusUnprocessableEntity, "Enter up to 20 mentions")
		edit := b.open(saved.path+"/edit").form("Save").fill("linkedin-article").fill("linkedin-mentions", "").
			fill("linkedin-add-poll", "yes").fill("linkedin-question", " Which? ").fill("linkedin-poll", "Espresso", "", "Filter").
			fill("linkedin-poll-length", "FOURTEEN_DAYS")
		edit.press().shows(http.StatusOK, "Saved.", "Which?", "Espresso")
		want = network.Options{LinkedIn: &network.LinkedInOptions{Poll: &network.LinkedInOptionsPoll{
			Question: "Which?", Options: []string{"Espresso", "Filter"}, Duration: "FOURTEEN_DAYS",
		}}}
		b.open(saved.path+"/edit").form("Save").fill("caption", "Vote").press().shows(http.StatusOK, "Saved.")
		if diff := cmp.Diff(want, c.storedPost(t, saved.path).Options); diff != "" {
			t.Error(diff)
		}
		b.open(saved.path+"/edit").form("Save").fill("linkedin-question", "").press().
			shows(http.StatusUnprocessableEntity, "Write the question of the poll.")
		b.open(saved.path+"/edit").form("Save").fill("linkedin-poll", "Only one").press().
			shows(http.StatusUnprocessableEntity, "A poll needs two to four choices.")
	})
}

// The composer has the options of Pinterest.
func TestComposerPinterest(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		account := c.addAccountOf(t, "pinterest")
		b, image := c.as(t, access.Editor), strings.TrimPrefix(c.addImage(t, "sign", 90), "/media/")
		saved := b.open("/posts/new?media="+image).shows(http.StatusOK, "Pinterest options").form("Save draft").
			fill("account", account).fill("caption", "Our menu").fill("pinterest-title", " Menu ").
			fill("pinterest-link", "https://menu.test/today").fill("pinterest-section", "Winter").press().
			shows(http.StatusOK, "Saved.", "menu.test")
		want := network.Options{Pinterest: &network.PinterestOptions{
			Title: "Menu", Link: "https://menu.test/today", BoardSection: "Winter",
		}}
		if diff := cmp.Diff(want, c.storedPost(t, saved.path).Options); diff != "" {
			t.Error(diff)
		}
		for field, wrong := range map[string][2]string{
			"pinterest-title": {strings.Repeat("é", 101), "Use at most 100 characters."},
			"pinterest-link":  {"menu", "A link begins with"}, "pinterest-section": {strings.Repeat("é", 181), "Use at most 180"},
		} {
			b.open(saved.path+"/edit").form("Save").fill(field, wrong[0]).press().shows(http.StatusUnprocessableEntity, wrong[1])
		}
		b.open(saved.path+"/edit").form("Save").fill("pinterest-title", "").fill("pinterest-link", "").
			fill("pinterest-section", "").press().shows(http.StatusOK, "Saved.")
		if o := c.storedPost(t, saved.path).Options; !o.IsZero() {
			t.Errorf("options %+v", o)
		}
	})
}
