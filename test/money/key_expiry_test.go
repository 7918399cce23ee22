package money

import (
	"context"
	"testing"
	"time"

	"pressroom/internal/domain/idempotency"
	"pressroom/internal/platform/db"
	"pressroom/internal/testkit"
	"pressroom/internal/testkit/must"
	"pressroom/test/money/standin"
)

// A new call takes over an expired key while it is being swept. The sweep does not delete the new call's record.
func TestSweepDuringTakeover(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		if !postgres(url) {
			return // SQLite has one writer: a sweep waits for the call before it looks
		}
		in := newInside(t, url, 1, -1)
		m := in.team(t, "UTC", 1)
		for _, o := range []order{
			{tool: standin.Note, query: "free", idem: "a note"}, {tool: standin.Search, query: "free", idem: "a search"},
		} {
			before := in.mustAnswer(t.Context(), t, m, o)
			in.clock.Advance(idempotency.Retention)
			arrived, goOn, swept := make(chan struct{}), make(chan struct{}), make(chan error, 1)
			ctx := standin.WithInjector(t.Context(), func(_ context.Context, _ *db.Tx, at string) error {
				if at == workPoint[o.tool] {
					close(arrived)
					<-goOn
				}
				return nil
			})
			taken := make(chan answer, 1)
			go func() { taken <- in.mustAnswer(ctx, t, m, o) }()
			<-arrived
			go func() {
				_, err := idempotency.New(in.db).Sweep(context.Background())
				swept <- err
			}()
			if !until(t.Context(), func() bool {
				return in.number(t,
					`SELECT COUNT(*) FROM pg_stat_activity
		WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'DELETE%'`) == 1
			}) {
				t.Fatal("the sweep does not wait for the call")
			}
			close(goOn)
			first := <-taken
			must.NoError(t, <-swept)
			if first.replayed || first.sameData(before) {
				t.Fatalf("the key was not taken over: %s", first.raw)
			}
			must.NoError(t, repeats(first, in.mustAnswer(t.Context(), t, m, o)))
			in.clock.Advance(time.Second)
		}
	})
}

func (in *inside) mustAnswer(ctx context.Context, t *testing.T, m *modelTeam, o order) answer {
	a, err := in.nodes[0].ask(ctx, m.keys[0], o, false)
	if err != nil || !a.ok() {
		t.Errorf("%+v: %v %s", o, err, a.raw)
	}
	return a
}
