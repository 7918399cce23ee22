package app

import (
	"archive/zip"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/testkit/must"
)

// requestApproval creates one approval link for several posts and returns the paths of the link and of its page.
func (b *browser) requestApproval(schedule bool, ids ...string) (string, string) {
	b.t.Helper()
	ask := b.open("/posts").form("Send for approval…").fill("post", ids...).press().shows(http.StatusOK, "Send for approval").
		form("Create link")
	ask.values.Del("schedule")
	if schedule {
		ask.fill("schedule", "yes")
	}
	sent := ask.press().shows(http.StatusOK, "Send the link below to the client.")
	at := sent.path
	if len(ids) == 1 { // the page of the post, which shows the link
		at = linkPage.FindString(b.open("/approvals").source)
	}
	return strings.TrimPrefix(sent.field("link"), b.root), at
}

// linkPage matches the path of a link's page.
var linkPage = regexp.MustCompile(`/approvals/[0-9a-f-]{36}`)

// A link contains several posts. The client decides on each post, and the input on other posts is kept.
func TestSeveralPostsInOneLink(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b, viewer := c.as(t, access.Editor), c.as(t, access.Viewer)
		first, second := c.draft(t, "The <first> post. #coffee", h.apiTime(48*time.Hour)), c.draft(t, "The second post.", "")
		third, out := c.draft(t, "The third post.", ""), c.draft(t, "Is out.", "")
		h.change(t, `UPDATE posts SET status = 'published' WHERE id = ?`, out)
		b.open("/posts").form("Send for approval…").press().shows(200, "Select at least one post.")
		b.open("/posts").form("Send for approval…").fill("post", first, second, third, out).press().
			shows(200, "The client gets one link to these posts", "Not sent Is out. The post has already been submitted.")
		link, at := b.requestApproval(false, first, second, third)
		viewer.open(at).shows(403)
		c.as(t, access.Client).open(at).shows(403)
		h.crew(t).as(t, access.Owner).open(at).shows(404)

		guest := h.browser(t)
		p := guest.open(link).shows(200, "3 posts from", "Shared by Ada editor", "0 of 3 approved",
			"Your name (required)", "Approve all", "The <first> post. #coffee", "The second post.", "The third post.", "Bluesky").
			lacks("Is out.")
		p.form("Continue").press().shows(422, "Choose whether you approve the post.")
		f := p.form("Approve : The second post.")
		f.press().shows(422, "Enter your name first, so that "+c.team.Name+" knows who decided.")
		p = f.fill("name", "Cleo").fill("comment-"+third, "Not <this> one").press().
			shows(200, "1 of 3 approved", "Approved by Cleo", "Approve the other 2")
		f = p.form("Request changes : The third post.")
		if got := f.values.Get("comment-" + third); got != "Not <this> one" || f.values.Get("name") != "Cleo" {
			t.Errorf("the input is lost: %v", f.values)
		}
		f.press().shows(200, "1 of 3 approved, 1 with changes", "Not <this> one", "Changes requested", "Approve this post")
		f.press().shows(422, "The client has already decided on this version.", "Comment : The third post. Not <this> one")
		f = guest.open(link).shows(200, "As Cleo · Change").form("Approve this post")
		if got := h.browser(t).open(link).form("Approve this post").values.Get("name"); got != "" {
			t.Errorf("another visitor sees the name %q", got)
		}
		f.press().
			shows(200, "2 of 3 approved, 1 with changes", "You have decided on all posts.")
		for id, want := range map[string]string{first: "approved", second: "approved", third: "rejected"} {
			if h.count(t, "posts WHERE id = ? AND approval = ? AND status = 'draft'", id, want) != 1 {
				t.Errorf("post %s is not %s", id, want)
			}
		}
		b.open("/posts/"+third).shows(200, "Changes requested", "Not <this> one")
		b.open(at).shows(200, "2 of 3 approved", "Not <this> one")
		b.open("/approvals").shows(200, "3 posts for Cleo", "Sent by Ada editor", "Changes requested")
		c.as(t, access.Admin).open("/settings/audit").shows(200, "The client , who entered the name Cleo , requested changes to a post")
		guest.send(http.MethodPost, link, url.Values{"decision": {"approve " + out}, "round-" + out: {"1"}, "name": {"Cleo"}}).shows(404)
	})
}

