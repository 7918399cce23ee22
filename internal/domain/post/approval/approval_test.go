package approval_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
	"pressroom/internal/domain/post"
	"pressroom/internal/domain/post/approval"
	"pressroom/internal/domain/post/posttest"
	"pressroom/internal/testkit/must"
)

// step is something that is done to a post, by the client with the token of a link.
type step func(t *testing.T, w *env, id, token string) error

// calls makes a call of an operation of the API about the post.
func calls(tool, name string, args map[string]any) step {
	return func(t *testing.T, w *env, id, _ string) error {
		all := map[string]any{name: id}
		maps.Copy(all, args)
		_, err := w.Try(t, tool, all)
		return err
	}
}

func ask(t *testing.T, w *env, id, _ string) error {
	_, err := w.Approvals.Request(t.Context(), w.Person, id)
	return err
}

func decides(approve bool) step {
	return func(t *testing.T, w *env, _, token string) error { return w.Decide(t, token, approve) }
}

// runSteps creates a draft, runs steps, and returns the post and the client's link if approval was requested.
func (w *env) runSteps(t *testing.T, steps []step) (string, string) {
	t.Helper()
	id, token := w.Draft(t, "hello", time.Time{}), ""
	for _, s := range steps {
		must.NoError(t, s(t, w, id, token))
		if token == "" && strings.HasSuffix(w.Status(t, id), "waiting") {
			token = w.RequestApproval(t, id) // another link to the same round
		}
	}
	return id, token
}

// The effect of each step in each approval state: the next state, or the reason for a refusal.
func TestApprovalTransitions(t *testing.T) {
	approve, reject := decides(true), decides(false)
	text, same := calls("update_post", "id", map[string]any{"caption": "other"}),
		calls("update_post", "id", map[string]any{"caption": "hello"})
	schedule := calls("schedule_post", "post_id", map[string]any{"scheduled_at": "2026-12-01T10:00"})
	publish, cancel := calls("publish_post", "post_id", nil), calls("cancel_post", "post_id", nil)
	before := map[string][]step{
		"not asked":           nil,
		"waiting":             {ask},
		"approved":            {ask, approve},
		"rejected":            {ask, reject},
		"scheduled":           {schedule},
		"scheduled, waiting":  {schedule, ask},
		"scheduled, approved": {ask, approve, schedule},
		"published":           {publish},
	}
	cases := []struct {
		state, name string
		do          step
		want        string // the state after it, or the code and state of a refusal
	}{
		{"not asked", "ask", ask, "draft waiting"},
		{"not asked", "text", text, "draft"},
		{"waiting", "ask", ask, "draft waiting"},
		{"waiting", "approve", approve, "draft approved"},
		{"waiting", "reject", reject, "draft rejected"},
		{"waiting", "text", text, "draft waiting"},
		{"waiting", "schedule", schedule, "awaiting_client_approval"},
		{"waiting", "publish", publish, "awaiting_client_approval"},
		{"approved", "ask", ask, "validation_failed approved"},
		{"approved", "approve", approve, "validation_failed approved"},
		{"approved", "reject", reject, "validation_failed approved"},
		{"approved", "text", text, "draft waiting"},
		{"approved", "same", same, "draft approved"},
		{"approved", "schedule", schedule, "scheduled approved"},
		{"approved", "publish", publish, "published approved"},
		{"rejected", "ask", ask, "draft waiting"},
		{"rejected", "approve", approve, "validation_failed rejected"},
		{"rejected", "text", text, "draft waiting"},
		{"rejected", "schedule", schedule, "awaiting_client_approval"},
		{"rejected", "publish", publish, "awaiting_client_approval"},
		{"scheduled", "ask", ask, "scheduled waiting"},
		{"scheduled, waiting", "approve", approve, "scheduled approved"},
		{"scheduled, waiting", "publish", publish, "awaiting_client_approval"},
		{"scheduled, waiting", "cancel", cancel, "draft waiting"},
		{"scheduled, approved", "text", text, "scheduled waiting"},
		{"published", "ask", ask, "validation_failed published"},
	}
	eachDatabase(t, func(t *testing.T, w *env) {
		for _, c := range cases {
			id, token := w.runSteps(t, before[c.state])
			err := c.do(t, w, id, token)
			got := w.Status(t, id)
			if err != nil {
				state, _ := apierr.Of(err).Context["state"].(string)
				got = strings.TrimSpace(string(apierr.Of(err).Code) + " " + state)
			}
			if got != c.want {
				t.Errorf("%s, %s: %s, want %s (%v)", c.state, c.name, got, c.want, err)
			}
		}
		for _, kind := range []string{"post.approval_asked", "post.approved", "post.rejected", "post.returned"} {
			if w.CountEvents(t, kind) == 0 {
				t.Errorf("%s was not told", kind)
			}
		}
	})
}

