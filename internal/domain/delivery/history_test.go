package delivery

import (
	"context"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// The quiet period restarts after each unanswered lookup, because the network may still process the request.
func TestQuietPeriodAfterLastSilence(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(noon)
		n := scriptedNetwork{commits: []step{lostNotSent}, resolves: []step{
			{verdict: network.Unknown, class: network.Transient},
			{verdict: network.Unknown, class: network.Transient},
			{verdict: network.Unknown, class: network.Processing},
		}, truthful: true}
		s := newEnv(t, testkit.Open(t, url, clock), clock, &n)
		s.deliver(t, 10*time.Minute)
		if got := s.outcome(t); got != publishedOutcome || n.commitCalls != 2 || n.posts != 1 {
			t.Fatalf("%+v after %d commits, %d posts", got, n.commitCalls, n.posts)
		}
		for i, history := range n.histories[1:] {
			if !history.First.Equal(n.histories[0].First) {
				t.Errorf("lookup %d: first commit %v, then %v", i+2, n.histories[0].First, history.First)
			}
		}
		third, fourth := n.histories[2].Last, n.histories[3].Last
		if !third.After(n.histories[0].Last) || !fourth.Equal(third) {
			t.Errorf("last commit of each lookup: %v", n.histories)
		}
	})
}

// If a commit has no recorded end, the quiet period starts with the next attempt, because the first worker may have
// sent the post until then.
func TestQuietPeriodAfterTakeover(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		s := newEnv(t, testkit.Open(t, url, testkit.NewClock(noon)), testkit.NewClock(noon), &scriptedNetwork{})
		var d delivery
		must.NoError(t, s.db.QueryRow(t.Context(), `SELECT id FROM deliveries WHERE post_id = ?`,
			s.post).Scan(&d.ID))
		for _, a := range []struct {
			call        string
			start, took time.Duration
			result      string
			wantLast    time.Duration // expected time of the last commit, after noon
		}{
			{"commit", 0, 0, "", 0}, // may still be running
			{"resolve", 30 * time.Second, time.Second, string(network.Processing), 30 * time.Second},
			{"resolve", 50 * time.Second, time.Second, "absent", 30 * time.Second},
			{"commit", 60 * time.Second, 5 * time.Second, string(network.OutcomeUnknown), 65 * time.Second},
			{"resolve", 70 * time.Second, 0, "", 70 * time.Second},
		} {
			ended := int64(0)
			if a.took > 0 {
				ended = db.Micros(noon.Add(a.start + a.took))
			}
			must.NoError(t, s.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
				_, err := tx.Exec(ctx, `INSERT INTO delivery_attempts (delivery_id, epoch, call, started_at, ended_at,
					result) VALUES (?, 1, ?, ?, ?, ?)`,
					d.ID, a.call, db.Micros(noon.Add(a.start)), ended, a.result)
				return err
			}))
			got, _, err := commitHistory(t.Context(), s.db, d, 0)
			if err != nil || !got.First.Equal(noon) || !got.Last.Equal(noon.Add(a.wantLast)) {
				t.Errorf("after the %s of %v: %+v, want %v (%v)", a.call, a.start, got, a.wantLast, err)
			}
		}
	})
}

// A commit without an answer or with an uncertain answer is undecided.
func TestUndecidedCommits(t *testing.T) {
	t.Parallel()
	for name, last := range map[string]string{"no answer": "", "an uncertain answer": string(network.OutcomeUnknown)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testUndecidedCommits(t, last)
		})
	}
}

// testUndecidedCommits checks a delivery in which only the last commit is undecided.
func testUndecidedCommits(t *testing.T, last string) {
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		s := newEnv(t, testkit.Open(t, url, testkit.NewClock(noon)), testkit.NewClock(noon), &scriptedNetwork{})
		var d delivery
		must.NoError(t, s.db.QueryRow(t.Context(), `SELECT id FROM deliveries WHERE post_id = ?`, s.post).Scan(&d.ID))
		for _, a := range []struct {
			call, result string
			undecided    bool
		}{
			{"commit", string(network.Processing), false},
			{"resolve", string(network.Transient), false},
			{"commit", string(network.Transient), false},
			{"commit", last, true},
		} {
			must.NoError(t, s.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
				_, err := tx.Exec(ctx, `INSERT INTO delivery_attempts (delivery_id, epoch, call, started_at, ended_at,
					result) VALUES (?, 1, ?, ?, ?, ?)`, d.ID, a.call, db.Micros(noon), db.Micros(noon), a.result)
				return err
			}))
			if got, _, err := commitHistory(t.Context(), s.db, d, 0); err != nil || got.Undecided != a.undecided {
				t.Errorf("after a %s, %s: %+v, %v", a.call, a.result, got, err)
			}
		}
	})
}
