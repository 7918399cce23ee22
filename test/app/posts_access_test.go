package app

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

// While publishing is paused, disabled buttons explain the pause, including buttons without an API operation.
func TestPausedPublishingDisablesButtons(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		series := c.draft(t, "Every day anew", c.apiTime(24*time.Hour))
		must.Get(c.Posts.Repeat(t.Context(), c.people[access.Owner].ID, series, "FREQ=DAILY", nil))(t)
		draft := c.draft(t, "A draft", c.apiTime(50*time.Hour))
		end := b.open("/posts/" + series + "/series/end").form("End the series")
		must.NoError(t, h.Teams.Pause(t.Context(), team.Pause{Scope: team.ForTeam, Target: c.team.ID, Action: access.PausePublishing}))
		const why = "Publishing is paused."
		end.press().shows(403, why)
		b.open("/posts/"+draft).shows(200, why, "Publish now…", "Schedule for").lacks("/posts/" + draft + "/publish\"")
		b.open("/posts/"+draft+"/publish").form("Publish to 1 account").press().shows(403, why)
		b.open("/posts/"+series).shows(200, why, "End the series…").lacks("/series/end\"")
		b.open("/posts/new").shows(200, why)
		ask := b.open("/approvals/new?post=" + draft).lacks("Schedule when approved").form("Create link")
		ask.press().shows(200, "Waiting for approval")
		must.NoError(t, h.Teams.Pause(t.Context(), team.Pause{Scope: team.ForTeam, Target: c.team.ID, Action: access.PauseEverything}))
		ask.press().shows(403, "Changes are paused.")
		if held := c.storedPost(t, "/posts/"+series); !held.IsTemplate || held.Status != post.Scheduled {
			t.Errorf("%+v", held)
		}
	})
}

// Every route returns an error to people without permission and reveals no data.
func TestPostPermissions(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c, others := h.crew(t), h.crew(t)
		id := c.draft(t, "Ours alone", c.apiTime(48*time.Hour))
		c.callTool(t, "publish_post", map[string]any{"post_id": id})
		job, _ := c.callTool(t, "publish_post", map[string]any{"post_id": id})["job_id"].(string)
		account := fmt.Sprintf("/posts/%s/accounts/%d", id, c.account)
		reads := []string{
			"/posts", "/calendar", "/posts/" + id, "/posts/" + id + "/live", account, "/posts/" + id + "/publish",
			"/posts/" + id + "/series/end", "/jobs/" + job, "/jobs/" + job + "/live",
		}
		writes := []string{
			account + "/decision", "/posts/" + id + "/publish", "/posts/" + id + "/schedule",
			"/posts/" + id + "/cancel", "/posts/" + id + "/retry", "/posts/" + id + "/duplicate",
			"/posts/" + id + "/approval/revoke", "/posts/" + id + "/series/resume", "/posts/" + id + "/series/end",
		}
		c.as(t, access.Owner).waitUntilPublished(id)
		before := h.count(t, "events WHERE kind <> 'person.signed_in'")
		out := h.browser(t)
		for i, path := range append(slices.Clone(reads), writes...) {
			method := http.MethodGet
			if i >= len(reads) {
				method = http.MethodPost
			}
			if p := out.send(method, path, nil).shows(200, "Sign in").lacks("Ours alone"); !strings.HasPrefix(p.path, "/sign-in") {
				t.Errorf("signed out, %s redirects to %s", path, p.path)
			}
		}
		stranger, viewer := others.as(t, access.Owner), c.as(t, access.Viewer)
		for _, path := range reads[2:] {
			stranger.open(path).shows(404, "This page doesn’t exist, or you don’t have access to it.").lacks("Ours alone", c.team.Name)
		}
		once := viewer.open("/posts/"+id).shows(200, "Ours alone",
			"Your role can view the post but not change it.").lacks("<form method=\"post\" action=\"/posts").header.Get("Date")
		form := url.Values{
			"once": {c.now().UTC().Format("20060102T150405") + "-" + once}, "found": {"yes"},
			"account": {fmt.Sprint(c.account)}, "at": {c.apiTime(time.Hour)},
		}
		for _, path := range writes {
			stranger.send(http.MethodPost, path, form).shows(404).lacks("Ours alone", c.team.Name)
			viewer.send(http.MethodPost, path, form).shows(403, "Your role in this team does not allow this.")
		}
		for _, path := range []string{"/posts/" + id + "/publish", "/posts/" + id + "/series/end"} {
			viewer.open(path).shows(403)
		}
		for _, path := range []string{
			"/posts/x_y", "/posts/x_y/live", "/posts/" + id + "/accounts/x", "/posts/" + id + "/accounts/99999",
			"/jobs/none", "/jobs/social_post:1",
		} {
			viewer.open(path).shows(404)
		}
		if after := h.count(t, "events WHERE kind <> 'person.signed_in'"); after != before {
			t.Errorf("%d actions were recorded", after-before)
		}
	})
}

