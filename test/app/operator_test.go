package app

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// asOperator makes the member with the given role an operator and signs that person in.
func (c *crew) asOperator(t *testing.T, role access.Role) *browser {
	t.Helper()
	must.Get(c.Teams.SetOperator(t.Context(), c.people[role].Email, true))(t)
	return c.as(t, role)
}

// operatorPages lists the paths below /operator, which only operators can open.
var operatorPages = []string{
	"", "/teams", "/people", "/pauses", "/queue", "/channels", "/networks", "/posts", "/ledger", "/events", "/events.jsonl",
}

// For other people, operator pages return 404 and reject forms.
func TestOperatorPagePermissions(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b, nobody := c.as(t, access.Owner), h.browser(t)
		b.open("/").lacks(`href="/operator"`)
		for _, page := range operatorPages {
			b.open("/operator"+page).shows(http.StatusNotFound, "This page doesn’t exist, or you don’t have access to it.")
			nobody.open("/operator"+page).shows(http.StatusOK, "Sign in").lacks("Operator")
		}
		for _, form := range []string{"/api", "/pauses", "/pauses/end", "/channels", "/channels/1/test", "/channels/1/remove",
			"/queue/wake", "/posts", "/ledger",
			fmt.Sprintf("/teams/%d/credits", c.team.ID), fmt.Sprintf("/teams/%d/close", c.team.ID),
			fmt.Sprintf("/people/%d/hold", c.people[access.Viewer].ID), fmt.Sprintf("/people/%d/recovery", c.people[access.Viewer].ID)} {
			b.send(http.MethodPost, "/operator"+form,
				map[string][]string{
					"api": {"off"}, "scope": {"service"}, "action": {"everything"}, "held": {"yes"}, "credits": {"5"}, "reference": {"x"},
				}).shows(http.StatusNotFound)
		}
		if n := h.count(t, "pauses"); n != 0 {
			t.Errorf("%d pauses are active", n)
		}
		p := c.asOperator(t, access.Viewer)
		p.open("/").follow("Operator").shows(http.StatusOK, "API On Active pauses 0")
		for _, page := range operatorPages {
			p.open("/operator" + page).shows(http.StatusOK).lacks("style=")
		}
	})
}

