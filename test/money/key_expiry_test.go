package money

import (
	"context"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/idempotency"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/test/money/standin"
)

// A sweep that runs while a new call reuses an expired key does not delete the new call's record.
func TestSweepDuringTakeover(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		if !postgres(url) {
			return // SQLite has a single writer, so the sweep starts after the call
		}
		in := newInProcess(t, url, 1, -1)
		m := in.team(t, "UTC", 1)
		for _, o := range []apiCall{
			{tool: standin.Note, query: "free", key: "a note"}, {tool: standin.Search, query: "free", key: "a search"},
		} {
			before := in.mustAnswer(t.Context(), t, m, o)
			in.clock.Advance(idempotency.Retention)
			reached, resume, swept := make(chan struct{}), make(chan struct{}), make(chan error, 1)
			ctx := standin.WithInjector(t.Context(), func(_ context.Context, _ *db.Tx, at string) error {
				if at == workPoints[o.tool] {
					close(reached)
					<-resume
				}
				return nil
			})
			answers := make(chan answer, 1)
			go func() { answers <- in.mustAnswer(ctx, t, m, o) }()
			<-reached
			go func() {
				_, err := idempotency.New(in.db).Sweep(context.Background())
				swept <- err
			}()
			if !poll(t.Context(), func() bool {
				return in.queryInt(t,
					`SELECT COUNT(*) FROM pg_stat_activity
		WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'DELETE%'`) == 1
			}) {
				t.Fatal("the sweep does not wait for the call's lock")
			}
			close(resume)
			first := <-answers
			must.NoError(t, <-swept)
			if first.isReplay || first.sameData(before) {
				t.Fatalf("the expired key was not reused: %s", first.raw)
			}
			must.NoError(t, checkReplay(first, in.mustAnswer(t.Context(), t, m, o)))
			in.clock.Advance(time.Second)
		}
	})
}

func (in *inProcess) mustAnswer(ctx context.Context, t *testing.T, m *modelTeam, o apiCall) answer {
	a, err := in.nodes[0].call(ctx, m.keys[0], o, false)
	if err != nil || !a.isSuccess() {
		t.Errorf("%+v: %v %s", o, err, a.raw)
	}
	return a
}
