package app

import (
	"testing"

	"pressroom.example/pressroom/internal/core/access"
)

// Without selected posts, the page lists the posts that can be sent to a client.
func TestChoosePostsForApproval(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		b.open("/approvals/new").shows(200, "Approvals Send for approval", "No posts to send")
		b.open("/posts/new").form("Save draft").fill("caption", "The quay in the morning").press()
		b.open("/approvals/new").shows(200, "The quay in the morning", "Continue").lacks("No posts to send").
			form("Continue").press().shows(422, "Select at least one post.", "The quay in the morning")
	})
}
