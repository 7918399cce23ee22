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

// A network that does not answer may still process the request: the quiet time begins again with each unanswered
// lookup.
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
		if got := s.outcome(t); got != publishedOutcome || n.committed != 2 || n.held != 1 {
			t.Fatalf("%+v after %d commits, %d held", got, n.committed, n.held)
		}
		for i, tried := range n.tried[1:] {
			if !tried.First.Equal(n.tried[0].First) {
				t.Errorf("look %d: first committed %v, then %v", i+2, n.tried[0].First, tried.First)
			}
		}
		silent, decided := n.tried[2].Last, n.tried[3].Last
		if !silent.After(n.tried[0].Last) || !decided.Equal(silent) {
			t.Errorf("last silence: %v", n.tried)
		}
	})
}

// A commit without a recorded end may have been sent until another worker took over: the quiet time begins with the
// next attempt.
func TestQuietPeriodAfterTakeover(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		s := newEnv(t, testkit.Open(t, url, testkit.NewClock(noon)), testkit.NewClock(noon), &scriptedNetwork{})
		var d delivery
		must.NoError(t, s.db.QueryRow(t.Context(), `SELECT id FROM deliveries WHERE post_id = ?`,
			s.post).Scan(&d.ID))
		for _, a := range []struct {
			call          string
			began, took   time.Duration
			result        string
			lastAsOfThere time.Duration // time since the last commit, as the next attempt sees it
		}{
			{"commit", 0, 0, "", 0}, // it is not yet known to be abandoned
			{"resolve", 30 * time.Second, time.Second, string(network.Processing), 30 * time.Second},
			{"resolve", 50 * time.Second, time.Second, "absent", 30 * time.Second},
			{"commit", 60 * time.Second, 5 * time.Second, string(network.Uncertain), 65 * time.Second},
			{"resolve", 70 * time.Second, 0, "", 70 * time.Second},
		} {
			ended := int64(0)
			if a.took > 0 {
				ended = db.Micros(noon.Add(a.began + a.took))
			}
			must.NoError(t, s.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
				_, err := tx.Exec(ctx, `INSERT INTO delivery_attempts (delivery_id, epoch, call, started_at, ended_at,
					result) VALUES (?, 1, ?, ?, ?, ?)`,
					d.ID, a.call, db.Micros(noon.Add(a.began)), ended, a.result)
				return err
			}))
			got, _, err := sendHistory(t.Context(), s.db, d, 0)
			if err != nil || !got.First.Equal(noon) || !got.Last.Equal(noon.Add(a.lastAsOfThere)) {
				t.Errorf("after the %s of %v: %+v, want %v (%v)", a.call, a.began, got, a.lastAsOfThere, err)
			}
		}
	})
}

// A commit without a clear answer is undecided.
func TestUndecidedCommits(t *testing.T) {
	t.Parallel()
	for name, last := range map[string]string{"no answer": "", "an uncertain answer": string(network.Uncertain)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testUndecidedCommits(t, last)
		})
	}
}

// testUndecidedCommits checks a delivery of which only the last commit is undecided.
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
			if got, _, err := sendHistory(t.Context(), s.db, d, 0); err != nil || got.Undecided != a.undecided {
				t.Errorf("after a %s, %s: %+v, %v", a.call, a.result, got, err)
			}
		}
	})
}