// A job's page shows its progress and links to its subject.
func TestJobPages(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Viewer)
		waiting, _ := c.callTool(t, "create_uploads", map[string]any{})["job_id"].(string)
		p := b.open("/jobs/"+waiting).shows(200, "Adding files to the library", "Pending", "This page updates automatically.", waiting)
		if !strings.Contains(p.source, "/upload/"+strings.TrimPrefix(waiting, "media_import:")) {
			t.Errorf("the page has no link to the files: %s", p.source)
		}
		b.open("/jobs/"+waiting+"/live").shows(200, "Pending").lacks("<html")
		h.change(t, `UPDATE jobs SET state = 'failed', error_code = 'upload_expired', finished_at = ? WHERE id = ?`,
			db.Micros(h.now()), waiting)
		b.open("/jobs/"+waiting).shows(200, "Failed", "Ended", "Not all files were uploaded before the links expired.").
			lacks("This page updates")
	})
}

// A link to an item of another team selects that team if the person is a member.
func TestItemOfOtherOwnTeam(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c, others := h.crew(t), h.crew(t)
		id := c.draft(t, "Over there", "")
		job, _ := c.callTool(t, "publish_post", map[string]any{"post_id": id})["job_id"].(string)
		must.NoError(t, h.Teams.SetMember(t.Context(), others.team.ID, c.people[access.Viewer].ID, access.Viewer))
		reads := map[string]string{
			"/posts/" + id: "harbour", "/jobs/" + job: "Open the post", fmt.Sprintf("/posts/%s/accounts/%d", id, c.account): "harbour",
		}
		for path, says := range reads {
			b := c.as(t, access.Viewer)
			b.send(http.MethodPost, "/team", url.Values{"team": {fmt.Sprint(others.team.ID)}}).shows(200, others.team.Name)
			b.open(path).shows(200, "You switched to the team "+c.team.Name, says)
			b.open("/posts").shows(200, "Over there")
		}
	})
}

// Pages stay small for every post.
func TestPostPageSizes(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		long := strings.Repeat("𝔘𝔫𝔦 ", 2000)
		id := c.draft(t, long, "2027-06-15T10:00:00Z")
		for i := range 40 {
			c.draft(t, long, fmt.Sprintf("2027-06-%02dT10:%02d:00Z", 1+i%30, i))
		}
		b := c.as(t, access.Owner)
		for _, path := range []string{
			"/posts", "/posts?from=2027-01-01", "/calendar?day=2027-06-01", "/calendar?view=week&day=2027-06-15",
			"/posts/" + id, fmt.Sprintf("/posts/%s/accounts/%d", id, c.account),
		} {
			if p := b.open(path).shows(200); len(p.source) > 100_000 {
				t.Errorf("%s has %d bytes", path, len(p.source))
			}
		}
	})
}
