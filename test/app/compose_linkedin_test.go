package app

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/network"
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
