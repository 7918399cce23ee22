package approval_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/approval"
	"pressroom.example/pressroom/internal/domain/post/posttest"
	"pressroom.example/pressroom/internal/testkit/must"
)

// testStep is an action on a post. token is the token of an approval link.
type testStep func(t *testing.T, w *env, id, token string) error

// callTool returns a step that calls an operation. name is the argument for the post's ID.
func callTool(tool, name string, args map[string]any) testStep {
	return func(t *testing.T, w *env, id, _ string) error {
		all := map[string]any{name: id}
		maps.Copy(all, args)
		_, err := w.Try(t, tool, all)
		return err
	}
}

func requestApproval(t *testing.T, w *env, id, _ string) error {
	_, err := w.Approvals.Request(t.Context(), w.Person, id)
	return err
}

func decide(approve bool) testStep {
	return func(t *testing.T, w *env, _, token string) error { return w.Decide(t, token, approve) }
}

// runSteps creates a draft, runs steps, and returns the post and the client's link if approval was requested.
func (w *env) runSteps(t *testing.T, steps []testStep) (string, string) {
	t.Helper()
	id, token := w.Draft(t, "hello", time.Time{}), ""
	for _, s := range steps {
		must.NoError(t, s(t, w, id, token))
		if token == "" && strings.HasSuffix(w.Status(t, id), "waiting") {
			token = w.RequestApproval(t, id) // creates another link to the same round
		}
	}
	return id, token
}

// TestApprovalTransitions checks the effect of each step in each approval state: the next state or an error.
func TestApprovalTransitions(t *testing.T) {
	approve, reject := decide(true), decide(false)
	text, same := callTool("update_post", "id", map[string]any{"caption": "other"}),
		callTool("update_post", "id", map[string]any{"caption": "hello"})
	schedule := callTool("schedule_post", "post_id", map[string]any{"scheduled_at": "2026-12-01T10:00"})
	publish, cancel := callTool("publish_post", "post_id", nil), callTool("cancel_post", "post_id", nil)
	before := map[string][]testStep{
		"not requested":       nil,
		"waiting":             {requestApproval},
		"approved":            {requestApproval, approve},
		"rejected":            {requestApproval, reject},
		"scheduled":           {schedule},
		"scheduled, waiting":  {schedule, requestApproval},
		"scheduled, approved": {requestApproval, approve, schedule},
		"published":           {publish},
	}
	cases := []struct {
		state, name string
		do          testStep
		want        string // the state after the step, or the code and state of the error
	}{
		{"not requested", "request", requestApproval, "draft waiting"},
		{"not requested", "text", text, "draft"},
		{"waiting", "request", requestApproval, "draft waiting"},
		{"waiting", "approve", approve, "draft approved"},
		{"waiting", "reject", reject, "draft rejected"},
		{"waiting", "text", text, "draft waiting"},
		{"waiting", "schedule", schedule, "awaiting_client_approval"},
		{"waiting", "publish", publish, "awaiting_client_approval"},
		{"approved", "request", requestApproval, "validation_failed approved"},
		{"approved", "approve", approve, "validation_failed approved"},
		{"approved", "reject", reject, "validation_failed approved"},
		{"approved", "text", text, "draft waiting"},
		{"approved", "same", same, "draft approved"},
		{"approved", "schedule", schedule, "scheduled approved"},
		{"approved", "publish", publish, "published approved"},
		{"rejected", "request", requestApproval, "draft waiting"},
		{"rejected", "approve", approve, "draft approved"},
		{"rejected", "reject", reject, "validation_failed rejected"},
		{"rejected", "text", text, "draft waiting"},
		{"rejected", "schedule", schedule, "awaiting_client_approval"},
		{"rejected", "publish", publish, "awaiting_client_approval"},
		{"scheduled", "request", requestApproval, "scheduled waiting"},
		{"scheduled, waiting", "approve", approve, "scheduled approved"},
		{"scheduled, waiting", "publish", publish, "awaiting_client_approval"},
		{"scheduled, waiting", "cancel", cancel, "draft waiting"},
		{"scheduled, approved", "text", text, "scheduled waiting"},
		{"published", "request", requestApproval, "validation_failed published"},
	}
	eachDatabase(t, func(t *testing.T, w *env) {
		for _, c := range cases {
			id, token := w.runSteps(t, before[c.state])
			err := c.do(t, w, id, token)
			got := w.Status(t, id)
			if err != nil {
				state, _ := apierr.FromError(err).Context["state"].(string)
				got = strings.TrimSpace(string(apierr.FromError(err).Code) + " " + state)
			}
			if got != c.want {
				t.Errorf("%s, %s: %s, want %s (%v)", c.state, c.name, got, c.want, err)
			}
		}
		for _, kind := range []string{"post.approval_asked", "post.approved", "post.rejected", "post.returned"} {
			if w.CountEvents(t, kind) == 0 {
				t.Errorf("event %s was not recorded", kind)
			}
		}
	})
}

// Members who may not write cannot request a client's approval.
func TestApprovalRequestPermissions(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		id := w.Draft(t, "hello", time.Time{})
		member := must.Get(w.Teams.AddPerson(t.Context(), "Bea", "bea@example.com", ""))(t)
		for _, role := range []access.Role{"", access.Viewer, access.Client} {
			if role != "" {
				must.NoError(t, w.Teams.SetMember(t.Context(), w.Call.TeamID, member.ID, role))
			}
			_, err := w.Approvals.Request(t.Context(), member.ID, id)
			posttest.CheckError(t, err, apierr.NotFound, "")
		}
		must.NoError(t, w.Teams.SetMember(t.Context(), w.Call.TeamID, member.ID, access.Editor))
		must.Get(w.Approvals.Request(t.Context(), member.ID, id))(t)
	})
}

