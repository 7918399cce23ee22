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

func record(ctx context.Context, tx *db.Tx, team int64, subject string) error {
	return auditlog.Record(ctx, tx, team, auditlog.Actor{}, "key.created", subject, nil)
}

// readSubjects returns the subjects of the selected events and the ID to continue after.
func readSubjects(t *testing.T, d *db.DB, filter auditlog.Filter) ([]string, int64) {
	t.Helper()
	subjects := []string{}
	must.NoError(t, auditlog.Each(t.Context(), d, filter, func(e auditlog.Entry) error {
		subjects, filter.AfterID = append(subjects, e.Subject), e.ID
		return nil
	}))
	return subjects, filter.AfterID
}

// Each returns every event once, across batches and filtered by team and time, if each call continues after the last
// ID.
func TestEachEvent(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
		began := clock.Now()
		d := testkit.Open(t, url, clock)
		if got, _ := readSubjects(t, d, auditlog.Filter{}); len(got) != 0 {
			t.Errorf("from an empty log: %v", got)
		}
		want := []string{}
		for round := range 3 {
			err := d.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
				for n := range 700 { // more than one batch
					subject := fmt.Sprintf("%d/%d", round, n)
					want = append(want, subject)
					if err := record(ctx, tx, int64(1+n%2), subject); err != nil {
						return err
					}
				}
				return nil
			})
			must.NoError(t, err)
			clock.Advance(time.Hour)
		}
		all, last := readSubjects(t, d, auditlog.Filter{})
		if diff := cmp.Diff(want, all); diff != "" {
			t.Error(diff)
		}
		if rest, _ := readSubjects(t, d, auditlog.Filter{AfterID: last}); len(rest) != 0 {
			t.Errorf("after the last: %v", rest)
		}
		if of, _ := readSubjects(t, d, auditlog.Filter{Team: 2, Since: began.Add(time.Hour)}); len(of) != 700 || of[0] != "1/1" {
			t.Errorf("%d events of team 2 from the second hour on, the first is %v", len(of), of[:min(1, len(of))])
		}
	})
}

// An event whose transaction commits after the transaction of a newer event is not skipped.
func TestEachIncludesLateCommits(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
		d := testkit.Open(t, url, clock)
		if !d.Postgres() {
			return // SQLite runs one writing transaction at a time
		}
		recorded, end, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
		go func() {
			ended <- d.InTx(t.Context(), "slow", func(ctx context.Context, tx *db.Tx) error {
				err := record(ctx, tx, 1, "slow")
				close(recorded)
				<-end
				return err
			})
		}()
		<-recorded
		must.NoError(t, d.InTx(t.Context(), "quick", func(ctx context.Context, tx *db.Tx) error {
			return record(ctx, tx, 1, "quick")
		}))
		early, last := readSubjects(t, d, auditlog.Filter{})
		close(end)
		must.NoError(t, <-ended)
		clock.Advance(3 * time.Minute)
		late, _ := readSubjects(t, d, auditlog.Filter{AfterID: last})
		if diff := cmp.Diff([]string{"slow", "quick"}, append(early, late...)); diff != "" {
			t.Error(diff)
		}
	})
}
