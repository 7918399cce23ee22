package app

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"pressroom/internal/core/access"
	"pressroom/internal/domain/team"
	"pressroom/internal/testkit"
	"pressroom/internal/testkit/must"
)

// asOperator makes the member with a role an operator, and signs that member in.
func (c *crew) asOperator(t *testing.T, role access.Role) *browser {
	t.Helper()
	must.Get(c.Teams.SetOperator(t.Context(), c.people[role].Email, true))(t)
	return c.as(t, role)
}

// operatorPages are the addresses that only operators have.
var operatorPages = []string{"", "/teams", "/people", "/pauses", "/queue", "/networks", "/posts", "/ledger", "/events", "/events.jsonl"}

// Operator pages do not exist for other people, and refuse their forms.
func TestOperatorPagePermissions(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b, nobody := c.as(t, access.Owner), h.browser(t)
		b.open("/").lacks(`href="/operator"`)
		for _, page := range operatorPages {
			b.open("/operator"+page).wants(http.StatusNotFound, "Page not found, or you don't have access.")
			nobody.open("/operator"+page).wants(http.StatusOK, "Sign in").lacks("Operator")
		}
		for _, form := range []string{"/api", "/pauses", "/pauses/end", "/queue/wake", "/posts", "/ledger",
			fmt.Sprintf("/teams/%d/credits", c.team.ID), fmt.Sprintf("/teams/%d/close", c.team.ID),
			fmt.Sprintf("/people/%d/hold", c.people[access.Viewer].ID), fmt.Sprintf("/people/%d/recovery", c.people[access.Viewer].ID)} {
			b.send(http.MethodPost, "/operator"+form,
				map[string][]string{
					"api": {"off"}, "scope": {"service"}, "action": {"everything"}, "held": {"yes"}, "credits": {"5"}, "reference": {"x"},
				}).wants(http.StatusNotFound)
		}
		if n := h.count(t, "pauses"); n != 0 {
			t.Errorf("%d pauses hold", n)
		}
		p := c.asOperator(t, access.Viewer)
		p.open("/").follow("Operator").wants(http.StatusOK, "Nothing is paused; the API is on")
		for _, page := range operatorPages {
			p.open("/operator" + page).wants(http.StatusOK).lacks("style=")
		}
	})
}

// An operator finds a team, changes its plan, grants and deducts credits, sets limits, closes and reopens it.
func TestOperatorManagesTeams(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.asOperator(t, access.Viewer)
		b.open("/operator/teams").form("Search").fill("q", strings.ToUpper(c.team.Name)).press().
			wants(http.StatusOK, c.team.Name, "limit of the plan")
		b.open("/operator/teams?q=nobody").wants(http.StatusOK, "No matches.")
		path := fmt.Sprintf("/operator/teams/%d", c.team.ID)
		p := b.open(path)
		p.wants(http.StatusOK, "No transactions yet.", "Ada owner")

		p = p.form("Change plan").fill("plan", "team").fill("until", "2000-01-01").press()
		p.wants(http.StatusUnprocessableEntity, "The last day is in the past")
		p.form("Change plan").fill("until", "2090-01-01").press().
			wants(http.StatusOK, "The plan was changed.", "The current plan expires Mon 2 Jan 2090, 00:00")

		grant := p.form("Grant").fill("credits", "50").fill("reference", "invoice 7").fill("note", "thank you")
		grant.press().wants(http.StatusOK, "50 credits granted. The team has 50 left.", "invoice 7", "thank you")
		grant.press().wants(http.StatusOK, "This reference was already booked.")
		wrong := p.form("Withdraw").fill("credits", "80").fill("reference", "back").press()
		wrong.wants(http.StatusUnprocessableEntity, "has 50 credits available; 80 cannot be withdrawn.")
		if typed := wrong.form("Withdraw").values.Get("credits"); typed != "80" {
			t.Errorf("what was typed is gone: %q", typed)
		}
		wrong.form("Withdraw").fill("credits", "20").press().wants(http.StatusOK, "20 credits withdrawn. The team has 30 left.")

		p.form("Set limit").fill("limit", "some").press().wants(http.StatusUnprocessableEntity, "whole number")
		p.form("Set limit").fill("limit", "7").press().wants(http.StatusOK, "The daily limit was changed.")

		p.follow("Close team…").wants(http.StatusOK, "Scheduled posts wait.").form("Close team").press().
			wants(http.StatusOK, "The team was closed.")
		if found, err := h.Teams.Team(t.Context(), c.team.ID); err != nil || !found.Closed || *found.DailyCredits != 7 {
			t.Errorf("the team is %+v (%v)", found, err)
		}
		b.open(path).form("Reopen team").press().wants(http.StatusOK, "The team was reopened.")

		// The audit log names the operator. The team cannot read it.
		b.open(path).follow("Audit log").wants(http.StatusOK, "team.closed", fmt.Sprintf(`{"operator":%d}`, c.people[access.Viewer].ID))
		c.as(t, access.Owner).open("/settings/audit").wants(http.StatusOK, "The operator").lacks("Ada viewer")
		lines := b.open(fmt.Sprintf("/operator/events.jsonl?team=%d", c.team.ID)).wants(http.StatusOK).source
		if n := strings.Count(lines, "\n"); n != h.count(t, "events WHERE team_id = ?", c.team.ID) {
			t.Errorf("the file has %d lines", n)
		}
		b.open(path).wants(http.StatusOK, "30 credits left. This matches the newest entry")
		b.open("/operator/ledger").form("Audit ledger").press().wants(http.StatusOK, "Everything adds up.")
	})
}

