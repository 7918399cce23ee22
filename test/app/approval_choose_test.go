package app

import (
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/core/access"
)

// A link has the name of the client for the team, and shows when somebody outside the team opened it.
func TestApprovalLinkNamesClient(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		first, second := c.draft(t, "First", ""), c.draft(t, "Second", "")
		ask := b.open("/approvals/new?post="+first+"&post="+second).shows(200, "Client (optional)").form("Create link")
		ask.fill("client", strings.Repeat("x", 201)).press().shows(422, "at most 200 characters")
		sent := ask.fill("client", "Mia, Café Nord").press().shows(200, "2 posts for Mia, Café Nord", "has not been opened yet")
		link := strings.TrimPrefix(sent.field("link"), b.root)
		b.open(link).shows(200).lacks("Café Nord")
		b.open("/approvals").shows(200, "2 posts for Mia, Café Nord", "Not opened yet")
		h.browser(t).open(link).shows(200).lacks("Café Nord")
		b.open("/approvals").shows(200, "2 posts for Mia, Café Nord", "Opened just now")
		b.open(sent.path).shows(200, "The link was last opened just now")
	})
}

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