// An operator finds a team, changes its plan, grants and deducts credits, sets limits, closes and reopens it.
func TestOperatorManagesTeams(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.asOperator(t, access.Viewer)
		b.open("/operator/teams").form("Search").fill("q", strings.ToUpper(c.team.Name)).press().
			shows(http.StatusOK, c.team.Name, "Last active", c.team.Name+" Agency 0 5 1 just now").lacks("daily limit")
		b.open("/operator/teams?q=nobody").shows(http.StatusOK, "No teams found", "No matches.").follow("Show all teams").
			shows(http.StatusOK, c.team.Name).follow("Closed").shows(http.StatusOK, "No team is closed.").lacks("Last active")
		path := fmt.Sprintf("/operator/teams/%d", c.team.ID)
		p := b.open(path)
		p.shows(http.StatusOK, "No transactions yet.", "Ada owner")

		p = p.form("Change plan").fill("plan", "team").fill("until", "2000-01-01").press()
		p.shows(http.StatusUnprocessableEntity, "The last day is in the past")
		p.form("Change plan").fill("until", "2090-01-01").press().
			shows(http.StatusOK, "The plan was changed.", "The current plan expires Mon 2 Jan 2090, 00:00")

		grant := p.form("Grant").fill("credits", "50").fill("reference", "invoice 7").fill("note", "thank you")
		grant.press().shows(http.StatusOK, "50 credits granted. The team has 50 left.", "invoice 7", "thank you")
		grant.press().shows(http.StatusOK, "A transaction with this reference already exists.")
		wrong := p.form("Withdraw").fill("credits", "80").fill("reference", "back").press()
		wrong.shows(http.StatusUnprocessableEntity, "has 50 credits available; 80 cannot be withdrawn.")
		if typed := wrong.form("Withdraw").values.Get("credits"); typed != "80" {
			t.Errorf("the input is lost: %q", typed)
		}
		wrong.form("Withdraw").fill("credits", "20").press().shows(http.StatusOK, "20 credits withdrawn. The team has 30 left.")

		p.form("Set limit").fill("rule", "amount").fill("limit", "some").press().shows(http.StatusUnprocessableEntity, "whole number")
		p.form("Set limit").fill("rule", "unlimited").press().shows(http.StatusOK, "The daily limit was changed.").
			form("Set limit").fill("rule", "amount").fill("limit", "7").press().shows(http.StatusOK, "The daily limit was changed.")

		p.follow("Close team…").shows(http.StatusOK, "Scheduled posts wait.").form("Close team").press().
			shows(http.StatusOK, "The team was closed.")
		b.open("/operator/teams?state=closed").shows(http.StatusOK, c.team.Name, "daily limit: 7 credits").
			form("Search").fill("q", "nobody").press().shows(http.StatusOK, "No teams found").lacks("daily limit")
		if found, err := h.Teams.Team(t.Context(), c.team.ID); err != nil || !found.Closed || *found.DailyCredits != 7 {
			t.Errorf("team = %+v (%v)", found, err)
		}
		b.open(path).form("Reopen team").press().shows(http.StatusOK, "The team was reopened.")

		// Only the operator's audit log contains the operator's ID.
		operator := fmt.Sprintf(`{"operator":%d}`, c.people[access.Viewer].ID)
		b.open(path).follow("Team audit log").shows(http.StatusOK, "team.closed", operator)
		c.as(t, access.Owner).open("/settings/audit").shows(http.StatusOK, "The operator").lacks(operator)
		b.open(fmt.Sprintf("/operator/events?team=%d", c.team.ID)).
			shows(http.StatusOK, "The audit log of "+c.team.Name+", newest first.", "Team reopened · "+c.team.Name,
				"Raw Type team.reopened")
		other := h.crew(t).team
		h.change(t, `UPDATE teams SET name = 'Quayside' WHERE id = ?`, other.ID)
		for typed, status := range map[string]int{
			"quays": http.StatusOK, fmt.Sprint(other.ID, " Quayside"): http.StatusOK,
			fmt.Sprint(other.ID, " Seven Agency"): http.StatusUnprocessableEntity,
			"nobody":                              http.StatusUnprocessableEntity, "a": http.StatusUnprocessableEntity,
		} {
			found := b.open("/operator/events").form("Filter").fill("team", typed).press()
			if status == http.StatusOK {
				found.shows(status, "The audit log of Quayside, newest first.")
			} else if found.lacks("API key created ·"); typed == "a" {
				found.shows(status, "Several teams match.")
			} else {
				found.shows(status, "No team has this name.")
			}
		}
		b.open("/operator/events.jsonl?team=Quayside").shows(http.StatusUnprocessableEntity, "The team must be an ID.")
		lines := b.open(fmt.Sprintf("/operator/events.jsonl?team=%d", c.team.ID)).shows(http.StatusOK).source
		if n := strings.Count(lines, "\n"); n != h.count(t, "events WHERE team_id = ?", c.team.ID) {
			t.Errorf("the export has %d lines", n)
		}
		b.open(path).shows(http.StatusOK, "30 credits left. This matches the newest entry")
		b.open("/operator/ledger").form("Audit ledger").press().shows(http.StatusOK, "Everything adds up.")
		b.open("/operator/ledger").shows(http.StatusOK, "Last audit by an operator: just now by Ada viewer", "Everything adds up.",
			"Credits available 30", "What is checked")
	})
}

