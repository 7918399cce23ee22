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
	foundDecision      = Decision{Published: true, Permalink: "https://bsky.app/profile/harbour.test/post/1"}
	notFoundDecision   = Decision{}
	unconfirmedOutcome = outcome{"unconfirmed", "not_confirmed", "failed", "failed", "not_confirmed"}
)

// unconfirmedPost returns a post whose answer was lost and cannot be looked up.
func unconfirmedPost(t *testing.T, url string, commit step) (*env, *scriptedNetwork, *testkit.Clock) {
	t.Helper()
	clock := testkit.NewClock(noon)
	n := &scriptedNetwork{commits: []step{commit}}
	s := newEnv(t, testkit.Open(t, url, clock), clock, n)
	s.deliver(t, time.Minute)
	if got := s.outcome(t); got != unconfirmedOutcome {
		t.Fatalf("at first: %+v", got)
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

func isState(err error, state string) bool {
	f := apierr.FromError(err)
	return err != nil && f.Code == apierr.ValidationFailed && f.Context["state"] == state
}

// A decision is final: a published account is never sent or looked up again, an unpublished one can be retried.
// Repeating a decision changes nothing, and a different one is refused.
func TestDecision(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		decision, other Decision
		want            outcome
		later           time.Duration
	}{
		"published":                      {foundDecision, notFoundDecision, publishedOutcome, 0},
		"not published":                  {notFoundDecision, foundDecision, failedOutcome("network_error"), 0},
		"published, decided after a day": {foundDecision, notFoundDecision, publishedOutcome, 48 * time.Hour},
		"not published, decided later": {notFoundDecision, foundDecision, failedOutcome("network_error"),
			48 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testkit.EachDatabase(t, func(t *testing.T, url string) {
				s, n, clock := unconfirmedPost(t, url, lostButSent)
				s.deliver(t, c.later)
				for range 2 {
					must.NoError(t, s.decide(t, c.decision))
				}
				if got := s.outcome(t); got != c.want {
					t.Errorf("got %+v, want %+v", got, c.want)
				}
				if err := s.decide(t, c.other); !isState(err, c.want.state) {
					t.Errorf("contrary decision: %v", err)
				}
				asked := n.asked
				clock.Advance(time.Hour)
				s.job = s.do(t, "retry_post", map[string]any{"post_id": s.post})["job_id"].(string)
				s.deliver(t, time.Hour)
				wantCommits := 2
				if c.decision.Published {
					wantCommits = 1
				}
				if got := s.outcome(t); got != publishedOutcome || n.committed != wantCommits || n.asked != asked {
					t.Errorf("after a retry: %+v, %d commits, %d more requests", got, n.committed, n.asked-asked)
				}
			})
		})
	}
}