// An operator suspends people, makes others operators, and lets a person who lost the password sign in again.
func TestOperatorManagesPeople(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b, editor := c.asOperator(t, access.Viewer), c.as(t, access.Editor)
		p := b.open("/operator/people").form("Search").fill("q", c.people[access.Editor].Email).press().follow("Ada editor")
		p.form("Suspend").press().wants(http.StatusOK, "The account is suspended")
		editor.open("/posts").wants(http.StatusOK, "Sign in")
		b.open(p.path).form("End the suspension").press().wants(http.StatusOK, "The suspension was ended.")

		link := b.open(p.path).form("Create recovery link").press()
		link.wants(http.StatusOK, "It is shown only once.")
		_, rest, _ := strings.Cut(link.source, team.RecoveryPath)
		token, _, _ := strings.Cut(rest, `"`)
		h.browser(t).open(team.RecoveryPath+token).wants(http.StatusOK, "password")

		b.open(p.path).form("Make operator").press().
			wants(http.StatusUnprocessableEntity, "This email address is not confirmed")
		b.open(p.path).form("Make operator").fill("unconfirmed", "yes").press().wants(http.StatusOK, "This person is now an operator.")
		b.open(p.path).form("Remove operator access").press().wants(http.StatusOK, "no longer an operator")
		own := fmt.Sprintf("/operator/people/%d", c.people[access.Viewer].ID)
		b.open(own).wants(http.StatusOK, "This is your own account.")
		b.send(http.MethodPost, own+"/operator", map[string][]string{"operator": {"no"}}).
			wants(http.StatusUnprocessableEntity, "ask another operator")
	})
}

// An operator pauses things and turns the API off; both are listed and can be undone there.
func TestOperatorPauses(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.asOperator(t, access.Owner)
		p := b.open("/operator/pauses")
		p.form("Pause").fill("scope", "team").fill("target", "x").fill("action", "publish").press().
			wants(http.StatusUnprocessableEntity, "Enter the number of the team, key or assistant.")
		p.form("Pause").fill("scope", "team").fill("target", "987654").fill("action", "publish").press().
			wants(http.StatusUnprocessableEntity, "There is no such team or key")
		p = p.form("Pause").fill("scope", "team").fill("target", fmt.Sprint(c.team.ID)).fill("action", "publish").
			fill("reason", "odd posts").press()
		p.wants(http.StatusOK, "It takes effect everywhere within a second.", "odd posts")
		b.open(fmt.Sprintf("/operator/teams/%d", c.team.ID)).wants(http.StatusOK, "Publishing is paused: odd posts")
		p.form(fmt.Sprintf("End the pause: Publishing of team %d", c.team.ID)).press().
			wants(http.StatusOK, "The pause was ended.", "Nothing is paused.")
		p.form("Turn off API").press().wants(http.StatusOK, "The API is off for all keys and assistants.")
		b.open("/operator").wants(http.StatusOK, "The API is off for every key and assistant. Turn it on")
		b.open("/operator/pauses").form("Turn on API").press().wants(http.StatusOK, "The API is on.")
	})
}

