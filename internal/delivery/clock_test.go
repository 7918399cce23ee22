package delivery

import (
	"bytes"
	"context"
	"database/sql"
	"log/slog"
	"strings"
	"testing"
	"time"

	"pressroom/internal/db"
	"pressroom/internal/testkit"
)

// A node whose clock is far from PostgreSQL's takes no post over from another, and releases none, until they are together. SQLite
// has one node, and no clock of its own.
func TestNodesOfAnotherTimeRest(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		const apart = 15 * time.Second
		clock := testkit.NewClock(time.Now().Add(-apart))
		n := &scripted{}
		s := newStage(t, testkit.Open(t, url, clock), clock, n)
		var said bytes.Buffer
		s.opts.ClockApart, s.log = 10*time.Second, slog.New(slog.NewTextHandler(&said, nil))
		due := s.do(t, "create_post", map[string]any{"caption": "later", "account_ids": s.accountIDs(t)})["id"].(string)
		s.mustExec(t, `UPDATE posts SET status = 'scheduled', scheduled_at = ? WHERE id = ?`, db.Micros(clock.Now()), due)
		rests := s.db.Postgres()

		waker := s.NewWaker()
		for range 3 {
			if err := waker.Once(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.work(t)
		}
		if s.ClockApart() != rests || (n.committed == 0) != rests || (s.status(t, due) == "scheduled") != rests {
			t.Errorf("apart by %v: %t, %d commits, the due post is %s", s.ClockAhead(), s.ClockApart(), n.committed, s.status(t, due))
		}
		if rests && (strings.Count(said.String(), "level=ERROR") != 1 || !strings.Contains(said.String(), "ahead_by=-1")) {
			t.Errorf("the log says:\n%s", &said)
		}

		clock.Advance(apart)
		if err := waker.Once(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.deliver(t, time.Minute)
		if s.ClockApart() || s.outcome(t) != wellDone || s.status(t, due) != "processing" {
			t.Errorf("together again: %t, %+v, the due post is %s", s.ClockApart(), s.outcome(t), s.status(t, due))
		}
		if rests != strings.Contains(said.String(), "together with the database's again") {
			t.Errorf("the log says:\n%s", &said)
		}
	})
}

// A clock that is set in the midst of a delivery does not get to date what is sent.
func TestNothingIsSentOnceTheClockIsSet(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(time.Now())
		n := &scripted{prepares: []step{{during: func() { clock.Advance(-11 * time.Second) }}}}
		s := newStage(t, testkit.Open(t, url, clock), clock, n)
		s.opts.ClockApart = 10 * time.Second
		rests := s.db.Postgres()
		s.work(t)
		if (n.committed == 0) != rests {
			t.Errorf("%d commits", n.committed)
		}
		clock.Advance(11 * time.Second)
		s.deliver(t, time.Minute)
		if s.outcome(t) != wellDone || n.committed != 1 {
			t.Errorf("together again: %+v, %d commits", s.outcome(t), n.committed)
		}
	})
}

func (s *stage) accountIDs(t *testing.T) []int64 {
	t.Helper()
	ids, err := db.All(context.Background(), s.db, func(rows *sql.Rows, id *int64) error { return rows.Scan(id) }, `SELECT id FROM social_accounts`)
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

func (s *stage) mustExec(t *testing.T, query string, args ...any) {
	t.Helper()
	err := s.db.Write(context.Background(), "test", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, query, args...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (s *stage) status(t *testing.T, id string) string {
	t.Helper()
	var status string
	if err := s.db.QueryRow(context.Background(), `SELECT status FROM posts WHERE id = ?`, id).Scan(&status); err != nil {
		t.Fatal(err)
	}
	return status
}
