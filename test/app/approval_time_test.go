package app

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Scheduling an approved post without a time keeps the approval and the link. Any other change creates a new
// version.
func TestScheduleKeepsApproval(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		editor, guest := c.as(t, access.Editor), h.browser(t)
		approved := func() (string, string) {
			t.Helper()
			id := c.draft(t, "For the client", "")
			link := editor.requestApprovalLink(id)
			guest.open(link).form("Approve").fill("name", "Cleo").press().shows(http.StatusOK, "Approved by")
			return "/posts/" + id, link
		}
		stands := func(at, link string, status post.Status, want time.Time) {
			t.Helper()
			held := c.storedPost(t, at)
			if held.Approval != post.Approved || held.Round != 1 || held.Status != status || !held.ScheduledAt.Equal(want) {
				t.Errorf("approval %s of version %d, %s at %v; want approved, 1, %s at %v",
					held.Approval, held.Round, held.Status, held.ScheduledAt, status, want)
			}
			guest.open(link).shows(http.StatusOK, "Approved by")
		}
		day, clock, when := c.formTime(t, 50*time.Hour)
		edit := func(at, button string) *form {
			return editor.open(at+"/edit").form(button).fill("date", day).fill("time", clock)
		}
		at, link := approved()
		edit(at, "Schedule").press().shows(http.StatusOK, "Create another")
		stands(at, link, post.Scheduled, when)

		at, link = approved()
		edit(at, "Save").press().shows(http.StatusOK, "Saved.").lacks("no longer work")
		stands(at, link, post.Draft, when)
		day, clock, when = c.formTime(t, 60*time.Hour)
		edit(at, "Schedule").press().shows(http.StatusOK, "Create another")
		stands(at, link, post.Scheduled, when)

		at, _ = approved()
		edit(at, "Schedule").fill("caption", "Another text").press().
			shows(http.StatusForbidden, "The post was saved", "before the client approves it")
		if held := c.storedPost(t, at); held.Approval != post.Waiting || held.Round != 2 {
			t.Errorf("after a text change, approval is %s of version %d", held.Approval, held.Round)
		}
	})
}

// A post's page shows whether its client has a valid link, and the client's decision.
func TestPageShowsClientLink(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		editor, guest := c.as(t, access.Editor), h.browser(t)
		id := c.draft(t, "For the client", "")
		at := "/posts/" + id
		editor.requestApprovalLink(id)
		const unsent, changed = "No working link", "Changed, not sent again"
		head := func(p *page) string {
			_, rest, _ := strings.Cut(p.source, `class="head post-head"`)
			head, _, _ := strings.Cut(rest, "</div>")
			return head
		}
		shows := func(has, lacks string) {
			t.Helper()
			if got := head(editor.open(at)); !strings.Contains(got, has) || strings.Contains(got, lacks) {
				t.Errorf("the header lacks %q or contains %q: %s", has, lacks, got)
			}
		}
		shows("Waiting for approval", unsent)
		editor.open("/posts?status=waiting").shows(http.StatusOK, "Copy link").lacks(unsent)
		editor.open(at).form("Revoke links").press().
			shows(http.StatusOK, "The links were revoked", "were revoked").lacks("The post has changed since")
		shows(unsent, "Approved")
		editor.open("/posts?status=waiting").shows(http.StatusOK, unsent).lacks("Copy link")
		editor.open(at).lacks("Revoke links")
		sent := editor.open(at).follow("Create another link…").form("Create link").press().
			shows(http.StatusOK, "Client link", "Revoke links")
		link := strings.TrimPrefix(sent.field("link"), h.root)
		shows("Waiting for approval", unsent)
		guest.open(link).form("Approve").fill("name", "Cleo").press().shows(http.StatusOK, "Approved by")
		shows("Approved", "Waiting for approval")
		editor.open(at+"/edit").form("Save").fill("caption", "Better").press().
			shows(http.StatusOK, "Saved.", "The client’s earlier links no longer work", changed).lacks("Revoke links", unsent)
		editor.open(at).follow("Send the new version…").form("Create link").press().shows(http.StatusOK, "Revoke links").
			lacks(unsent, changed)
	})
}

// The approval request warns about a post that a network would reject.
func TestApprovalRequestWarnings(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		ask := func(caption string) *page {
			return c.as(t, access.Editor).open("/posts/new?caption="+caption+"&account="+c.id()).
				form("Send for approval…").press().shows(http.StatusOK, "Send for approval", "Message to the client")
		}
		ask(strings.Repeat("x", 301)).shows(http.StatusOK, "A network would reject this post")
		ask("Hello").lacks("A network would reject this post")
	})
}

