package post_test

import (
	"encoding/base64"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pressroom/internal/apierr"
	"pressroom/internal/auth/tokencrypt"
	"pressroom/internal/domain/post"
	"pressroom/internal/testkit"
	"pressroom/internal/testkit/must"
)

// Of many who decide at once on one version, one does.
func TestDecidingAtOnce(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		id := w.draft(t, "hello", time.Time{})
		token := w.requestApproval(t, id)
		var decided atomic.Int64
		var work sync.WaitGroup
		for i := range 6 {
			work.Go(func() {
				if w.approvals.Decide(t.Context(), token, post.Decision{Round: 1, Approve: i%2 == 0,
					Name: "Cleo"}) == nil {
					decided.Add(1)
				}
			})
		}
		work.Wait()
		if n := decided.Load(); n != 1 || w.countEvents(t, "post.approved")+w.countEvents(t, "post.rejected") != 1 {
			t.Errorf("%d decided", n)
		}
	})
}

// What was approved, scheduled and then changed stays scheduled, waits, and is not sent at its time; once the
// client has approved it, it can be sent again.
func TestWithheld(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		var ids, links [3]string
		for i := range ids {
			ids[i] = w.draft(t, "hello", time.Time{})
			links[i] = w.requestApproval(t, ids[i])
			must.NoError(t, w.decide(t, links[i], true))
			w.do(t, "schedule_post", map[string]any{"post_id": ids[i], "scheduled_at": "2026-11-21T13:00"})
		}
		w.do(t, "update_post", map[string]any{"id": ids[1], "caption": "changed"})
		w.do(t, "update_post", map[string]any{"id": ids[2], "caption": "changed, and approved again"})
		if v := w.do(t, "validate_post", map[string]any{"post_id": ids[1]}); v["waits_for_approval"] != true {
			t.Errorf("%v", v)
		}
		links[2] = w.requestApproval(t, ids[2])
		must.NoError(t, w.decide(t, links[2], true))
		w.clock.Advance(time.Hour)
		w.tick(t)
		for i, want := range []string{"published approved", "failed waiting missed_waiting_approval",
			"published approved"} {
			if got := w.status(t, ids[i]); got != want {
				t.Errorf("%d: %s, want %s", i, got, want)
			}
		}
		w.expectError(t, apierr.AwaitingApproval, "", "retry_post", map[string]any{"post_id": ids[1]})
		checkError(t, w.approvals.Decide(t.Context(), links[1], post.Decision{Round: 1, Approve: true, Name: "Cleo"}),
			apierr.ValidationFailed, "changed")
		must.NoError(t, w.decide(t, w.requestApproval(t, ids[1]), true)) // late, but then it can be sent
		w.do(t, "retry_post", map[string]any{"post_id": ids[1]})
		if got := w.status(t, ids[1]); got != "published approved" {
			t.Error(got)
		}
	})
}

// What the client approved before a series began is approved each time; a change of one time goes back to the client.
func TestApprovedSeries(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		id := w.draft(t, "hello", noon.Add(time.Hour))
		token := w.requestApproval(t, id)
		_, err := w.Repeat(t.Context(), w.person, id, "FREQ=DAILY")
		checkError(t, err, apierr.AwaitingApproval, "")
		must.NoError(t, w.decide(t, token, true))
		must.Get(w.Repeat(t.Context(), w.person, id, "FREQ=DAILY"))(t)
		w.clock.Advance(time.Hour)
		w.tick(t)
		w.wantSent(t, "hello")
		w.do(t, "update_post", map[string]any{"id": w.occurrence(t), "caption": "changed"})
		if got := w.status(t, w.occurrence(t)); got != "scheduled waiting" {
			t.Error(got)
		}
		must.NoError(t, w.decide(t, w.requestApproval(t, w.occurrence(t)), true))
		w.clock.Advance(day)
		w.tick(t)
		w.wantSent(t, "hello", "changed")
	})
}

// A link opens what it names for 30 days, and nothing that was not signed here opens anything.
func TestApprovalLinks(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		id := w.draft(t, "hello", time.Time{})
		token := w.requestApproval(t, id)
		raw, err := base64.RawURLEncoding.DecodeString(token)
		must.NoError(t, err)
		for i := range raw {
			raw[i] ^= 1
			_, err := w.approvals.Proposal(t.Context(), base64.RawURLEncoding.EncodeToString(raw))
			checkError(t, err, apierr.NotFound, "")
			raw[i] ^= 1
		}
		key := must.Get(tokencrypt.NewKey())(t)
		foreign := must.Get(tokencrypt.New(key))(t)
		theirs := newEnv(t, w.url, w.clock, foreign)
		theirs.person = w.person
		for _, bad := range []string{"", "x", token + "A", token[:len(token)-1], strings.Repeat("A", 100),
			strings.Repeat("A", 100_000), theirs.requestApproval(t, id)} {
			_, err := w.approvals.Proposal(t.Context(), bad)
			checkError(t, err, apierr.NotFound, "")
			checkError(t, w.approvals.Decide(t.Context(), bad, post.Decision{Round: 1, Name: "Cleo"}),
				apierr.NotFound, "")
		}
		w.clock.Advance(30*day - time.Second)
		must.Get(w.approvals.Proposal(t.Context(), token))(t)
		w.clock.Advance(time.Second)
		_, err = w.approvals.Proposal(t.Context(), token)
		checkError(t, err, apierr.ValidationFailed, "ended")
		checkError(t, w.approvals.Decide(t.Context(), token, post.Decision{Round: 1, Name: "Cleo"}),
			apierr.ValidationFailed, "ended")
		token = w.requestApproval(t, id)
		must.NoError(t, w.teams.Close(t.Context(), w.call.TeamID))
		_, err = w.approvals.Proposal(t.Context(), token)
		checkError(t, err, apierr.NotFound, "")
	})
}

// Any other text as a link is refused without reading the database, or is not found.
func TestAnyLink(t *testing.T) {
	t.Parallel()
	key := must.Get(tokencrypt.NewKey())(t)
	sealer := must.Get(tokencrypt.New(key))(t)
	w := newEnv(t, testkit.SQLite(t), testkit.NewClock(noon), sealer)
	rapid.Check(t, func(rt *rapid.T) {
		token := rapid.OneOf(rapid.String(), rapid.StringMatching(`A[QgwA][A-Za-z0-9_-]{60,200}`)).Draw(rt, "token")
		if _, err := w.approvals.Proposal(t.Context(), token); !apierr.Is(err, apierr.NotFound) {
			rt.Fatalf("%q: %v", token, err)
		}
	})
}
