package app

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/testkit/must"
)

// requestApprovalLink requests approval and returns the path of the approval link.
func (b *browser) requestApprovalLink(id string) string {
	b.t.Helper()
	ask := b.open("/posts/" + id).follow("Send for approval…").form("Create link")
	ask.values.Del("schedule")
	return strings.TrimPrefix(ask.press().shows(http.StatusOK, "Client link").field("link"), b.root)
}

// A post without approval at its scheduled time says so on every page. It can be approved later, and is not
// published before.
func TestUnapprovedPastScheduledTime(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		editor, client := c.as(t, access.Editor), c.as(t, access.Client)
		id := c.draft(t, "For the client", "")
		c.callTool(t, "schedule_post", map[string]any{"post_id": id, "scheduled_at": h.apiTime(2 * time.Hour)})
		editor.open("/").shows(http.StatusOK, "For the client").lacks("Waiting for approval", "Waiting for you")
		client.open("/").lacks("Waiting for you")
		link, guest, at := editor.requestApprovalLink(id), h.browser(t), "/posts/"+id
		editor.open("/").shows(http.StatusOK, "Waiting for approval").lacks("Waiting for you")
		client.open("/").shows(http.StatusOK, "Waiting for you", "The team needs your approval for these posts.").
			follow("For the client").shows(http.StatusOK, "The post will not be published until you approve it.")
		guest.open(link).shows(http.StatusOK, "It is waiting for you and will not be published until you approve it.")

		h.advance(3 * time.Hour)
		must.NoError(t, c.Posts.Release(t.Context(), id))
		editor.waitUntilPublished(id).
			shows(http.StatusOK, "The scheduled time passed without the client’s approval", "It is still waiting for the client.",
				"it can be retried once the client has approved the post").lacks(">Retry</button>", "Edit and try again")
		guest.open(link).
			shows(http.StatusOK,
				"was not published, because it was not approved in time. After you approve it, the team will choose "+
					"a new time.", "Approve").lacks("will not be published until you approve it")
		client.open("/").shows(http.StatusOK, "Waiting for you").follow("For the client")
		client.open(at).shows(http.StatusOK, "The post is still waiting for your approval. Its scheduled time has passed").
			lacks("You can view the post.", "Revoke links").form("Approve").press().
			shows(http.StatusOK, "Approved. The team has been notified.", "The client has approved it since")
		guest.open(link).shows(http.StatusOK, "Approved by", "The team needs to choose a new time.")
		client.open("/").lacks("Waiting for you")
		editor.open("/notices").shows(http.StatusOK, "The client approved a post whose time had passed.")
		editor.open(at).form("Retry").press().shows(http.StatusOK, "Retrying 1 account.")
		editor.waitUntilPublished(id).shows(http.StatusOK, "Published")
		guest.open(link).shows(http.StatusOK, "Approved by").lacks("not approved in time")
	})
}

// After a change to an approved post, the approval link stops working until the new version is sent. Links can be
// revoked and created again.
func TestSendNewVersionForApproval(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		editor, viewer, guest := c.as(t, access.Editor), c.as(t, access.Viewer), h.browser(t)
		id := c.draft(t, "For the client", "")
		first, at := editor.requestApprovalLink(id), "/posts/"+id
		guest.open(first).form("Approve").fill("name", "Cleo").press().shows(http.StatusOK, "Approved by")
		editor.open(at).lacks("Send the new version")
		c.callTool(t, "update_post", map[string]any{"id": id, "caption": "For the client, better"})
		guest.open(first).
			shows(http.StatusUnprocessableEntity, "The post has changed",
				"Ask the team that sent it for a link to the new version.").lacks("better", "For the client")
		sent := editor.open(at).shows(http.StatusOK, "The post has changed since it was sent to the client.").
			follow("Send the new version…").form("Create link").press().
			shows(http.StatusOK, "Client link", "Create another link…").lacks("Send the new version")
		second := strings.TrimPrefix(sent.field("link"), h.root)
		guest.open(second).shows(http.StatusOK, "For the client, better", "Approve")
		viewer.open(at).lacks("Revoke links")
		editor.open(at).form("Revoke links").press().shows(http.StatusOK, "The links were revoked")
		for _, dead := range []string{first, second} {
			guest.open(dead).shows(http.StatusUnprocessableEntity, "The team has revoked this link.").lacks("better")
		}
		again := editor.open(at).follow("Create another link…").form("Create link").press().
			shows(http.StatusOK, "Client link")
		guest.open(strings.TrimPrefix(again.field("link"), h.root)).shows(http.StatusOK, "For the client, better")
		c.as(t, access.Admin).open("/settings/audit").shows(http.StatusOK, "revoked the approval links of a post")
	})
}

// A client must say what to change, and can still approve the post until the team changes it. The link of a deleted
// post does not reveal that the post existed.
func TestRequestChangesAndUndo(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		editor, id := c.as(t, access.Editor), c.draft(t, "For the client", "")
		link := editor.requestApprovalLink(id)
		guest := h.browser(t)
		ask := guest.open(link).form("Request changes").fill("name", "Cleo")
		for _, empty := range []string{"", " \n"} {
			ask.fill("comment", empty).press().shows(http.StatusUnprocessableEntity, "Say what should change.", "Request changes")
		}
		p := ask.fill("comment", "Not so <loud>.").press().
			shows(http.StatusOK, "Changes requested by Cleo", "Approve after all").lacks("Request changes")
		editor.open("/notices").shows(http.StatusOK, "The client requested changes to a post and left a comment.")
		editor.open("/notices/recent").
			shows(http.StatusOK, "The client requested changes to a post and left a comment.", "All notifications").
			contains("#pencil-line")
		p.form("Approve after all").press().
			shows(http.StatusOK, "Approved by Cleo", "Not so <loud>.").lacks("Approve after all", "Changes requested by")
		editor.open("/approvals").lacks("Comments to reply to")
		editor.open("/posts/"+id).shows(http.StatusOK, "Approved", "Not so <loud>.")
		editor.open("/posts/"+id+"/edit").form("Save").fill("caption", "Quieter").press().shows(http.StatusOK)
		sent := editor.open("/posts/"+id).follow("Send the new version…").form("Create link").press().
			shows(http.StatusOK, "Client link")
		again := guest.open(strings.TrimPrefix(sent.field("link"), h.root)).form("Request changes").fill("name", "Cleo").
			fill("comment", "Louder.").press().form("Approve after all")
		editor.open("/posts/"+id+"/edit").form("Save").fill("caption", "Louder").press().shows(http.StatusOK)
		again.press().shows(http.StatusUnprocessableEntity, "The post has changed")
		editor.open("/posts/" + id + "/delete").form("Delete post").press().shows(http.StatusOK)
		for _, path := range []string{link, "/approval/AAAA"} {
			h.browser(t).open(path).
				shows(http.StatusNotFound, "Ask the team that sent it for a new one.")
		}
	})
}

// The page of a reconnected account no longer asks the person to reconnect it.
func TestReconnectLostAccount(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b, id := c.as(t, access.Editor), c.draft(t, "No [sandbox:reject]", "")
		b.open("/posts/" + id + "/publish").form("Publish to 1 account").press().shows(http.StatusOK)
		b.waitUntilPublished(id)
		h.change(t, `UPDATE post_targets SET error_code = 'account_needs_reauth' WHERE post_id = ?`, id)
		b.open("/posts/"+id).
			shows(http.StatusOK, "The connection to the account was lost. It has been reconnected.",
				"Retry").lacks("Reconnect the account")
	})
}