// The operator's audit log is filtered by person, kind, day and post, and says why a post failed.
func TestOperatorFiltersEvents(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.asOperator(t, access.Owner)
		id := c.draft(t, "Rejected", "")
		record := func(kind, subject string, detail map[string]any) {
			must.NoError(t, h.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
				return auditlog.Record(ctx, tx, c.team.ID, auditlog.Actor{}, kind, subject, detail)
			}))
		}
		record("post.account_failed", id, map[string]any{"account": 1, "error_code": "rejected_content"})
		record("post.account_failed", "another", nil)
		at := fmt.Sprintf("/operator/events?team=%d", c.team.ID)
		b.open(at+"&item="+id).shows(http.StatusOK, "Failed on an account", "rejected content", "Post created").
			lacks("another")
		other := c.draft(t, "Of the same minute", "")
		b.open(at).contains("Events of post "+id, "Events of post "+other)
		b.open(at+"&kind=post.account_failed").shows(http.StatusOK, "another").lacks("Post created ·")
		b.open(at+"&item="+id).follow("Show all items").shows(http.StatusOK, "another").
			follow("Last 7 days").shows(http.StatusOK, "another")
		b.open(at+"&to=2020-01-01").shows(http.StatusOK, "No events match the filter.")
		b.open(at+"&person=nobody").shows(http.StatusUnprocessableEntity, "No person has this name or address.")
		person := c.people[access.Editor]
		b.open(at + "&person=" + url.QueryEscape(person.Email)).shows(http.StatusOK).lacks("Failed on an account ·")
		lines := b.open(at[:len("/operator/events")] + ".jsonl?kind=post.account_failed&item=" + id).shows(http.StatusOK).source
		if strings.Count(lines, "\n") != 1 {
			t.Errorf("the export has other events: %s", lines)
		}
	})
}

// The operator's home page shows the figures of the installation, and the page of networks the calls of a day.
func TestOperatorFigures(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.asOperator(t, access.Owner)
		id := c.draft(t, "Failed today", "")
		h.change(t, `UPDATE posts SET status = 'failed', slot_at = ? WHERE id = ?`, h.now().UnixMicro(), id)
		b.open("/operator").shows(http.StatusOK, "Posts due today 0 Posts failed today 1 Networks failing 0", "Recent activity Audit log",
			"Post created")
		b.open("/operator").follow("Posts failed today: 1").shows(http.StatusOK, "Audit log")
		b.open("/operator/networks").shows(http.StatusOK, "Bluesky OK 0 0 –")
	})
}

// An operator suspends people, makes others operators, and lets a person who lost the password sign in again.
func TestOperatorManagesPeople(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b, editor := c.asOperator(t, access.Viewer), c.as(t, access.Editor)
		p := b.open("/operator/people").form("Search").fill("q", c.people[access.Editor].Email).press().follow("Ada editor")
		p.shows(http.StatusOK, "Last sign-in just now", "Two-factor authentication Off", "Signed in just now · last used just now")
		b.open("/operator/people").shows(http.StatusOK, c.people[access.Viewer].Email+" 1 just now").follow("Operators").
			shows(http.StatusOK, "Ada viewer").lacks("Ada editor")
		p.form("Suspend").press().shows(http.StatusOK, "The account is suspended")
		b.open("/operator/people?state=suspended").shows(http.StatusOK, "Ada editor Suspended").lacks("Ada owner")
		b.open("/operator/people?state=other").shows(http.StatusOK, "Ada editor", "Ada viewer")
		editor.open("/posts").shows(http.StatusOK, "Sign in")
		b.open(p.path).form("End the suspension").press().shows(http.StatusOK, "The suspension was ended.")

		link := b.open(p.path).form("Create recovery link").press()
		link.shows(http.StatusOK, "It is shown only once.")
		_, rest, _ := strings.Cut(link.source, team.RecoveryPath)
		token, _, _ := strings.Cut(rest, `"`)
		h.browser(t).open(team.RecoveryPath+token).shows(http.StatusOK, "password")

		b.open(p.path).form("Make operator").press().
			shows(http.StatusUnprocessableEntity, "This email address is not confirmed")
		b.open(p.path).form("Make operator").fill("unconfirmed", "yes").press().shows(http.StatusOK, "This person is now an operator.")
		b.open(p.path).form("Remove operator access").press().shows(http.StatusOK, "no longer an operator")
		own := fmt.Sprintf("/operator/people/%d", c.people[access.Viewer].ID)
		b.open(own).shows(http.StatusOK, "This is your account. Only another operator can change it.")
		b.send(http.MethodPost, own+"/operator", map[string][]string{"operator": {"no"}}).
			shows(http.StatusUnprocessableEntity, "ask another operator")
	})
}

