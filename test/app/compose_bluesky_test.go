package app

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/network"
)

// The composer saves the options for Bluesky, shows them again and validates them.
func TestComposerBluesky(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		account := c.addAccountOf(t, "bluesky")
		b := c.as(t, access.Editor)
		saved := b.open("/posts/new").shows(http.StatusOK, "Bluesky options").form("Save draft").
			fill("caption", "See https://example.com").fill("account", account).fill("bluesky-card", "yes").
			fill("bluesky-card-title", " Menu ").fill("bluesky-reply", "mentioned", "followers").fill("bluesky-label", "nudity").
			fill("bluesky-languages", "de, pt-BR").fill("bluesky-no-quotes", "yes").press().shows(http.StatusOK, "Saved.")
		want := network.Options{Bluesky: &network.BlueskyOptions{
			LinkCard: &network.BlueskyOptionsLinkCard{Title: "Menu"}, ReplySettings: []string{"mentioned", "followers"},
			Labels: []string{"nudity"}, Languages: []string{"de", "pt-BR"}, DisableQuotes: true,
		}}
		if diff := cmp.Diff(want, c.storedPost(t, saved.path).Options); diff != "" {
			t.Error(diff)
		}
		b.open(saved.path+"/edit").form("Save").fill("caption", "See https://example.com/2").press().shows(http.StatusOK, "Saved.")
		if diff := cmp.Diff(want, c.storedPost(t, saved.path).Options); diff != "" {
			t.Error(diff)
		}
		b.open(saved.path+"/edit").form("Save").fill("bluesky-card-title", strings.Repeat("a", 301)).press().
			shows(http.StatusUnprocessableEntity, "Use at most 300 characters.")
		b.open(saved.path+"/edit").form("Save").fill("bluesky-languages", "a, b, c, d").press().
			shows(http.StatusUnprocessableEntity, "Enter at most three languages.")
		b.open(saved.path+"/edit").form("Save").fill("bluesky-card").press().shows(http.StatusOK, "Saved.")
		if card := c.storedPost(t, saved.path).Options.Bluesky.LinkCard; card != nil {
			t.Errorf("card %+v although the box is clear", card)
		}
	})
}