// A client approves all posts of a link together, which schedules drafts with a time. Posts that cannot be scheduled
// stay approved drafts, and the team sees the reason.
func TestApproveAllAndSchedule(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		timed, undated := c.draft(t, "Has a time.", h.apiTime(48*time.Hour)), c.draft(t, "Has no time.", "")
		late, long := c.draft(t, "Is late.", h.apiTime(time.Hour)), c.draft(t, strings.Repeat("x", 301), h.apiTime(72*time.Hour))
		link, at := b.requestApproval(true, timed, undated, late, long)
		guest := h.browser(t)
		all := guest.open(link).shows(200, "Posts are scheduled as soon as you approve them.").
			form("Approve all").fill("name", "Cleo")
		h.advance(2 * time.Hour)
		all.press().shows(200, "4 of 4 approved", "You have decided on all posts.").lacks("Approve all", "scheduled:")
		if h.count(t, "posts WHERE approval = 'approved' AND status = 'scheduled' AND id = ?", timed) != 1 ||
			h.count(t, "posts WHERE approval = 'approved' AND status = 'draft' AND id IN (?, ?, ?)", undated, late, long) != 3 {
			t.Error("the posts were not scheduled, or not kept as drafts")
		}
		const not = "The client has approved it, but it was not scheduled: "
		for id, why := range map[string]string{
			undated: "it has no time.", late: "its time had passed.", long: "a network would reject it.",
		} {
			b.open("/posts/"+id).shows(200, not+why)
		}
		b.open("/posts/"+timed).shows(200, "Scheduled for").lacks(not)
		b.open(at).shows(200, not+"it has no time.", "4 of 4 approved")
		b.open("/notices").shows(200, "The client approved a post, but it could not be scheduled. Open it to see why.",
			"The client approved a post. It will be published at its scheduled time.")
		c.as(t, access.Admin).open("/settings/audit").shows(200, "scheduled a post: Has a time.")
		c.callTool(t, "schedule_post", map[string]any{"post_id": undated, "scheduled_at": h.apiTime(48 * time.Hour)})
		b.open("/posts/" + undated).shows(200).lacks(not)
	})
}

// Approval does not schedule a post if its requester may no longer schedule. Writers who may not schedule are not
// offered the option.
func TestApprovalByFormerEditorDoesNotSchedule(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		id := c.draft(t, "Has a time.", h.apiTime(48*time.Hour))
		link, _ := b.requestApproval(true, id)
		h.change(t, `UPDATE memberships SET role = 'viewer' WHERE person_id = ? AND team_id = ?`,
			c.people[access.Editor].ID, c.team.ID)
		h.browser(t).open(link).form("Approve").fill("name", "Cleo").press().shows(200, "Approved by Cleo")
		c.as(t, access.Owner).open("/posts/"+id).
			shows(200, "Approved", "the person who sent it to the client can no longer schedule posts.")
	})
}

// A client and the team exchange comments, which both see. The length and number of comments are limited.
func TestApprovalComments(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		id := c.draft(t, "For the client.", "")
		b.open("/posts/" + id).lacks("Write a reply")
		link := b.requestApprovalLink(id)
		guest := h.browser(t)
		f := guest.open(link).form("Comment only")
		f.fill("comment", "Hi").press().shows(422, "Enter your name first")
		f.fill("name", "Cleo <3").fill("comment", " ").press().shows(422, "Enter a comment.")
		f.fill("comment", strings.Repeat("ä", 2001)).press().shows(422, "at most 2000 characters")
		f.fill("comment", "Is it <b>open</b>?").press().shows(200, "Cleo <3", "Is it <b>open</b>?", "Approve")
		b.open("/notices").shows(200, "Cleo <3 commented on a post.", "Is it <b>open</b>?", "Reply")
		b.open("/posts/"+id).shows(200, "Comments", "Cleo <3", "Is it <b>open</b>?")
		inbox := b.open("/approvals").shows(200, "Comments to reply to 1", "Is it <b>open</b>?", "For the client.")
		inbox.form("Reply").fill("comment", "").press().shows(422, "Enter a comment.")
		long := inbox.form("Reply").fill("comment", strings.Repeat("ä", 2001)).press().shows(422, "at most 2000 characters")
		if got := long.form("Reply").values.Get("comment"); len([]rune(got)) != 2001 {
			t.Errorf("%d characters of the reply are kept", len([]rune(got)))
		}
		inbox.form("Reply").fill("comment", "Until <eight>.").press().
			shows(200, "Your reply is on the client’s page.").lacks("Comments to reply to")
		p := guest.open(link).shows(200, "Ada editor of the team", "Until <eight>.")
		if got := p.form("Comment only").values.Get("name"); got != "Cleo <3" {
			t.Errorf("name field = %q", got)
		}
		p.form("Comment only").fill("comment", "Thanks!").press().shows(200, "Thanks!")
		b.open("/approvals").form("No reply needed").press().
			shows(200, "The comments are marked as answered.").lacks("Comments to reply to")
		c.as(t, access.Client).open("/posts/"+id).form("Send comment").fill("remark", "I agree.").press().
			shows(200, "The team has been notified of your comment.", "I agree.")
		b.open("/approvals").shows(200, "Comments to reply to 1", "Ada client", "I agree.")
		c.as(t, access.Admin).open("/settings/audit").
			shows(200, "The client commented on a post: For the client.", "Ada editor answered a client’s comment on a post")
		for range 28 {
			p.form("Comment only").fill("comment", "Again.").press().shows(200)
		}
		full := p.form("Comment only").fill("comment", "One more.").press().shows(429, "Too many comments were sent with this link.")
		if got := full.form("Comment only").values.Get("comment"); got != "One more." {
			t.Errorf("the input is lost: %q", got)
		}
		h.advance(time.Hour)
		p.form("Comment only").fill("comment", "One more.").press().shows(200)
		h.crew(t).as(t, access.Owner).send(http.MethodPost, "/posts/"+id+"/comments", url.Values{"comment": {"x"}}).shows(404)
		c.as(t, access.Viewer).send(http.MethodPost, "/posts/"+id+"/comments", url.Values{"comment": {"x"}}).shows(403)
	})
}

