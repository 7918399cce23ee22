package approval_test

import (
	"encoding/base64"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/domain/post/approval"
	"pressroom.example/pressroom/internal/domain/post/posttest"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Only one of several concurrent decisions on a version succeeds.
func TestConcurrentDecisions(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		id := w.Draft(t, "hello", time.Time{})
		token := w.RequestApproval(t, id)
		var decided atomic.Int64
		var work sync.WaitGroup
		for range 6 {
			work.Go(func() {
				if w.Approvals.Decide(t.Context(), token, approval.Decision{Round: 1, Approve: true, Name: "Cleo"}) == nil {
					decided.Add(1)
				}
			})
		}
		work.Wait()
		if n := decided.Load(); n != 1 || w.CountEvents(t, "post.approved") != 1 {
			t.Errorf("%d decisions succeeded, want 1", n)
		}
	})
}

// If a post is changed after it was approved and scheduled, it stays scheduled but fails when it is due. It can be
// retried after it is approved again.
func TestUnapprovedPostIsNotPublished(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		var ids, links [3]string
		for i := range ids {
			ids[i] = w.Draft(t, "hello", time.Time{})
			links[i] = w.RequestApproval(t, ids[i])
			must.NoError(t, w.Decide(t, links[i], true))
			w.Do(t, "schedule_post", map[string]any{"post_id": ids[i], "scheduled_at": "2026-11-21T13:00"})
		}
		w.Do(t, "update_post", map[string]any{"id": ids[1], "caption": "changed"})
		w.Do(t, "update_post", map[string]any{"id": ids[2], "caption": "changed, and approved again"})
		if v := w.Do(t, "validate_post", map[string]any{"post_id": ids[1]}); v["waits_for_approval"] != true {
			t.Errorf("%v", v)
		}
		links[2] = w.RequestApproval(t, ids[2])
		must.NoError(t, w.Decide(t, links[2], true))
		w.Clock.Advance(time.Hour)
		w.Tick(t)
		for i, want := range []string{"published approved", "failed waiting missed_waiting_approval",
			"published approved"} {
			if got := w.Status(t, ids[i]); got != want {
				t.Errorf("%d: %s, want %s", i, got, want)
			}
		}
		w.ExpectError(t, apierr.AwaitingApproval, "", "retry_post", map[string]any{"post_id": ids[1]})
		posttest.CheckError(t, w.Approvals.Decide(t.Context(), links[1], approval.Decision{Round: 1, Approve: true, Name: "Cleo"}),
			apierr.ValidationFailed, "changed")
		must.NoError(t, w.Decide(t, w.RequestApproval(t, ids[1]), true)) // late approval
		w.Do(t, "retry_post", map[string]any{"post_id": ids[1]})
		if got := w.Status(t, ids[1]); got != "published approved" {
			t.Error(got)
		}
	})
}

// The approval of a template applies to each occurrence. A changed occurrence needs approval again.
func TestApprovedSeriesTemplate(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		id := w.Draft(t, "hello", posttest.Noon.Add(time.Hour))
		token := w.RequestApproval(t, id)
		_, err := w.Repeat(t.Context(), w.Person, id, "FREQ=DAILY", nil)
		posttest.CheckError(t, err, apierr.AwaitingApproval, "")
		must.NoError(t, w.Decide(t, token, true))
		must.Get(w.Repeat(t.Context(), w.Person, id, "FREQ=DAILY", nil))(t)
		w.Clock.Advance(time.Hour)
		w.Tick(t)
		w.WantSent(t, "hello")
		w.Do(t, "update_post", map[string]any{"id": w.LastOccurrence(t), "caption": "changed"})
		if got := w.Status(t, w.LastOccurrence(t)); got != "scheduled waiting" {
			t.Error(got)
		}
		must.NoError(t, w.Decide(t, w.RequestApproval(t, w.LastOccurrence(t)), true))
		w.Clock.Advance(posttest.Day)
		w.Tick(t)
		w.WantSent(t, "hello", "changed")
	})
}

// A link works for 30 days, and only with a valid signature.
func TestLinkExpiryAndSignature(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		id := w.Draft(t, "hello", time.Time{})
		token := w.RequestApproval(t, id)
		raw, err := base64.RawURLEncoding.DecodeString(token)
		must.NoError(t, err)
		for i := range raw {
			raw[i] ^= 1
			_, err := w.Proposal(t, base64.RawURLEncoding.EncodeToString(raw))
			posttest.CheckError(t, err, apierr.NotFound, "")
			raw[i] ^= 1
		}
		key := must.Get(tokencrypt.NewKey())(t)
		otherSealer := must.Get(tokencrypt.New(key))(t)
		otherEnv := posttest.New(t, w.URL, w.Clock, otherSealer)
		otherEnv.Person = w.Person
		for _, bad := range []string{"", "x", token + "A", token[:len(token)-1], strings.Repeat("A", 100),
			strings.Repeat("A", 100_000), otherEnv.RequestApproval(t, id)} {
			_, err := w.Proposal(t, bad)
			posttest.CheckError(t, err, apierr.NotFound, "")
			posttest.CheckError(t, w.Approvals.Decide(t.Context(), bad, approval.Decision{Round: 1, Name: "Cleo"}),
				apierr.NotFound, "")
		}
		w.Clock.Advance(30*posttest.Day - time.Second)
		must.Get(w.Proposal(t, token))(t)
		w.Clock.Advance(time.Second)
		_, err = w.Proposal(t, token)
		posttest.CheckError(t, err, apierr.ValidationFailed, "ended")
		posttest.CheckError(t, w.Approvals.Decide(t.Context(), token, approval.Decision{Round: 1, Name: "Cleo"}),
			apierr.ValidationFailed, "ended")
		token = w.RequestApproval(t, id)
		must.NoError(t, w.Teams.Close(t.Context(), w.Call.TeamID))
		_, err = w.Proposal(t, token)
		posttest.CheckError(t, err, apierr.NotFound, "")
	})
}

// Random text as a link returns not_found.
func TestRandomLinkNotFound(t *testing.T) {
	t.Parallel()
	key := must.Get(tokencrypt.NewKey())(t)
	sealer := must.Get(tokencrypt.New(key))(t)
	w := posttest.New(t, testkit.SQLite(t), testkit.NewClock(posttest.Noon), sealer)
	rapid.Check(t, func(rt *rapid.T) {
		token := rapid.OneOf(rapid.String(), rapid.StringMatching(`A[QgwA][A-Za-z0-9_-]{60,200}`)).Draw(rt, "token")
		if _, err := w.Proposal(t, token); !apierr.Is(err, apierr.NotFound) {
			rt.Fatalf("%q: %v", token, err)
		}
	})
}
