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

// A lookup that finds a post by its text does not assign it to a delivery while another delivery with the same text may
// have published it.
func TestAmbiguousDuplicates(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text      string // of the other post
		phase     phase  // phase of the other delivery at the end of the lookup
		networkID string // network ID of the other post, if already known
		committed int
		want      outcome
	}{
		"other is published during the lookup": {"hello", phaseEnded, "1", 2, publishedOutcome},
		"other is being sent": {"hello", phaseCommitting, "", 1, outcome{"unconfirmed", "not_confirmed",
			"failed", "failed", "not_confirmed"}},
		"other is unconfirmed": {"hello ", phaseUnconfirmed, "", 1, outcome{"unconfirmed", "not_confirmed",
			"failed", "failed", "not_confirmed"}},
		"other has another text":              {"good bye", phaseCommitting, "", 1, publishedOutcome},
		"other was published with another ID": {"hello", phaseEnded, "2", 1, publishedOutcome},
		"other is not sent yet":               {"hello", phasePrepared, "", 1, publishedOutcome},
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
				setOther := func(p phase, id string) {
					err := s.db.InTx(context.Background(), "test", func(ctx context.Context, tx *db.Tx) error {
						_, err := tx.Exec(ctx, `UPDATE deliveries SET phase = ?, network_id = ?, wake_at = 0,
							lease_until = ? WHERE post_id = ?`, string(p), id, db.Micros(noon.AddDate(1, 0, 0)), other)
						return err
					})
					if err != nil {
						t.Error(err)
					}
				}
				setOther(phaseCommitting, "")
				found := step{verdict: network.Published, matchedByContent: true}
				n.commits, n.resolves = []step{lostNotSent},
					[]step{{verdict: network.Published, matchedByContent: true, during: func() { setOther(c.phase, c.networkID) }}}
				if c.want != publishedOutcome {
					n.resolves = append(n.resolves, repeatStep(99, found)...)
				}
				s.deliver(t, time.Hour)
				if got := s.outcome(t); got != c.want || n.commitCalls != c.committed {
					t.Errorf("%+v after %d commits, want %+v after %d", got, n.commitCalls, c.want, c.committed)
				}
			})
		})
	}
}
