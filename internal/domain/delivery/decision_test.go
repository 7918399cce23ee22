package delivery

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

var (
	publishedDecision   = Decision{Published: true, Permalink: "https://bsky.app/profile/harbour.test/post/1"}
	unpublishedDecision = Decision{}
	unconfirmedOutcome  = outcome{"unconfirmed", "not_confirmed", "failed", "failed", "not_confirmed"}
)

// unconfirmedPost returns a post whose outcome is unknown: the commit got no answer, and lookups fail.
func unconfirmedPost(t *testing.T, url string, commit step) (*env, *scriptedNetwork, *testkit.Clock) {
	t.Helper()
	clock := testkit.NewClock(noon)
	n := &scriptedNetwork{commits: []step{commit}}
	s := newEnv(t, testkit.Open(t, url, clock), clock, n)
	s.deliver(t, time.Minute)
	if got := s.outcome(t); got != unconfirmedOutcome {
		t.Fatalf("before the decision: %+v", got)
	}
	return s, n, clock
}

func (s *env) account(t failer) int64 {
	t.Helper()
	return int64(s.do(t, "get_post", map[string]any{"id": s.post})["accounts"].([]any)[0].(map[string]any)["id"].(float64))
}

func (s *env) decide(t *testing.T, d Decision) error {
	t.Helper()
	return s.Decide(t.Context(), s.call.PersonID, s.call.TeamID, s.post, s.account(t), d)
}

func isWrongState(err error, state string) bool {
	f := apierr.FromError(err)
	return err != nil && f.Code == apierr.ValidationFailed && f.Context["state"] == state
}

// A decision is final. A published account is never sent or looked up again, and an unpublished account can be retried.
// Repeating a decision changes nothing. A different decision is rejected.
func TestDecision(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		decision, contrary Decision
		want               outcome
		decidedAfter       time.Duration
	}{
		"published":                      {publishedDecision, unpublishedDecision, publishedOutcome, 0},
		"not published":                  {unpublishedDecision, publishedDecision, failedOutcome("network_error"), 0},
		"published, decided after a day": {publishedDecision, unpublishedDecision, publishedOutcome, 48 * time.Hour},
		"not published, decided later": {unpublishedDecision, publishedDecision, failedOutcome("network_error"),
			48 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testkit.EachDatabase(t, func(t *testing.T, url string) {
				s, n, clock := unconfirmedPost(t, url, lostButSent)
				s.deliver(t, c.decidedAfter)
				for range 2 {
					must.NoError(t, s.decide(t, c.decision))
				}
				if got := s.outcome(t); got != c.want {
					t.Errorf("got %+v, want %+v", got, c.want)
				}
				if err := s.decide(t, c.contrary); !isWrongState(err, c.want.state) {
					t.Errorf("opposite decision: %v", err)
				}
				callsBefore := n.resolveCalls
				clock.Advance(time.Hour)
				s.job = s.do(t, "retry_post", map[string]any{"post_id": s.post})["job_id"].(string)
				s.deliver(t, time.Hour)
				wantCommits := 2
				if c.decision.Published {
					wantCommits = 1
				}
				if got := s.outcome(t); got != publishedOutcome || n.commitCalls != wantCommits || n.resolveCalls != callsBefore {
					t.Errorf("after a retry: %+v, %d commits, %d more lookups", got, n.commitCalls, n.resolveCalls-callsBefore)
				}
			})
		})
	}
}