// A job that no worker claims is shown with its reason for waiting and can be woken.
func TestOperatorResumesJob(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.asOperator(t, access.Owner)
		b.open("/operator/queue").wants(http.StatusOK, "No deliveries in progress.")
		b.send(http.MethodPost, "/operator/queue/wake", map[string][]string{"delivery": {"none"}}).wants(http.StatusOK, "Nothing was woken")
		b.open("/operator/networks").wants(http.StatusOK, "Bluesky OK", "No failures in the last 500 attempts.").
			lacks("No check failed")
		b.open("/operator/posts").wants(http.StatusOK, "No unconfirmed posts")
	})
}

// An operator checks the apps. Networks without a connected account are not failures.
func TestOperatorChecksApps(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.asOperator(t, access.Owner)
		p := b.open("/operator/networks").form("Check apps").press()
		p.wants(http.StatusOK, "No check failed.", fmt.Sprintf("harbour%d", c.team.ID), "session Works", "No account is connected.")
		h.change(t, `UPDATE social_accounts SET connection_state = 'lost'`)
		b.open("/operator/networks").form("Check apps").press().wants(http.StatusOK, "No check failed.").lacks("session")
	})
}

// Posts that wait for the end of a pause are listed with what ends it.
func TestOperatorWaitingPosts(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.asOperator(t, access.Owner)
		must.NoError(t, h.Teams.Pause(t.Context(), team.Pause{Scope: team.ForTeam, Target: c.team.ID, Action: access.PausePublishing}))
		id := c.draft(t, "It waits for the end of the pause", "")
		h.change(t, `UPDATE posts SET status = 'scheduled', scheduled_at = ? WHERE id = ?`, h.now().Add(-time.Hour).UnixMicro(), id)
		b.open("/operator/queue").wants(http.StatusOK, "because publishing is paused or the team is closed").
			lacks("Everything is on time").follow("View pauses").wants(http.StatusOK, fmt.Sprintf("Publishing of team %d", c.team.ID))
		b.open("/operator").lacks("Everything is OK")
	})
}

// An operator sees the hold and its reason; other people see why publishing is unavailable.
func TestOperatorHoldPage(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.asOperator(t, access.Owner)
		b.open("/operator").lacks("Publishing and charging have been on hold")
		must.Get(h.Hold.Hold(t.Context(), "a flood in the cellar"))(t)
		b.open("/operator").
			wants(http.StatusOK, "Publishing and charging have been on hold",
				"the operator put it on hold (a flood in the cellar)", "pressroom admin resume").lacks("Everything is OK")
		b.open("/posts/new").wants(http.StatusOK, "Publishing is on hold until the operator has checked what was already published.")
	})
}

// With an untrusted proxy all clients share one address. The operator is warned, for an hour at most.
func TestOperatorUntrustedProxyWarning(t *testing.T) {
	t.Parallel()
	h := open(t, testkit.SQLite(t))
	b := h.crew(t).asOperator(t, access.Owner)
	b.open("/operator").lacks("X-Forwarded-For")
	req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, h.root+"/livez", http.NoBody))(t)
	req.Header.Set("X-Forwarded-For", "203.0.113.7")
	resp := must.Get(http.DefaultClient.Do(req))(t)
	must.NoError(t, resp.Body.Close())
	b.open("/operator").
		wants(http.StatusOK, "A peer that is not a trusted proxy (127.0.0.1) sends X-Forwarded-For",
			"PRESSROOM_TRUSTED_PROXIES").lacks("Everything is OK")
	h.advance(time.Hour)
	b.open("/operator").wants(http.StatusOK).lacks("X-Forwarded-For")
}
