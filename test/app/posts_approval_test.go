package app

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/core/access"
)

func TestApprovalRequest(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		id := c.draft(t, "For the client", "")
		asked := b.open("/posts/"+id).follow("Send for approval…").form("Create link").press().
			shows(200, "Send the link below to the client", "Waiting for approval",
				"The client must approve it first.", "Client link")
		link := ""
		for d := range asked.doc.Descendants() {
			if attribute(d, "id") == "link" {
				link = attribute(d, "value")
			}
		}
		path, ok := strings.CutPrefix(link, h.root)
		if !ok {
			t.Fatalf("approval link = %q", link)
		}
		b.open("/posts/"+id).shows(200, "Create another link…").contains(path)
		b.open("/posts/" + id).lacks("Publish now")
		h.browser(t).open(path).form("Request changes").fill("name", "Ms <Client>").
			fill("comment", "Not the\nsecond <picture>.").press().shows(200, "Changes requested")
		b.open("/posts/"+id).
			shows(200, "Changes requested", "Changes requested by Ms <Client>", "The client wrote:", "Not the second <picture>.")
		b.open("/posts/"+id).follow("Send for approval…").form("Create link").press().shows(200, "Client link", "Version 2")
		record := c.as(t, access.Admin).open("/settings/audit").
			shows(200, "The client , who entered the name Ms <Client> , requested changes to a post: For the client",
				"asked a client to approve a post: For the client")
		record.form("Filter").fill("kind", "post.rejected").press().shows(200, "Client requested changes", "Ms <Client>").
			lacks("asked a client to approve")
	})
}

// A member with the client role decides in the app, in the member's name, and only on posts that wait for approval.
func TestClientDecisionInApp(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c, other := h.crew(t), h.crew(t)
		shown, hidden := c.addImage(t, "For the client", 20), c.addImage(t, "Of nobody", 21)
		id, _ := c.callTool(t, "create_post",
			map[string]any{
				"caption": "For the client", "account_ids": []int64{c.account},
				"media_ids": []int64{int64(mustNumber(t, strings.TrimPrefix(shown, "/media/")))},
			})["id"].(string)
		editor, client := c.as(t, access.Editor), c.as(t, access.Client)
		at, decision := "/posts/"+id, "/posts/"+id+"/approval/decision"
		client.open(at).shows(200, "If the team needs your approval, you can give it here.").
			contains(`<img src="`+shown+`/file"`).lacks("Approve</button>", `href="`+shown+`"`)
		client.open(shown + "/thumbnail").shows(200)
		client.open(shown).shows(404)
		for _, path := range []string{hidden, hidden + "/file", hidden + "/thumbnail", "/media"} {
			client.open(path).shows(404)
		}
		says := url.Values{"decision": {"approve"}, "round": {"1"}}
		client.send(http.MethodPost, decision, says).shows(422, "The post is not waiting for approval.")
		editor.open(at).follow("Send for approval…").form("Create link").press().shows(200)
		client.open("/notices").shows(200, "A post is waiting for the client’s approval. Clients in the team can decide on its page.")
		editor.send(http.MethodPost, decision, says).shows(403)
		other.as(t, access.Client).send(http.MethodPost, decision, says).shows(404)
		long := client.open(at).shows(200, "You decide as Ada client").form("Request changes").
			fill("comment", strings.Repeat("ä", 2001)).press().shows(422, "at most 2000 characters")
		if got := long.form("Request changes").values.Get("comment"); len([]rune(got)) != 2001 {
			t.Errorf("%d characters of the comment are kept", len([]rune(got)))
		}
		long.form("Request changes").fill("comment", "").press().shows(422, "Say what should change.")
		long.form("Request changes").fill("comment", "Not so <loud>.").press().
			shows(200, "Changes requested. The team has been notified", "Changes requested by Ada client",
				"Not so <loud>.", "Approve after all").
			lacks("Approve</button>")
		editor.open(at+"/edit").form("Save").fill("caption", "Quieter").press().shows(200)
		client.send(http.MethodPost, decision, says).shows(422, "has changed, so your decision was not saved")
		client.open(at).form("Approve").press().shows(200, "Approved. The team has been notified.", "Version 2")
		client.send(http.MethodPost, decision,
			url.Values{"decision": {"reject"}, "round": {"2"}, "comment": {"Not <this> way."}}).
			shows(422, "The client has already decided on this version.", "Ada client approved the post",
				"Your comment was not sent.", "Not <this> way.")
		for _, kind := range []string{"post.rejected", "post.approved"} {
			if n := h.count(t, "events WHERE kind = ? AND subject = ? AND person_id = ?", kind, id, c.people[access.Client].ID); n != 1 {
				t.Errorf("%d events of the client's decision: %s", n, kind)
			}
		}
		editor.open("/notices").
			shows(200, "The client approved a post. It is still a draft: schedule or publish it.",
				"The client requested changes to a post and left a comment.")
		c.as(t, access.Admin).open("/settings/audit").shows(200, "Ada client approved a post: Quieter").lacks("who entered the name")
		editor.open(at).shows(200, "Draft")
	})
}
