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

// If the network lists only one of two posts with the same text, it is assigned to neither while it may be of the
// other, and the missing one is sent.
func TestAmbiguousDuplicates(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text      string // of the other post
		phase     phase  // phase at the end of the lookup
		shows     string // the network's ID, if already known
		committed int
		want      outcome
	}{
		"published during the lookup": {"hello", ended, "1", 2, publishedOutcome},
		"it is being sent": {"hello", committing, "", 1, outcome{"unconfirmed", "not_confirmed",
			"failed", "failed", "not_confirmed"}},
		"outcome unknown": {"hello ", unconfirmed, "", 1, outcome{"unconfirmed", "not_confirmed",
			"failed", "failed", "not_confirmed"}},
		"it has other words":                {"good bye", committing, "", 1, publishedOutcome},
		"it ended, and is another post":     {"hello", ended, "2", 1, publishedOutcome},
		"it is still to be sent, and later": {"hello", prepared, "", 1, publishedOutcome},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testkit.EachDatabase(t, func(t *testing.T, url string) {
				clock := testkit.NewClock(noon)
				n := scriptedNetwork{truthful: true}
				s := newEnv(t, testkit.Open(t, url, clock), clock, &n)
				var account int64
				must.NoError(t, s.db.QueryRow(t.Context(), `SELECT account_id FROM deliveries WHERE post_id = ?`,
					s.post).Scan(&account))
				other := s.do(t, "create_post", map[string]any{"caption": c.text,
					"account_ids": []int64{account}})["id"].(string)
				s.do(t, "publish_post", map[string]any{"post_id": other})
				become := func(p phase, id string) {
					err := s.db.InTx(context.Background(), "test", func(ctx context.Context, tx *db.Tx) error {
						_, err := tx.Exec(ctx, `UPDATE deliveries SET phase = ?, network_id = ?, wake_at = 0,
							lease_until = ? WHERE post_id = ?`, string(p), id, db.Micros(noon.AddDate(1, 0, 0)), other)
						return err
					})
					if err != nil {
						t.Error(err)
					}
				}
				become(committing, "")
				it := step{verdict: network.Published, alike: true}
				n.commits, n.resolves = []step{lostNotSent},
					[]step{{verdict: network.Published, alike: true, during: func() { become(c.phase, c.shows) }}}
				if c.want != publishedOutcome { // it is found each time
					n.resolves = append(n.resolves, repeatStep(99, it)...)
				}
				s.deliver(t, time.Hour)
				if got := s.outcome(t); got != c.want || n.committed != c.committed {
					t.Errorf("%+v after %d commits, want %+v after %d", got, n.committed, c.want, c.committed)
				}
			})
		})
	}
}