// A change of alt text requires a new approval, because alt text is published.
func TestAltTextChangesVersion(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		editor, guest := c.as(t, access.Editor), h.browser(t)
		at := c.addImage(t, "quay", 100)
		image := must.Get(strconv.ParseInt(strings.TrimPrefix(at, "/media/"), 10, 64))(t)
		id, _ := c.callTool(t, "create_post",
			map[string]any{"caption": "The quay", "account_ids": []int64{c.account}, "media_ids": []int64{image}})["id"].(string)
		other := c.draft(t, "Without the image", "")
		for _, made := range []string{id, other} {
			guest.open(editor.requestApprovalLink(made)).form("Approve").fill("name", "Cleo").press().shows(http.StatusOK, "Approved by")
		}
		approval := func(made, want string) {
			t.Helper()
			if n := h.count(t, "posts WHERE id = ? AND approval = ?", made, want); n != 1 {
				t.Errorf("the post %s is not %s", made, want)
			}
		}
		describe := func() {
			editor.open(at).form("Save").fill("alt", "An insult").press().shows(http.StatusOK, "An insult")
		}
		describe()
		approval(id, "waiting")
		approval(other, "approved")
		if n := h.count(t, "events WHERE kind = 'post.returned' AND subject = ?", id); n != 1 {
			t.Errorf("%d events", n)
		}
		sent := editor.open("/posts/"+id).follow("Send the new version…").form("Create link").press().
			shows(http.StatusOK, "Client link")
		guest.open(strings.TrimPrefix(sent.field("link"), h.root)).form("Approve").fill("name", "Cleo").press().
			shows(http.StatusOK, "Approved by")
		describe()
		approval(id, "approved")
	})
}

// The form for a single draft sets its time and a message to the client. The link stays on the post's page.
func TestSendForApprovalWithTimeAndMessage(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		editor := c.as(t, access.Editor)
		id := c.draft(t, "For the client", "")
		day, clock, when := c.formTime(t, 50*time.Hour)
		ask := editor.open("/approvals/new?post="+id).form("Create link").fill("message", "Have a <look>, please.")
		ask.fill("date", day).fill("time", "").press().
			shows(http.StatusUnprocessableEntity, "Enter a date and a time", "Have a <look>, please.")
		ask.fill("message", strings.Repeat("ä", 2001)).fill("time", clock).press().
			shows(http.StatusUnprocessableEntity, "A message may have at most 2000 characters.")
		again := editor.open("/approvals/new?post=" + id).form("Create link")
		if again.values.Get("date") != "" || again.values.Get("time") != "" {
			t.Errorf("after an error, the draft has the time %s %s", again.values.Get("date"), again.values.Get("time"))
		}
		again.fill("date", day).fill("time", clock)
		sent := again.fill("message", "Have a <look>, please.").press().shows(http.StatusOK, "Client link", "Waiting for approval")
		link := strings.TrimPrefix(editor.open(sent.path).field("link"), h.root)
		p := h.browser(t).open(link).shows(http.StatusOK, "Ada editor wrote: Have a <look>, please.", "as soon as you approve it.",
			"· "+when.Format("2 Jan 2006")).lacks("· now")
		p.form("Approve").fill("name", "Cleo").press().shows(http.StatusOK, "Approved by Cleo")
		if held := c.storedPost(t, sent.path); held.Status != post.Scheduled || !held.ScheduledAt.Equal(when) {
			t.Errorf("%s at %v, want scheduled at %v", held.Status, held.ScheduledAt, when)
		}
		c.as(t, access.Viewer).open(sent.path).lacks("Client link")
	})
}

// Clearing a draft's time in the form removes it. The post remains a draft when the client approves it.
func TestSendForApprovalClearsTime(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		editor := c.as(t, access.Editor)
		_, _, when := c.formTime(t, 50*time.Hour)
		id := c.draft(t, "For the client", when.Format(time.RFC3339))
		sent := editor.open("/approvals/new?post="+id).form("Create link").fill("date", "").fill("time", "").press().
			shows(http.StatusOK, "Client link")
		if held := c.storedPost(t, sent.path); !held.ScheduledAt.IsZero() {
			t.Errorf("the draft has the time %v, want none", held.ScheduledAt)
		}
		link := strings.TrimPrefix(sent.field("link"), h.root)
		h.browser(t).open(link).form("Approve").fill("name", "Cleo").press().shows(http.StatusOK, "Approved by Cleo")
		if held := c.storedPost(t, sent.path); held.Status != post.Draft || held.Approval != post.Approved {
			t.Errorf("the post is %s and %s, want draft and approved", held.Status, held.Approval)
		}
	})
}

// An error about a field that the form no longer shows appears above the form.
func TestSendForApprovalAfterSchedule(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		id := c.draft(t, "For the client", "")
		day, _, when := c.formTime(t, 50*time.Hour)
		ask := c.as(t, access.Editor).open("/approvals/new?post=" + id).form("Create link")
		c.callTool(t, "schedule_post", map[string]any{"post_id": id, "scheduled_at": when.Format(time.RFC3339)})
		ask.fill("date", day).press().shows(http.StatusUnprocessableEntity, "Enter a date and a time", "The scheduled time doesn’t change.")
	})
}

// The composer says why an approved draft is not sent again.
func TestSendApprovedDraft(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		editor := c.as(t, access.Editor)
		id := c.draft(t, "For the client", "")
		h.browser(t).open(editor.requestApprovalLink(id)).form("Approve").fill("name", "Cleo").press().shows(http.StatusOK, "Approved by")
		p := editor.open("/posts/"+id+"/edit").form("Send for approval…").press().
			shows(http.StatusOK, "The client has already approved the post.").lacks("Create link")
		if !strings.Contains(p.source, `href="/posts/`+id+`" data-cancel`) {
			t.Error("the dialog has no link that closes it")
		}
	})
}
