package app

import (
	"fmt"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/core/access"
)

// Search finds the team's items of every kind and the pages that the person may open.
func TestSearch(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c, other := h.crew(t), h.crew(t)
		b := c.as(t, access.Owner)
		c.draft(t, "Sunrise at the <quay>", "")
		other.draft(t, "Sunrise of another team", "")
		c.addImage(t, "sunrise", 3)
		c.createVoice(t, "Sunrise voice")
		c.createHashtagList(t, "Sunrise tags", "#sun")
		for i := range 50 { // more than a page of lists, newest first
			c.createHashtagList(t, fmt.Sprint("Other ", i), "#sea")
		}
		p := b.open("/search?q=SUNRISE").shows(200, "4 results", "Sunrise at the <quay>", "Draft", "Media sunrise", "Sunrise voice",
			"Sunrise tags")
		p.lacks("another team", "Nothing matches")
		b.open("/search?q="+c.handle()).shows(200, "Bluesky").contains("/accounts/" + c.id())
		b.open("/search?q=api+keys").contains(`href="/settings/keys"`)
		b.open("/search").shows(200, "Create New post", "Go to Home Calendar", "Settings General Members").
			contains(`href="/posts/new"`, `href="/settings/delete"`)
		b.open("/search?q=nothing+like+it").shows(200, "Nothing matches “nothing like it”.")
		b.open("/search?q="+strings.Repeat("x", 201)).shows(422, "Enter at most 200 characters.")

		viewer := c.as(t, access.Viewer)
		viewer.open("/search").lacks("New post", "API keys", "Delete team", "Operator")
		viewer.open("/search?q=sunrise").shows(200, "Sunrise at the <quay>")
		c.as(t, access.Client).open("/search?q=sunrise").shows(200)
	})
}
