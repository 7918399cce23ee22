package delivery

import (
	"cmp"
	"context"
	"database/sql"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

func scanText(rows *sql.Rows, text *string) error { return rows.Scan(text) }

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

var (
	publishedOutcome = outcome{"published", "", "published", "succeeded", ""}
	refresh          = step{class: network.RefreshRequired}
	lostNotSent      = step{class: network.OutcomeUnknown}               // no answer, not published
	lostButSent      = step{class: network.OutcomeUnknown, effect: true} // no answer, but published
	unknownAnswer    = step{verdict: network.Unknown}
	// startsProcessing publishes the post, but the network is still processing it.
	startsProcessing = step{class: network.Processing, effect: true, after: 10 * time.Second}
	stillProcessing  = step{verdict: network.Unknown, class: network.Processing, after: 10 * time.Second}
)

func failedOutcome(code string) outcome { return outcome{"failed", code, "failed", "failed", code} }

func repeatStep(n int, s step) []step {
	out := make([]step, n)
	for i := range out {
		out[i] = s
	}
	return out
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	transient := step{class: network.Transient}
	for _, c := range []struct {
		name     string
		net      scriptedNetwork
		want     outcome
		commits  int
		posts    int // on the network
		inactive bool
		atLeast  time.Duration // minimum duration
		within   time.Duration // maximum duration; 0 means 10 minutes
	}{
		{name: "published", want: publishedOutcome, commits: 1, posts: 1},
		{name: "content rejected", net: scriptedNetwork{commits: []step{{class: network.Rejected}}},
			want: failedOutcome("rejected_content"), commits: 1},
		{name: "content rejected by prepare", net: scriptedNetwork{prepares: []step{{class: network.Rejected}}},
			want: failedOutcome("rejected_content")},
		{name: "media rejected by prepare",
			net:  scriptedNetwork{prepares: []step{{class: network.RejectedMedia}}},
			want: failedOutcome("rejected_media")},
		{name: "duplicate", net: scriptedNetwork{commits: []step{{class: network.Duplicate}}},
			want: failedOutcome("duplicate_content"), commits: 1},
		{name: "transient commit errors", net: scriptedNetwork{commits: repeatStep(2, transient)}, want: publishedOutcome,
			commits: 3, posts: 1, atLeast: time.Second},
		{name: "transient prepare errors", net: scriptedNetwork{prepares: repeatStep(2, transient)}, want: publishedOutcome,
			commits: 1, posts: 1},
		{name: "long outage", net: scriptedNetwork{commits: repeatStep(99, transient)},
			want: failedOutcome("network_error"), commits: maxTries},
		{name: "server not allowed",
			net:  scriptedNetwork{prepares: repeatStep(99, step{class: network.HostBlocked})},
			want: failedOutcome("server_not_allowed")},
		{name: "server not allowed at first",
			net: scriptedNetwork{commits: repeatStep(2, step{class: network.HostBlocked})}, want: publishedOutcome, commits: 3,
			posts: 1},
		{name: "rate limited", net: scriptedNetwork{commits: []step{{class: network.RateLimited, after: 20 * time.Second}}},
			want: publishedOutcome, commits: 2, posts: 1, atLeast: 20 * time.Second},
		{name: "rate limited for hours", net: scriptedNetwork{commits: []step{{class: network.RateLimited,
			after: 3 * time.Hour}}}, want: failedOutcome("rate_limited"), commits: 1},
		{name: "rate limited on every attempt", net: scriptedNetwork{commits: repeatStep(99, step{class: network.RateLimited})},
			want: failedOutcome("rate_limited"), commits: maxTries},
		{name: "quota used up", net: scriptedNetwork{commits: []step{{class: network.QuotaExceeded, after: 12 * time.Hour}}},
			want: failedOutcome("quota_used_up"), commits: 1},
		{name: "token expired", net: scriptedNetwork{commits: []step{refresh}}, want: publishedOutcome, commits: 2,
			posts: 1},
		{name: "token expired before prepare", net: scriptedNetwork{prepares: []step{refresh}},
			want: publishedOutcome, commits: 1, posts: 1},
		{name: "token expired on every attempt", net: scriptedNetwork{commits: repeatStep(99, refresh)},
			want: failedOutcome("account_needs_reauth"), commits: 2 * maxRejectedGrants, inactive: true},
		{name: "token revoked", net: scriptedNetwork{commits: []step{{class: network.ReconnectRequired}}},
			want: failedOutcome("account_needs_reauth"), commits: 1, inactive: true},
		{name: "token expired, refresh rejected", net: scriptedNetwork{commits: []step{refresh},
			refreshes: []step{{class: network.ReconnectRequired}}}, want: failedOutcome("account_needs_reauth"),
			commits: 1, inactive: true},
		{name: "token expired, refresh fails once", net: scriptedNetwork{commits: []step{refresh, refresh},
			refreshes: []step{transient}}, want: publishedOutcome, commits: 3, posts: 1},
		{name: "no answer, published", net: scriptedNetwork{commits: []step{lostButSent}, truthful: true},
			want: publishedOutcome, commits: 1, posts: 1},
		{name: "no answer, not published", net: scriptedNetwork{commits: []step{lostNotSent}, truthful: true},
			want: publishedOutcome, commits: 2, posts: 1},
		{name: "no answer, third lookup succeeds", net: scriptedNetwork{commits: []step{lostButSent},
			resolves: repeatStep(2, unknownAnswer), truthful: true}, want: publishedOutcome, commits: 1, posts: 1},
		{name: "no answer, token expired before the lookup", net: scriptedNetwork{commits: []step{lostButSent},
			resolves: []step{{verdict: network.Unknown, class: network.RefreshRequired}}, truthful: true},
			want: publishedOutcome, commits: 1, posts: 1},
		{name: "no answer on every attempt, not published", net: scriptedNetwork{commits: repeatStep(99, lostNotSent),
			truthful: true}, want: failedOutcome("network_error"), commits: maxTries},
		{name: "prepare waits twice", net: scriptedNetwork{prepares: repeatStep(2, step{wait: 10 * time.Second})},
			want: publishedOutcome, commits: 1, posts: 1, atLeast: 20 * time.Second},
		{name: "prepare waits forever", net: scriptedNetwork{prepares: repeatStep(999, step{wait: time.Minute})},
			want: failedOutcome("network_error"), within: 2 * time.Hour},
		{name: "processing, then published", net: scriptedNetwork{commits: []step{startsProcessing},
			resolves: repeatStep(2, stillProcessing), truthful: true}, want: publishedOutcome, commits: 1, posts: 1,
			atLeast: 30 * time.Second},
		{name: "processing, then rejected", net: scriptedNetwork{commits: []step{{class: network.Processing}},
			resolves: []step{stillProcessing, {verdict: network.Absent, class: network.RejectedMedia}}},
			want: failedOutcome("rejected_media"), commits: 1},
		{name: "processing fails, retry succeeds", net: scriptedNetwork{commits: []step{{class: network.Processing}},
			resolves: []step{{verdict: network.Absent, class: network.Transient}}}, want: publishedOutcome,
			commits: 2, posts: 1},
		{name: "processing forever", net: scriptedNetwork{commits: []step{startsProcessing},
			resolves: repeatStep(9999, stillProcessing)}, want: outcome{"unconfirmed", "not_confirmed", "failed", "failed",
			"not_confirmed"}, commits: 1, posts: 1, within: 3 * time.Hour},
		{name: "no answer, every lookup fails", net: scriptedNetwork{commits: []step{lostButSent}},
			want: outcome{"unconfirmed", "not_confirmed", "failed", "failed", "not_confirmed"}, commits: 1, posts: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			testkit.EachDatabase(t, func(t *testing.T, url string) {
				clock := testkit.NewClock(noon)
				n := c.net
				s := newEnv(t, testkit.Open(t, url, clock), clock, &n)
				s.deliver(t, cmp.Or(c.within, 10*time.Minute))
				if got := s.outcome(t); got != c.want {
					t.Errorf("got %+v, want %+v", got, c.want)
				}
				if n.commitCalls != c.commits || n.posts != c.posts {
					t.Errorf("%d commits, %d posts, want %d and %d", n.commitCalls, n.posts, c.commits, c.posts)
				}
				if s.active(t) == c.inactive {
					t.Errorf("the account is active: %t", !c.inactive)
				}
				if took := clock.Now().Sub(noon); took < c.atLeast {
					t.Errorf("took %v, want at least %v", took, c.atLeast)
				}
			})
		})
	}
}