// A link shows only the versions that were sent. A revoked link shows nothing.
func TestLinkShowsItsVersions(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b, guest := c.as(t, access.Editor), h.browser(t)
		one, two := c.draft(t, "Stays.", ""), c.draft(t, "Changes.", "")
		link, at := b.requestApproval(false, one, two)
		other, otherAt := b.requestApproval(false, one)
		c.callTool(t, "update_post", map[string]any{"id": two, "caption": "Has changed."})
		p := guest.open(link).
			shows(200, "A post from", "Stays.", "This post has changed since the link was sent.", "0 of 1 approved",
				"Approve this post").lacks("Changes.", "Has changed.")
		guest.send(http.MethodPost, link, url.Values{"decision": {"approve " + two}, "round-" + two: {"2"}, "name": {"Cleo"}}).
			shows(422, "The post has changed since this link was sent.")
		guest.send(http.MethodPost, link, url.Values{"decision": {"comment " + two}, "comment-" + two: {"Kept."}, "name": {"Cleo"}}).
			shows(422, "Kept.")
		b.open("/approvals").shows(200, "Changed, not sent again").form("Send again")
		b.open("/").shows(200, "1 has no working link: send it again.")
		b.open("/posts?status=waiting").shows(200, "Changed, not sent again").lacks("No working link")
		b.open("/posts/"+two).shows(200, "Changed, not sent again", "Version 2 · changed", "Sent to the client",
			"The client has not seen it.").lacks("Version 2 · sent", "No working link")
		b.open(at).shows(200, "A post has changed since the link was sent").form("Send the new versions").press().
			shows(200, "Send the link below to the client.").lacks("Changed, not sent again")
		guest.open(link).shows(200, "Has changed.", "0 of 2 approved").lacks("has changed since")
		all := p.form("Approve this post").fill("name", "Cleo") // the page shows only one post
		all.press().shows(200, "1 of 2 approved")

		b.open(at).form("Revoke link").press().shows(200, "The link was revoked", "Revoked").lacks("Client link")
		guest.open(link).shows(422, "The team has revoked this link.")
		guest.open(other).shows(200, "Approved by Cleo")
		b.open("/posts/"+two).shows(200, "The client’s links were revoked.")
		b.open("/posts/" + one).lacks("No working link")
		b.open(otherAt).form("Revoke link").press().shows(200)
		guest.open(other).shows(422, "The team has revoked this link.")
		b.send(http.MethodPost, at+"/revoke", url.Values{}).shows(422, "The link has already been revoked.")
		b.open("/approvals?show=all").shows(200, "2 posts for Cleo", "Revoked")
		b.open("/approvals").shows(200, "Waiting 1", "No open links", "Show in Posts").lacks("Nothing is waiting")
	})
}