// An operator pauses a team and turns the API off. The page lists both and can undo them.
func TestOperatorPauses(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.asOperator(t, access.Owner)
		p := b.open("/operator/pauses").shows(http.StatusOK, "The pause applies to ").lacks("EXTRA")
		p.form("Pause").fill("scope", "team").fill("target", "x").fill("action", "publish").press().
			shows(http.StatusUnprocessableEntity, "No matches; choose one from the list.")
		p.form("Pause").fill("scope", "team").fill("target", "987654").fill("action", "publish").press().
			shows(http.StatusUnprocessableEntity, "Team or key not found")
		p.form("Pause").fill("scope", "team").fill("target", fmt.Sprint(c.team.ID, " Seven Agency")).fill("action", "publish").press().
			shows(http.StatusUnprocessableEntity, "No matches")
		p = p.form("Pause").fill("scope", "team").fill("target", fmt.Sprint(c.team.ID, " ", c.team.Name)).fill("action", "publish").
			fill("reason", "odd posts").press()
		p.shows(http.StatusOK, "It takes effect everywhere within a second.", "Paused just now · odd posts").
			contains(`<details class="add-pause" id="add">`)
		b.open(fmt.Sprintf("/operator/teams/%d", c.team.ID)).follow("Add a pause").contains(`<details class="add-pause" id="add" open>`)
		b.open(fmt.Sprintf("/operator/teams/%d", c.team.ID)).shows(http.StatusOK, "Publishing is paused: odd posts")
		p.form(fmt.Sprintf("End the pause: Publishing of team %d", c.team.ID)).press().
			shows(http.StatusOK, "The pause was ended.", "Nothing is paused")
		key, _, err := h.Teams.AddKey(t.Context(), team.NewKey{Team: c.team.ID, Name: "Odd robot", Level: access.Full})
		must.NoError(t, err)
		p = p.form("Pause").fill("scope", "key").fill("key", "odd ROBOT "+c.team.Name).fill("action", "spend").press().
			shows(http.StatusOK, "Spending of key or assistant Odd robot")
		p.form(fmt.Sprintf("End the pause: Spending of key %d", key.ID)).press().shows(http.StatusOK, "Nothing is paused")
		p.form("Pause").fill("scope", "key").fill("action", "spend").press().
			shows(http.StatusUnprocessableEntity, "Choose the team, key or assistant to pause.")
		p.form("Turn off API").press().shows(http.StatusOK, "The API is off for all keys and assistants.")
		b.open("/operator").shows(http.StatusOK, "The API is off for every key and assistant. Turn it on")
		b.open("/operator/pauses").form("Turn on API").press().shows(http.StatusOK, "The API is on.")
	})
}

// The tables of teams and people can be sorted by a column, in both directions, and a search keeps the order.
func TestOperatorSortsTables(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.asOperator(t, access.Viewer)
		teams := b.open("/operator/teams").follow("Credits")
		teams.contains(`<th scope="col" class="n" aria-sort="descending">`)
		teams.form("Search").fill("q", c.team.Name).press().shows(http.StatusOK, c.team.Name).follow("Credits").
			contains(`<th scope="col" class="n" aria-sort="ascending">`)
		people := b.open("/operator/people").follow("Person")
		people.contains(`<th scope="col" aria-sort="ascending">`)
		text := people.follow("Person").shows(http.StatusOK, "Ada owner").text()
		if strings.Index(text, "Ada viewer Operator") > strings.Index(text, "Ada owner Email") {
			t.Errorf("not in descending order: %s", text)
		}
		b.open("/operator/people?sort=other").lacks("aria-sort")
	})
}