// If a person reconnects the account while a commit with the old grant fails, the account stays connected and the post
// is published with the new grant.
func TestReconnectDuringDelivery(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(noon)
		n := &scriptedNetwork{}
		s := newEnv(t, testkit.Open(t, url, clock), clock, n)
		n.commits = []step{{class: network.ReconnectRequired, during: func() {
			if _, err := s.accounts.Connect(context.Background(), s.call.TeamID, "bluesky",
				network.Credentials{}); err != nil {
				t.Error(err)
			}
		}}}
		s.deliver(t, 10*time.Minute)
		if s.outcome(t) != publishedOutcome || !s.active(t) || n.commitCalls != 2 {
			t.Errorf("%+v, connected: %t, %d commits", s.outcome(t), s.active(t), n.commitCalls)
		}
	})
}

// If the account of an unconfirmed commit is disconnected, lookups are retried for a day with growing pauses.
func TestUnconfirmedWithLostConnection(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(noon)
		n := &scriptedNetwork{resolves: repeatStep(99, unknownAnswer)}
		s := newEnv(t, testkit.Open(t, url, clock), clock, n)
		lost := lostButSent
		lost.during = func() {
			ids, err := db.All(context.Background(), s.db, func(rows *sql.Rows, id *int64) error {
				return rows.Scan(id)
			}, `SELECT id FROM social_accounts`)
			if err != nil || s.accounts.MarkLost(context.Background(), ids[0], account.AnyGrant) != nil {
				t.Error("marking the grant as lost:", err)
			}
		}
		n.commits = []step{lost}
		s.deliver(t, 72*time.Hour)
		var times int64
		var phase string
		must.NoError(t, s.db.QueryRow(t.Context(), `SELECT epoch, phase FROM deliveries`).Scan(&times, &phase))
		if phase != "ended" || times > 30 || s.outcome(t).state != "unconfirmed" {
			t.Errorf("after three days: phase %s, %+v, claimed %d times", phase, s.outcome(t), times)
		}
	})
}

