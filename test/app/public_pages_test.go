package app

import (
	"net/http"
	"testing"

	"pressroom.example/pressroom/internal/core/access"
)

// People without an account see a description of the product. The page of an expired link offers no sign-in, and
// error pages have a link onward.
func TestPublicPages(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		owner, stranger := h.crew(t).as(t, access.Owner), h.browser(t)
		stranger.open("/").shows(http.StatusOK, "Social posts from first idea to result", "How it works", "API reference", "Guides").
			contains(`href="/sign-in"`)
		stranger.open("/approval/unknown").shows(http.StatusNotFound, "This link is no longer active",
			"Ask the team that sent it for a new one.").lacks(`href="/sign-in"`, "API reference")
		stranger.open("/shared/reports/unknown").lacks(`href="/sign-in"`, "API reference")

		owner.open("/nowhere").shows(http.StatusNotFound, "This page doesn’t exist", "Go to the home page").
			contains(`id="elsewhere" name="q"`)
	})
}