// The queue page lists failed jobs with the reason and the next step.
func TestOperatorFailedJobs(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.asOperator(t, access.Viewer)
		b.open("/operator/queue").shows(http.StatusOK, "No job failed in the last 24 hours.")
		failed := func(id, kind, code string, ago time.Duration) {
			h.change(t, `INSERT INTO jobs (id, team_id, type, state, subject, total, error_code, created_at, finished_at)
				VALUES (?, ?, ?, 'failed', 'subject', 1, ?, 1, ?)`, id, c.team.ID, kind, code, h.now().Add(-ago).UnixMicro())
		}
		failed("a", "profile_report", "source_unavailable", time.Minute)
		failed("b", "social_post", "network_error", time.Hour)
		failed("c", "hashtag_search", "not_offered", 25*time.Hour)
		b.open("/operator/queue").shows(http.StatusOK, "Profile report "+c.team.Name+" The provider could not be reached",
			"Not charged. A member can start it again.", "Publishing a post", "A member retries it on the page of the post.",
			"It cannot be restarted here").lacks("Hashtag search", "No job failed")
	})
}

// The queue page shows why a job waits. The operator can wake the job.
func TestOperatorResumesJob(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.asOperator(t, access.Owner)
		b.open("/operator/queue").shows(http.StatusOK, "No deliveries in progress.")
		b.send(http.MethodPost, "/operator/queue/wake", map[string][]string{"delivery": {"none"}}).
			shows(http.StatusOK, "Nothing was started")
		b.open("/operator/networks").shows(http.StatusOK, "Bluesky OK", "No failures in the last 500 attempts.").
			lacks("checks passed")
		b.open("/operator/posts").shows(http.StatusOK, "No unconfirmed posts")
	})
}

// An operator checks the network apps. A network without a connected account is not reported as a failure.
func TestOperatorChecksApps(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.asOperator(t, access.Owner)
		p := b.open("/operator/networks").form("Check apps").press()
		p.shows(http.StatusOK, "No check failed.", "unclear.", fmt.Sprintf("session harbour%d.test Works", c.team.ID),
			"No account is connected.")
		h.change(t, `UPDATE social_accounts SET connection_state = 'lost'`)
		b.open("/operator/networks").form("Check apps").press().shows(http.StatusOK, "No check failed.").lacks("session")
	})
}

// Posts waiting for the end of a pause are listed with a link to end the pause.
func TestOperatorWaitingPosts(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.asOperator(t, access.Owner)
		must.NoError(t, h.Teams.Pause(t.Context(), team.Pause{Scope: team.ForTeam, Target: c.team.ID, Action: access.PausePublishing}))
		id := c.draft(t, "It waits for the end of the pause", "")
		h.change(t, `UPDATE posts SET status = 'scheduled', scheduled_at = ? WHERE id = ?`, h.now().Add(-time.Hour).UnixMicro(), id)
		b.open("/operator/queue").shows(http.StatusOK, "because publishing is paused or the team is closed").
			lacks("Everything is on time").follow("View pauses").shows(http.StatusOK, "Publishing of "+c.team.Name)
		b.open("/operator").lacks("All systems operational")
	})
}

// An operator sees the hold and its reason. Other people see why publishing is unavailable.
func TestOperatorHoldPage(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.asOperator(t, access.Owner)
		b.open("/operator").lacks("Publishing and charging have been on hold")
		must.Get(h.Hold.Hold(t.Context(), "a flood in the cellar"))(t)
		b.open("/operator").
			shows(http.StatusOK, "Publishing and charging have been on hold",
				"the operator put it on hold (a flood in the cellar)", "pressroom admin resume").lacks("All systems operational")
		b.open("/posts/new").shows(http.StatusOK, "Publishing is on hold until the operator has checked what was already published.")
	})
}

// Behind an untrusted proxy all requests have one IP address. The operator sees a warning for up to an hour.
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
		shows(http.StatusOK, "A peer that is not a trusted proxy (127.0.0.1) sends X-Forwarded-For",
			"PRESSROOM_TRUSTED_PROXIES").lacks("All systems operational")
	h.advance(time.Hour)
	b.open("/operator").shows(http.StatusOK).lacks("X-Forwarded-For")
}