// The list of links has tabs for waiting links and decided links. A link's page shows the whole text of its posts
// with each network's preview, and lists posts that a newer link contains.
func TestApprovalTabs(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b, guest := c.as(t, access.Editor), h.browser(t)
		b.open("/approvals?show=decided").shows(200, "Nothing completed yet")
		long := strings.Repeat("A long text. ", 20) + "Its end."
		one, two := c.draft(t, long, ""), c.draft(t, "Another.", "")
		_, old := b.requestApproval(false, one, two)
		for _, page := range []string{"/approvals", "/posts"} {
			b.open(page).shows(200, "Approvals 2")
		}
		b.open("/approvals").shows(200, "Waiting 2")
		b.open("/posts").shows(200, "Waiting for approval 2")
		link, at := b.requestApproval(false, one)
		b.open(old).shows(200, "Its end.", "Client preview", "In a newer link", "Another.", "View as client").
			lacks("Replaced by a newer link")
		b.open("/approvals").shows(200, "Waiting 2 Completed All", "In a newer link")
		_, newest := b.requestApproval(false, two)
		b.open(old).shows(200, "Replaced by a newer link")
		b.open("/approvals").shows(200, "Waiting 2", "1 post for the client").lacks("2 posts for the client")
		guest.open(link).form("Approve").fill("name", "Cleo").press().shows(200, "Approved by Cleo")
		b.open("/approvals").shows(200, "Waiting 1", "Another.").lacks("A long text.")
		b.open("/approvals?show=decided").shows(200, "1 post for Cleo", "1 of 1 approved", "A long text.").lacks(newest)
		b.open(at).shows(200, "1 of 1 approved").lacks("In a newer link")
	})
}

// The link is mailed if the team enters an address.
func TestMailedApprovalLink(t *testing.T) {
	withMail(t, func(t *testing.T, h *env, box *postbox) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		one, two := c.draft(t, "One.", ""), c.draft(t, "Two.", "")
		ask := b.open("/approvals/new?post=" + one + "&post=" + two).form("Create link")
		ask.fill("email", "no address").press().shows(422, "Enter an email address")
		sent := ask.fill("email", "cleo@client.example").press().
			shows(200, "The link was emailed to cleo@client.example.", "2 posts for cleo@client.example", "Emailed")
		link := box.link("cleo@client.example")
		if link == "" || h.root+link != sent.field("link") || !strings.Contains(box.texts["cleo@client.example"],
			"Ada editor (Harbour") || !strings.Contains(box.texts["cleo@client.example"], "asks you to review 2 posts:") {
			t.Errorf("unexpected mail %q", box.texts["cleo@client.example"])
		}
		h.browser(t).open(link).shows(200, "2 posts from")
		box.reject(true)
		sent.form("Email again").press().shows(200, "it could not be emailed", "It was not emailed.")
		b.open("/posts/"+one).follow("Create another link…").form("Create link").fill("email", "dan@client.example").press().
			shows(200, "it could not be emailed", "Client link")
		box.reject(false)
		for range 8 {
			b.open(sent.path).form("Email again").press().shows(200, "The link was emailed")
		}
		b.open(sent.path).form("Email again").press().shows(429, "Too many approval links were emailed within a day.")
	})
}

// The team's export contains what clients entered and the recipients of links. Deleting a draft deletes both.
func TestApprovalPersonalData(t *testing.T) {
	withMail(t, func(t *testing.T, h *env, _ *postbox) {
		c := h.crew(t)
		owner := c.as(t, access.Owner)
		one, two := c.draft(t, "One.", ""), c.draft(t, "Two.", "")
		sent := owner.open("/approvals/new?post="+one+"&post="+two).form("Create link").fill("email", "cleo@client.example").press()
		link := strings.TrimPrefix(sent.field("link"), h.root)
		h.browser(t).open(link).form("Comment only : One.").fill("name", "Cleo Client").fill("comment-"+one, "Nice <3").press().shows(200)
		file := owner.open("/settings/export.zip").shows(http.StatusOK)
		archive := must.Get(zip.NewReader(strings.NewReader(file.source), int64(len(file.source))))(t)
		for name, holds := range map[string]string{
			"approval_requests.jsonl": "cleo@client.example", "post_comments.jsonl": "Cleo Client", "approval_request_posts.jsonl": two,
		} {
			f := must.Get(archive.Open(name))(t)
			if raw := must.Get(io.ReadAll(f))(t); !strings.Contains(string(raw), holds) {
				t.Errorf("%s does not contain %q: %s", name, holds, raw)
			}
		}
		for i, id := range []string{one, two} {
			owner.open("/posts/" + id + "/delete").form("Delete post").press().shows(200)
			if n := h.count(t, "approval_requests WHERE email <> ''"); n != 1-i {
				t.Errorf("%d approval requests remain after %d deletions", n, i+1)
			}
		}
		if n := h.count(t, "approval_comments") + h.count(t, "approval_request_posts"); n != 0 {
			t.Errorf("%d rows remain", n)
		}
	})
}
