package app

import (
	"testing"

	"pressroom/internal/access"
)

func TestPeopleSignIn(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		for _, role := range access.Roles() {
			c.as(t, role).open("/").wants(200, string(role))
		}
		h.browser(t).open("/posts").lacks(c.team.Name)
	})
}