// A link shows only the version for which it was created. After a change, the link shows nothing and accepts no
// decision. A link to the new version works.
func TestLinkShowsOneVersion(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		id := w.Draft(t, "hello", time.Time{})
		old := w.RequestApproval(t, id)
		first := must.Get(w.Proposal(t, old))(t)
		if first.Caption != "hello" || first.TeamName != "Harbour & Sons" || !first.Decided.IsZero() ||
			!w.wasSent(t, id) {
			t.Errorf("%+v", first)
		}
		w.Do(t, "update_post", map[string]any{"id": id, "caption": "better"})
		if w.wasSent(t, id) {
			t.Error("the new version has a link")
		}
		shown, err := w.Proposal(t, old)
		posttest.CheckError(t, err, apierr.ValidationFailed, "changed")
		if shown.Caption == "hello" {
			t.Error("the old link still shows the post")
		}
		for round := range int64(3) {
			posttest.CheckError(t, w.Approvals.Decide(t.Context(), old, approval.Decision{Round: round, Approve: true,
				Name: "Cleo"}), apierr.ValidationFailed, "changed")
		}
		token := w.RequestApproval(t, id)
		second := must.Get(w.Proposal(t, token))(t)
		if second.Caption != "better" || !w.wasSent(t, id) {
			t.Errorf("%+v", second)
		}
		for _, bad := range []approval.Decision{{Name: " \n"}, {Name: strings.Repeat("ä", 201)},
			{Name: "Cleo", Comment: strings.Repeat("ä", 2001)}} {
			bad.Round = second.Round
			posttest.CheckError(t, w.Approvals.Decide(t.Context(), token, bad), apierr.ValidationFailed, "")
		}
		decision := approval.Decision{Round: second.Round, Approve: true, Name: " Cleo\x00\r\n\u202ePark \xff",
			Comment: strings.Repeat("ä\u2066\r\n", 1000)}
		must.NoError(t, w.Approvals.Decide(t.Context(), token, decision))
		posttest.CheckError(t, w.Approvals.Decide(t.Context(), token, decision), apierr.ValidationFailed, "approved")
		decided := must.Get(w.Proposal(t, token))(t)
		if decided.Client != "Cleo Park" || !decided.Decided.Equal(posttest.Noon) || decided.Approval != post.Approved {
			t.Errorf("%+v", decided)
		}
	})
}

// wasSent reports whether a link was created for the post's current version.
func (w *env) wasSent(t *testing.T, id string) bool {
	t.Helper()
	rounds := must.Get(w.Approvals.Rounds(t.Context(), w.Call.TeamID, id))(t)
	return len(rounds) > 0 && rounds[0].HasLink
}

// A link still shows an unchanged post after a rejection and another request.
func TestApprovalRequestedAgain(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		id := w.Draft(t, "hello", time.Time{})
		token := w.RequestApproval(t, id)
		must.NoError(t, w.Decide(t, token, false))
		checkChanged := func(token string, want bool) {
			t.Helper()
			p, err := w.Proposal(t, token)
			if want {
				posttest.CheckError(t, err, apierr.ValidationFailed, "changed")
			} else if err != nil {
				t.Errorf("in round %d: %v", p.Round, err)
			}
		}
		w.Clock.Advance(time.Minute)
		second := w.RequestApproval(t, id)
		checkChanged(token, false)
		checkChanged(second, false)
		w.Do(t, "update_post", map[string]any{"id": id, "caption": "better"})
		w.Clock.Advance(time.Minute)
		third := w.RequestApproval(t, id)
		checkChanged(token, true)
		checkChanged(second, true)
		checkChanged(third, false)
		must.NoError(t, w.Decide(t, third, false))
		w.RequestApproval(t, id)
		checkChanged(third, false)
		checkChanged(second, true)
	})
}

// RevokeLinks revokes all existing links, but no later links. It requires permission to write and an existing link.
func TestRevokedLinks(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		id := w.Draft(t, "hello", time.Time{})
		posttest.CheckError(t, w.Approvals.RevokeLinks(t.Context(), w.Person, id), apierr.ValidationFailed, "not_needed")
		first, again := w.RequestApproval(t, id), w.RequestApproval(t, id)
		member := must.Get(w.Teams.AddPerson(t.Context(), "Bea", "bea@example.com", ""))(t)
		for _, role := range []access.Role{"", access.Viewer, access.Client} {
			if role != "" {
				must.NoError(t, w.Teams.SetMember(t.Context(), w.Call.TeamID, member.ID, role))
			}
			posttest.CheckError(t, w.Approvals.RevokeLinks(t.Context(), member.ID, id), apierr.NotFound, "")
		}
		must.Get(w.Proposal(t, first))(t)
		for range 2 { // The second round revokes links with a generation above 0.
			must.NoError(t, w.Approvals.RevokeLinks(t.Context(), w.Person, id))
			for _, revoked := range []string{first, again} {
				_, err := w.Proposal(t, revoked)
				posttest.CheckError(t, err, apierr.ValidationFailed, "revoked")
				posttest.CheckError(t, w.Approvals.Decide(t.Context(), revoked, approval.Decision{Round: 1, Approve: true,
					Name: "Cleo"}), apierr.ValidationFailed, "revoked")
			}
			again = w.RequestApproval(t, id)
			p := must.Get(w.Proposal(t, again))(t)
			if p.Caption != "hello" {
				t.Errorf("%+v", p)
			}
		}
		must.NoError(t, w.Decide(t, again, true))
		if n := w.CountEvents(t, "post.approval_links_revoked"); n != 2 {
			t.Errorf("%d revocation events, want 2", n)
		}
	})
}
