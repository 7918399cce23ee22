package auditlog_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// List returns only the team's events, newest first, filtered by kind, one page at a time.
func TestList(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
		d := testkit.Open(t, url, clock)
		must.NoError(t, d.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			var ada int64
			if err := tx.QueryRow(ctx,
				`INSERT INTO people (name, email, created_at) VALUES ('Ada', 'ada@example.com', 1) RETURNING id`).Scan(&ada); err != nil {
				return err
			}
			for n := range 3 {
				if err := auditlog.Record(ctx, tx, 1, auditlog.Actor{PersonID: ada}, "key.created", fmt.Sprint(n),
					map[string]any{"level": "full"}); err != nil {
					return err
				}
			}
			if err := auditlog.Record(ctx, tx, 1, auditlog.Actor{}, "team.closed", "1", nil); err != nil {
				return err
			}
			return auditlog.Record(ctx, tx, 2, auditlog.Actor{}, "key.created", "another team's", nil)
		}))
		list := func(p auditlog.Page) []auditlog.Event {
			t.Helper()
			out := must.Get(auditlog.List(t.Context(), d, 1, p))(t)
			return out
		}
		all := list(auditlog.Page{Limit: 10})
		keys := list(auditlog.Page{Kind: "key.created", Limit: 2})
		rest := list(auditlog.Page{Kind: "key.created", Limit: 2, BeforeID: keys[1].ID})
		if diff := cmp.Diff(all[1:], append(keys, rest...)); diff != "" || len(all) != 4 {
			t.Errorf("%d events; the last three are not those of keys: %s", len(all), diff)
		}
		want := auditlog.Event{
			ID: keys[0].ID, At: clock.Now(), Person: "Ada", Kind: "key.created", Subject: "2", Detail: map[string]any{"level": "full"},
		}
		if diff := cmp.Diff(want, keys[0]); diff != "" {
			t.Error(diff)
		}
		if all[0].Kind != "team.closed" || all[0].Person != "" {
			t.Errorf("%+v", all[0])
		}
	})
}