// An unconfirmed account is looked up for a day. A later result corrects the post and the job.
func TestLaterLookupCorrectsResult(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		commit step
		want   outcome
	}{"published": {lostButSent, publishedOutcome}, "not published": {lostNotSent, failedOutcome("network_error")}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testkit.EachDatabase(t, func(t *testing.T, url string) {
				clock := testkit.NewClock(noon)
				n := &scriptedNetwork{commits: []step{c.commit}}
				s := newEnv(t, testkit.Open(t, url, clock), clock, n)
				s.deliver(t, 2*time.Minute)
				if got := s.outcome(t); got.state != "unconfirmed" || got.jobState != "failed" {
					t.Fatalf("before the later lookup: %+v", got)
				}
				n.truthful = true
				s.deliver(t, 6*time.Hour)
				if got := s.outcome(t); got != c.want {
					t.Errorf("after the later lookup: %+v, want %+v", got, c.want)
				}
				if n.commitCalls != 1 {
					t.Errorf("%d commits", n.commitCalls)
				}
			})
		})
	}
}

// A post is published before its permalink is known, and stays published if the permalink is never found.
func TestPermalinkArrivesLater(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		links []step
		want  string
	}{
		"on the first lookup":   {nil, "https://example.test/late"},
		"after a failure":       {[]step{{class: network.Transient}, {}}, "https://example.test/late"},
		"with an expired token": {[]step{{class: network.ReconnectRequired}}, "https://example.test/late"},
		"never":                 {repeatStep(99, step{class: network.Transient}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testkit.EachDatabase(t, func(t *testing.T, url string) {
				clock := testkit.NewClock(noon)
				n := &scriptedNetwork{commits: []step{{noPermalink: true}}, permalinks: c.links}
				s := newEnv(t, testkit.Open(t, url, clock), clock, n)
				s.deliverDue(t)
				if got := s.outcome(t); got != publishedOutcome {
					t.Fatalf("before the permalink lookup: %+v", got)
				}
				s.deliver(t, time.Hour)
				account := s.do(t, "get_post", map[string]any{"id": s.post})["accounts"].([]any)[0].(map[string]any)
				if got, _ := account["permalink"].(string); got != c.want {
					t.Errorf("permalink %q, want %q", got, c.want)
				}
				if got := s.outcome(t); got != publishedOutcome || n.commitCalls != 1 || !s.active(t) ||
					n.permalinkCalls > maxPermalinkLookups {
					t.Errorf("%+v, %d commits, %d lookups", got, n.commitCalls, n.permalinkCalls)
				}
			})
		})
	}
}