// The audit log records who decided. The history lists the decision after the earlier attempts.
func TestDecisionHistory(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		s, _, _ := unconfirmedPost(t, url, step{class: network.OutcomeUnknown, effect: true})
		unconfirmed, err := s.ListUnconfirmed(t.Context(), s.call.TeamID)
		if err != nil || len(unconfirmed) != 1 || unconfirmed[0].PostID != s.post || unconfirmed[0].Excerpt != "hello" ||
			unconfirmed[0].Platform != "bluesky" || unconfirmed[0].Username != "harbour.test" ||
			len(unconfirmed[0].Attempts) != 1+maxLookups {
			t.Fatalf("%+v, %v", unconfirmed, err)
		}
		if first := unconfirmed[0].Attempts[0]; first.Call != "commit" || first.Result != "uncertain" ||
			first.NetworkText != "scripted error" || !first.At.Equal(noon) {
			t.Errorf("first attempt: %+v", first)
		}
		if others, err := s.ListUnconfirmed(t.Context(), s.call.TeamID+1); err != nil || len(others) != 0 {
			t.Errorf("another team's list: %+v, %v", others, err)
		}
		must.NoError(t, s.decide(t, publishedDecision))
		account := s.do(t, "get_post", map[string]any{"id": s.post})["accounts"].([]any)[0].(map[string]any)
		if account["permalink"] != publishedDecision.Permalink ||
			!strings.HasPrefix(account["published_at"].(map[string]any)["utc"].(string), "2026-11-21T12:00:00") {
			t.Errorf("the account after the decision: %v", account)
		}
		var person int64
		var detail string
		if err := s.db.QueryRow(t.Context(), `SELECT person_id, detail FROM events WHERE kind = 'post.account_decided'
			AND subject = ?`, s.post).Scan(&person, &detail); err != nil || person != s.call.PersonID ||
			!strings.Contains(detail, `"decision":"published"`) {
			t.Errorf("audit log: person %d, %s, %v", person, detail, err)
		}
		history, err := s.Attempts(t.Context(), s.call.TeamID, s.post)
		if err != nil || len(history) != 2+maxLookups || history[1+maxLookups].Call != "decide" ||
			history[1+maxLookups].Result != "published" || history[1+maxLookups].By == "" || history[0].By != "" {
			t.Errorf("%+v, %v", history, err)
		}
		if same, err := s.AccountAttempts(t.Context(), s.call.TeamID, s.post, s.account(t)); err != nil ||
			len(same) != len(history) {
			t.Errorf("the account's history: %+v, %v", same, err)
		}
		if _, err := s.AccountAttempts(t.Context(), s.call.TeamID, s.post, s.account(t)+1); !apierr.Is(err,
			apierr.NotFound) {
			t.Errorf("another account's history: %v", err)
		}
		if _, err := s.Attempts(t.Context(), s.call.TeamID+1, s.post); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("another team's history: %v", err)
		}
		if remaining, err := s.ListUnconfirmed(t.Context(), 0); err != nil || len(remaining) != 0 {
			t.Errorf("unconfirmed after the decision: %+v, %v", remaining, err)
		}
	})
}

func TestInvalidDecisions(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		s, _, _ := unconfirmedPost(t, url, lostButSent)
		for name, err := range map[string]error{
			"another team":                       s.Decide(t.Context(), 1, s.call.TeamID+1, s.post, s.account(t), publishedDecision),
			"another account":                    s.Decide(t.Context(), 1, s.call.TeamID, s.post, s.account(t)+1, publishedDecision),
			"unknown post":                       s.Decide(t.Context(), 1, 0, "unknown", s.account(t), publishedDecision),
			"no post or account":                 s.Decide(t.Context(), 1, s.call.TeamID, "", 0, unpublishedDecision),
			"a permalink of an unpublished post": s.decide(t, Decision{Permalink: "https://example.test/1"}),
			"a JavaScript URL":                   s.decide(t, Decision{Published: true, Permalink: "javascript:alert(1)"}),
			"a permalink on another site":        s.decide(t, Decision{Published: true, Permalink: "https://example.test/found"}),
			"a permalink of another network":     s.decide(t, Decision{Published: true, Permalink: "https://x.com/harbour/status/1"}),
			"a permalink that is too long": s.decide(t, Decision{Published: true, Permalink: "https://example.test/" +
				strings.Repeat("a", maxPermalink)}),
		} {
			if code := apierr.FromError(err).Code; err == nil || code != apierr.NotFound && code != apierr.ValidationFailed {
				t.Errorf("%s: %v", name, err)
			}
		}
		if got := s.outcome(t); got != unconfirmedOutcome {
			t.Errorf("got %+v", got)
		}
	})
	for name, script := range map[string]scriptedNetwork{"published": {},
		"failed":  {commits: []step{{class: network.Rejected}}},
		"sending": {commits: []step{{class: network.Transient}}}} {
		clock := testkit.NewClock(noon)
		s := newEnv(t, testkit.Open(t, testkit.SQLite(t), clock), clock, &script)
		s.deliverDue(t)
		for _, d := range []Decision{publishedDecision, unpublishedDecision} {
			if err := s.decide(t, d); !isWrongState(err, name) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// An unconfirmed account causes one event per send. A decision causes an event of another kind.
func TestNotifyUnconfirmedOnce(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		s, n, clock := unconfirmedPost(t, url, lostButSent)
		checkEvents := func(want map[string]int) {
			t.Helper()
			got := map[string]int{}
			kinds := must.Get(db.All(t.Context(), s.db, scanText, `SELECT kind FROM events WHERE subject = ?
				AND kind LIKE 'post.account_%'`, s.post))(t)
			for _, kind := range kinds {
				got[kind]++
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		}
		asked := n.resolveCalls
		s.deliver(t, 48*time.Hour)
		if n.resolveCalls < asked+3 {
			t.Fatalf("%d more lookups", n.resolveCalls-asked)
		}
		checkEvents(map[string]int{"post.account_unconfirmed": 1})
		must.NoError(t, s.decide(t, unpublishedDecision))
		checkEvents(map[string]int{"post.account_unconfirmed": 1, "post.account_decided": 1})
		n.commits = []step{lostButSent}
		clock.Advance(time.Hour)
		s.job = s.do(t, "retry_post", map[string]any{"post_id": s.post})["job_id"].(string)
		s.deliver(t, 24*time.Hour)
		checkEvents(map[string]int{"post.account_unconfirmed": 2, "post.account_decided": 1})
		must.NoError(t, s.decide(t, publishedDecision))
		checkEvents(map[string]int{"post.account_unconfirmed": 2, "post.account_decided": 2})
	})
}

// A permalink may use a host that the operator configured for the network.
func TestPermalinkOnConfiguredHost(t *testing.T) {
	t.Parallel()
	s, _, _ := unconfirmedPost(t, testkit.SQLite(t), lostButSent)
	s.opts.Hosts = map[string][]string{"bluesky": {"127.0.0.1:8099"}}
	must.NoError(t, s.decide(t, Decision{Published: true, Permalink: "http://127.0.0.1:8099/bluesky/1"}))
	if got := s.outcome(t); got != publishedOutcome {
		t.Errorf("got %+v", got)
	}
}

// A decision waits for a running lookup. If the lookup finds the post, the decision is rejected.
func TestDecisionDuringLookup(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lookup    step
		want      outcome
		wantState string
	}{
		"the lookup finds the post": {step{verdict: network.Published}, publishedOutcome, "published"},
		"the lookup fails": {step{verdict: network.Unknown, class: network.Transient},
			failedOutcome("network_error"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testkit.EachDatabase(t, func(t *testing.T, url string) {
				s, n, clock := unconfirmedPost(t, url, lostButSent)
				decided := make(chan error)
				lookup := c.lookup
				lookup.during = func() {
					shortCtx, cancel := context.WithTimeout(t.Context(), decideInterval/4)
					defer cancel()
					if err := s.Decide(shortCtx, 0, 0, s.post, s.account(t), unpublishedDecision); !isWrongState(err,
						"unconfirmed") {
						t.Errorf("decision during a lookup: %v", err)
					}
					go func() { decided <- s.decide(t, unpublishedDecision) }()
				}
				n.resolves = []step{lookup}
				clock.Advance(time.Hour)
				s.deliverDue(t)
				if err := <-decided; (err == nil) != (c.wantState == "") || err != nil && !isWrongState(err, c.wantState) {
					t.Errorf("decision after the lookup: %v", err)
				}
				if got := s.outcome(t); got != c.want {
					t.Errorf("got %+v, want %+v", got, c.want)
				}
			})
		})
	}
}