// A decision is recorded with the person, and the history includes it after the earlier attempts.
func TestDecisionHistory(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		s, _, _ := unconfirmedPost(t, url, step{class: network.Uncertain, effect: true})
		doubts, err := s.ListUnconfirmed(t.Context(), s.call.TeamID)
		if err != nil || len(doubts) != 1 || doubts[0].PostID != s.post || doubts[0].Excerpt != "hello" ||
			doubts[0].Platform != "bluesky" || doubts[0].Username != "harbour.test" ||
			len(doubts[0].Attempts) != 1+maxLookups {
			t.Fatalf("%+v, %v", doubts, err)
		}
		if first := doubts[0].Attempts[0]; first.Call != "commit" || first.Result != "uncertain" ||
			first.NetworkText != "as the script says" || !first.At.Equal(noon) {
			t.Errorf("the first attempt is %+v", first)
		}
		if others, err := s.ListUnconfirmed(t.Context(), s.call.TeamID+1); err != nil || len(others) != 0 {
			t.Errorf("another team's: %+v, %v", others, err)
		}
		must.NoError(t, s.decide(t, foundDecision))
		account := s.do(t, "get_post", map[string]any{"id": s.post})["accounts"].([]any)[0].(map[string]any)
		if account["permalink"] != foundDecision.Permalink ||
			!strings.HasPrefix(account["published_at"].(map[string]any)["utc"].(string), "2026-11-21T12:00:00") {
			t.Errorf("the account is shown as %v", account)
		}
		var person int64
		var detail string
		if err := s.db.QueryRow(t.Context(), `SELECT person_id, detail FROM events WHERE kind = 'post.account_decided'
			AND subject = ?`, s.post).Scan(&person, &detail); err != nil || person != s.call.PersonID ||
			!strings.Contains(detail, `"decision":"published"`) {
			t.Errorf("the event: person %d, %s, %v", person, detail, err)
		}
		story, err := s.Attempts(t.Context(), s.call.TeamID, s.post)
		if err != nil || len(story) != 2+maxLookups || story[1+maxLookups].Call != "decide" ||
			story[1+maxLookups].Result != "published" || story[1+maxLookups].By == "" || story[0].By != "" {
			t.Errorf("%+v, %v", story, err)
		}
		if same, err := s.AccountAttempts(t.Context(), s.call.TeamID, s.post, s.account(t)); err != nil ||
			len(same) != len(story) {
			t.Errorf("the account's history: %+v, %v", same, err)
		}
		if _, err := s.AccountAttempts(t.Context(), s.call.TeamID, s.post, s.account(t)+1); !apierr.Is(err,
			apierr.NotFound) {
			t.Errorf("another account's history: %v", err)
		}
		if _, err := s.Attempts(t.Context(), s.call.TeamID+1, s.post); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("another team's history: %v", err)
		}
		if left, err := s.ListUnconfirmed(t.Context(), 0); err != nil || len(left) != 0 {
			t.Errorf("remaining: %+v, %v", left, err)
		}
	})
}