// Members who may not write cannot request a client's approval.
func TestApprovalRequestPermissions(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		id := w.Draft(t, "hello", time.Time{})
		bea := must.Get(w.Teams.AddPerson(t.Context(), "Bea", "bea@example.com", ""))(t)
		for _, role := range []access.Role{"", access.Viewer, access.Client} {
			if role != "" {
				must.NoError(t, w.Teams.SetMember(t.Context(), w.Call.TeamID, bea.ID, role))
			}
			_, err := w.Approvals.Request(t.Context(), bea.ID, id)
			posttest.CheckError(t, err, apierr.NotFound, "")
		}
		must.NoError(t, w.Teams.SetMember(t.Context(), w.Call.TeamID, bea.ID, access.Editor))
		must.Get(w.Approvals.Request(t.Context(), bea.ID, id))(t)
	})
}

// A link shows the version for which it was created. After a change it shows nothing and accepts no decision; a link to
// the new version does.
func TestApprovalRounds(t *testing.T) {
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
			t.Error("the new version is told to have been sent")
		}
		shown, err := w.Proposal(t, old)
		posttest.CheckError(t, err, apierr.ValidationFailed, "changed")
		if shown.Caption == "hello" {
			t.Error("what was shown before is still told")
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
		said := approval.Decision{Round: second.Round, Approve: true, Name: " Cleo\x00\r\n\u202ePark \xff",
			Comment: strings.Repeat("ä\u2066\r\n", 1000)}
		must.NoError(t, w.Approvals.Decide(t.Context(), token, said))
		posttest.CheckError(t, w.Approvals.Decide(t.Context(), token, said), apierr.ValidationFailed, "approved")
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
	return len(rounds) > 0 && rounds[0].Sent
}

// After a rejection and another request, a link to an unchanged post still shows it.
func TestApprovalRequestedAgain(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		id := w.Draft(t, "hello", time.Time{})
		token := w.RequestApproval(t, id)
		must.NoError(t, w.Decide(t, token, false))
		changed := func(token string, want bool) {
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
		changed(token, false)
		changed(second, false)
		w.Do(t, "update_post", map[string]any{"id": id, "caption": "better"})
		w.Clock.Advance(time.Minute)
		third := w.RequestApproval(t, id)
		changed(token, true)
		changed(second, true)
		changed(third, false)
		must.NoError(t, w.Decide(t, third, false))
		w.RequestApproval(t, id)
		changed(third, false)
		changed(second, true)
	})
}

// Revoking ends all existing links, even those of earlier releases, but none created later. It requires permission to
// write and an existing link.
func TestRevokedLinks(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		id := w.Draft(t, "hello", time.Time{})
		posttest.CheckError(t, w.Approvals.RevokeLinks(t.Context(), w.Person, id), apierr.ValidationFailed, "not_needed")
		first, again := w.RequestApproval(t, id), w.RequestApproval(t, id)
		bea := must.Get(w.Teams.AddPerson(t.Context(), "Bea", "bea@example.com", ""))(t)
		for _, role := range []access.Role{"", access.Viewer, access.Client} {
			if role != "" {
				must.NoError(t, w.Teams.SetMember(t.Context(), w.Call.TeamID, bea.ID, role))
			}
			posttest.CheckError(t, w.Approvals.RevokeLinks(t.Context(), bea.ID, id), apierr.NotFound, "")
		}
		must.Get(w.Proposal(t, first))(t)
		for range 2 { // later generations are part of the link
			must.NoError(t, w.Approvals.RevokeLinks(t.Context(), w.Person, id))
			for _, dead := range []string{first, again} {
				_, err := w.Proposal(t, dead)
				posttest.CheckError(t, err, apierr.ValidationFailed, "revoked")
				posttest.CheckError(t, w.Approvals.Decide(t.Context(), dead, approval.Decision{Round: 1, Approve: true,
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
			t.Errorf("%d revocations are recorded", n)
		}
	})
}