// A lookup whose lease expired cannot change a decision.
func TestLookupAfterDecision(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		s, n, clock := unconfirmedPost(t, url, lostButSent)
		n.resolves = []step{{verdict: network.Absent, during: func() {
			clock.Advance(2 * DefaultOptions.Lease)
			if err := s.decide(t, publishedDecision); err != nil {
				t.Error(err)
			}
		}}}
		clock.Advance(time.Hour)
		s.deliverDue(t)
		if got := s.outcome(t); got != publishedOutcome || n.commitCalls != 1 {
			t.Errorf("got %+v, %d commits", got, n.commitCalls)
		}
	})
}

// If people decide correctly, no order of decisions, lookups and retries publishes a post twice or shows a wrong state.
func TestDecisionsNeverSendTwice(t *testing.T) {
	t.Parallel()
	clock := testkit.NewClock(noon)
	d := testkit.Open(t, testkit.SQLite(t), clock)
	rapid.Check(t, func(rt *rapid.T) {
		n := &scriptedNetwork{}
		for range rapid.IntRange(1, 4).Draw(rt, "lost") {
			n.commits = append(n.commits, step{class: network.OutcomeUnknown, effect: rapid.Bool().Draw(rt, "effect")})
		}
		s := newEnv(rt, d, clock, n)
		s.deliver(rt, 2*time.Minute)
		for range rapid.IntRange(1, 6).Draw(rt, "steps") {
			switch rapid.IntRange(0, 2).Draw(rt, "step") {
			case 0:
				err := s.decide(t, Decision{Published: n.posts > 0})
				if err != nil && apierr.FromError(err).Code != apierr.ValidationFailed {
					rt.Fatal(err)
				}
			case 1:
				clock.Advance(2 * time.Minute)
				s.do(rt, "retry_post", map[string]any{"post_id": s.post})
			case 2:
				n.truthful = rapid.Bool().Draw(rt, "truthful")
			}
			s.deliver(rt, time.Hour)
		}
		if got := s.outcome(rt); n.posts > 1 || got.state == "published" && n.posts == 0 ||
			got.state == "failed" && n.posts > 0 {
			rt.Fatalf("%d published, shown as %+v", n.posts, got)
		}
	})
}