func TestInvalidDecisions(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		s, _, _ := unconfirmedPost(t, url, lostButSent)
		for name, err := range map[string]error{
			"another team":      s.Decide(t.Context(), 1, s.call.TeamID+1, s.post, s.account(t), foundDecision),
			"another account":   s.Decide(t.Context(), 1, s.call.TeamID, s.post, s.account(t)+1, foundDecision),
			"another post":      s.Decide(t.Context(), 1, 0, "none", s.account(t), foundDecision),
			"not a post's":      s.Decide(t.Context(), 1, s.call.TeamID, "", 0, notFoundDecision),
			"a link of no post": s.decide(t, Decision{Permalink: "https://example.test/1"}),
			"a script":          s.decide(t, Decision{Published: true, Permalink: "javascript:alert(1)"}),
			"a link elsewhere":  s.decide(t, Decision{Published: true, Permalink: "https://example.test/found"}),
			"another network's": s.decide(t, Decision{Published: true, Permalink: "https://x.com/harbour/status/1"}),
			"a link without end": s.decide(t, Decision{Published: true, Permalink: "https://example.test/" +
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
		s.work(t)
		for _, d := range []Decision{foundDecision, notFoundDecision} {
			if err := s.decide(t, d); !isState(err, name) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// An unconfirmed account causes one notice, and another one only after a retry. A decision is announced only by its own
// notice.
func TestNotifyUnconfirmedOnce(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		s, n, clock := unconfirmedPost(t, url, lostButSent)
		told := func(want map[string]int) {
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
		asked := n.asked
		s.deliver(t, 48*time.Hour)
		if n.asked < asked+3 {
			t.Fatalf("the network got %d more requests", n.asked-asked)
		}
		told(map[string]int{"post.account_unconfirmed": 1})
		must.NoError(t, s.decide(t, notFoundDecision))
		told(map[string]int{"post.account_unconfirmed": 1, "post.account_decided": 1})
		n.commits = []step{lostButSent}
		clock.Advance(time.Hour)
		s.job = s.do(t, "retry_post", map[string]any{"post_id": s.post})["job_id"].(string)
		s.deliver(t, 24*time.Hour)
		told(map[string]int{"post.account_unconfirmed": 2, "post.account_decided": 1})
		must.NoError(t, s.decide(t, foundDecision))
		told(map[string]int{"post.account_unconfirmed": 2, "post.account_decided": 2})
	})
}

// If the operator configures a network's address, permalinks use it.
func TestPostOnConfiguredServer(t *testing.T) {
	t.Parallel()
	s, _, _ := unconfirmedPost(t, testkit.SQLite(t), lostButSent)
	s.opts.Hosts = map[string][]string{"bluesky": {"127.0.0.1:8099"}}
	must.NoError(t, s.decide(t, Decision{Published: true, Permalink: "http://127.0.0.1:8099/bluesky/1"}))
	if got := s.outcome(t); got != publishedOutcome {
		t.Errorf("got %+v", got)
	}
}

// A running lookup ends before a decision, and its result takes precedence.
func TestDecisionDuringLookup(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		says    step
		want    outcome
		refused string
	}{
		"it finds the post": {step{verdict: network.Published}, publishedOutcome, "published"},
		"it finds nothing": {step{verdict: network.Unknown, class: network.Transient},
			failedOutcome("network_error"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testkit.EachDatabase(t, func(t *testing.T, url string) {
				s, n, clock := unconfirmedPost(t, url, lostButSent)
				decided := make(chan error)
				look := c.says
				look.during = func() {
					soon, cancel := context.WithTimeout(t.Context(), decideInterval/4)
					defer cancel()
					if err := s.Decide(soon, 0, 0, s.post, s.account(t), notFoundDecision); !isState(err,
						"unconfirmed") {
						t.Errorf("decision during a lookup: %v", err)
					}
					go func() { decided <- s.decide(t, notFoundDecision) }()
				}
				n.resolves = []step{look}
				clock.Advance(time.Hour)
				s.work(t)
				if err := <-decided; (err == nil) != (c.refused == "") || err != nil && !isState(err, c.refused) {
					t.Errorf("the decision: %v", err)
				}
				if got := s.outcome(t); got != c.want {
					t.Errorf("got %+v, want %+v", got, c.want)
				}
			})
		})
	}
}

// A lookup that outlives its lease changes nothing after a decision.
func TestLookupAfterDecision(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		s, n, clock := unconfirmedPost(t, url, lostButSent)
		n.resolves = []step{{verdict: network.Absent, during: func() {
			clock.Advance(2 * DefaultOptions.Lease)
			if err := s.decide(t, foundDecision); err != nil {
				t.Error(err)
			}
		}}}
		clock.Advance(time.Hour)
		s.work(t)
		if got := s.outcome(t); got != publishedOutcome || n.committed != 1 {
			t.Errorf("got %+v, %d commits", got, n.committed)
		}
	})
}

// With any order of decisions, lookups and retries, an account decided as published is never sent again, and nothing is
// published twice if people decide correctly.
func TestDecisionsNeverSendTwice(t *testing.T) {
	t.Parallel()
	clock := testkit.NewClock(noon)
	d := testkit.Open(t, testkit.SQLite(t), clock)
	rapid.Check(t, func(rt *rapid.T) {
		n := &scriptedNetwork{}
		for range rapid.IntRange(1, 4).Draw(rt, "lost") {
			n.commits = append(n.commits, step{class: network.Uncertain, effect: rapid.Bool().Draw(rt, "effect")})
		}
		s := newEnv(rt, d, clock, n)
		s.deliver(rt, 2*time.Minute)
		for range rapid.IntRange(1, 6).Draw(rt, "steps") {
			switch rapid.IntRange(0, 2).Draw(rt, "step") {
			case 0:
				err := s.decide(t, Decision{Published: n.held > 0})
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
		if got := s.outcome(rt); n.held > 1 || got.state == "published" && n.held == 0 ||
			got.state == "failed" && n.held > 0 {
			rt.Fatalf("%d held, shown as %+v", n.held, got)
		}
	})
}