// A retry of a failed account uses the same idempotency time and a new job.
func TestRetrySendsOnce(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(noon)
		n := &scriptedNetwork{commits: []step{{class: network.Rejected}}}
		s := newEnv(t, testkit.Open(t, url, clock), clock, n)
		s.deliver(t, time.Minute)
		first := s.job
		clock.Advance(time.Hour)
		s.job = s.do(t, "retry_post", map[string]any{"post_id": s.post})["job_id"].(string)
		s.deliver(t, time.Minute)
		if got := s.outcome(t); got != publishedOutcome || s.job == first || n.posts != 1 {
			t.Errorf("got %+v, %d posts, job %s after %s", got, n.posts, s.job, first)
		}
		var firsts int
		if err := s.db.QueryRow(t.Context(), `SELECT COUNT(DISTINCT first_at)
			FROM deliveries`).Scan(&firsts); err != nil || firsts != 1 {
			t.Errorf("%d different first_at (%v)", firsts, err)
		}
	})
}

// A job is running as soon as a worker claims one of its deliveries.
func TestJobRunningWhileSending(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(noon)
		s := newEnv(t, testkit.Open(t, url, clock), clock, &scriptedNetwork{})
		var id string
		must.NoError(t, s.db.QueryRow(t.Context(), `SELECT id FROM deliveries WHERE post_id = ?`,
			s.post).Scan(&id))
		if got := s.outcome(t); got.state != "pending" || got.jobState != "pending" {
			t.Errorf("before: %+v", got)
		}
		if _, mine, err := s.claim(t.Context(), id); err != nil || !mine {
			t.Fatal(mine, err)
		}
		if got := s.outcome(t); got.state != "sending" || got.jobState != "running" {
			t.Errorf("during the delivery: %+v", got)
		}
		clock.Advance(time.Hour)
		s.deliver(t, time.Hour)
		if got := s.outcome(t); got != publishedOutcome {
			t.Errorf("after the delivery: %+v", got)
		}
	})
}

// While a worker has the lease, no other worker can claim the delivery.
func TestExclusiveLease(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(noon)
		n := &scriptedNetwork{}
		s := newEnv(t, testkit.Open(t, url, clock), clock, n)
		n.commits = []step{{during: func() { s.deliverDue(t) }}}
		s.deliver(t, time.Minute)
		if n.commitCalls != 1 || n.posts != 1 {
			t.Errorf("%d commits, %d posts", n.commitCalls, n.posts)
		}
	})
}

// Regardless of the behavior of a network without idempotency, no post is published twice, and each account shows its
// actual state.
func TestNeverPublishTwice(t *testing.T) {
	t.Parallel()
	clock := testkit.NewClock(noon)
	d := testkit.Open(t, testkit.SQLite(t), clock)
	notSent := []network.ErrorClass{network.Transient, network.HostBlocked, network.RateLimited,
		network.QuotaExceeded, network.RefreshRequired,
		network.ReconnectRequired, network.Rejected, network.RejectedMedia, network.Duplicate, network.AppNotApproved}
	rapid.Check(t, func(t *rapid.T) {
		n := &scriptedNetwork{truthful: rapid.Bool().Draw(t, "truthful")}
		for range rapid.IntRange(0, 8).Draw(t, "commits") {
			if rapid.Bool().Draw(t, "uncertain") {
				class := rapid.SampledFrom([]network.ErrorClass{network.OutcomeUnknown, network.Processing}).Draw(t, "class")
				n.commits = append(n.commits, step{class: class, effect: rapid.Bool().Draw(t, "effect")})
				continue
			}
			n.commits = append(n.commits, step{class: rapid.SampledFrom(notSent).Draw(t, "class")})
		}
		n.resolves = repeatStep(rapid.IntRange(0, maxLookups+2).Draw(t, "unknown lookups"), unknownAnswer)
		n.prepares = append(repeatStep(rapid.IntRange(0, 2).Draw(t, "prepares"), step{class: network.Transient}),
			repeatStep(rapid.IntRange(0, 2).Draw(t, "waits"), step{wait: time.Second})...)
		s := newEnv(t, d, clock, n)
		s.deliver(t, time.Hour)
		got := s.outcome(t)
		if n.posts > 1 || (got.state == "published") != (n.posts == 1 && got.state != "unconfirmed") ||
			got.state == "failed" && n.posts > 0 {
			t.Fatalf("%d posts, shown as %+v", n.posts, got)
		}
		if got.state == "sending" || got.state == "pending" {
			t.Fatalf("stuck: %+v", got)
		}
		must.NoError(t, s.reconnect())
	})
}

// reconnect reconnects the account, so that the next check of a property can use it.
func (s *env) reconnect() error {
	_, err := s.accounts.Connect(context.Background(), s.call.TeamID, "bluesky", network.Credentials{})
	return err
}
