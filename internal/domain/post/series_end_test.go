package post_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/domain/post"
	"pressroom/internal/testkit/must"
)

// What is not a scheduled occurrence cannot be skipped, and nobody skips without the right to write.
func TestWhatCannotBeSkipped(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		template := w.repeat(t, "FREQ=DAILY")
		plain := w.draft(t, "plain", time.Time{})
		refused := func(person int64, id string, code apierr.Code) {
			t.Helper()
			before := w.occurrences(t)
			if _, err := w.Skip(t.Context(), person, id); !apierr.Is(err, code) || w.occurrences(t) != before {
				t.Errorf("%v, want %s: %s", err, code, w.occurrences(t))
			}
		}
		for _, id := range []string{template, plain} {
			refused(w.person, id, apierr.ValidationFailed)
		}
		first := w.occurrence(t)
		refused(w.person+1, first, apierr.NotFound)
		w.exec(t, `UPDATE memberships SET role = 'viewer' WHERE person_id = ?`, w.person)
		refused(w.person, first, apierr.NotFound)
		w.exec(t, `UPDATE memberships SET role = 'editor' WHERE person_id = ?`, w.person)
		w.do(t, "publish_post", map[string]any{"post_id": first})
		refused(w.person, first, apierr.ValidationFailed)
	})
}

// One occurrence that is skipped, moved or published early leaves the series as it is.
func TestOneOccurrence(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		w.repeat(t, "FREQ=DAILY")
		first := w.occurrence(t)
		skipped := must.Get(w.Skip(t.Context(), w.person, first))(t)
		if skipped.Status != post.Draft || skipped.Series.Paused || !skipped.ScheduledAt.IsZero() {
			t.Errorf("%+v", skipped)
		}
		w.tick(t)
		if got := w.occurrences(t); got != "21T13 draft, 22T13 scheduled" {
			t.Error(got)
		}
		w.do(t, "publish_post", map[string]any{"post_id": w.occurrence(t)})
		w.tick(t)
		if got := w.occurrences(t); got != "21T13 draft, 22T13 published, 23T13 scheduled" {
			t.Error(got)
		}
		w.do(t, "update_post", map[string]any{"id": w.occurrence(t), "scheduled_at": "2026-11-25T08:00",
			"caption": "moved"})
		w.clock.Advance(2*day + time.Hour)
		w.tick(t)
		if got := w.occurrences(t); got != "21T13 draft, 22T13 published, 23T13 scheduled, 24T13 scheduled" {
			t.Error(got)
		}
		for _, wait := range []time.Duration{day, 19 * time.Hour, 5 * time.Hour} {
			w.clock.Advance(wait)
			w.tick(t)
		}
		w.wantSent(t, "hello", "hello", "moved", "hello")
	})
}

// After a standstill the newest occurrence goes out if it is no hour late; the others are skipped, and that is told.
func TestStandstill(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		id := w.repeat(t, "FREQ=DAILY")
		w.clock.Advance(time.Hour + time.Hour) // just within the grace
		w.tick(t)
		w.wantSent(t, "hello")
		// the 22nd to the 24th are missed, the 25th is late by half an hour
		w.clock.Advance(4*day - time.Hour + 30*time.Minute)
		w.tick(t)
		w.tick(t)
		w.wantSent(t, "hello", "hello")
		if got := w.occurrences(t); got != "21T13 published, 22T13 draft, 25T13 published, 26T13 scheduled" {
			t.Error(got)
		}
		w.clock.Advance(day + 31*time.Minute) // late by a moment more than the grace
		w.tick(t)
		w.wantSent(t, "hello", "hello")
		out := must.Get(w.try(t, "get_post", map[string]any{"id": id}))(t)
		notes := strings.Join(out.Notes, "\n")
		if len(out.Notes) != 3 || !strings.Contains(notes,
			"2 occurrences from 2026-11-23T13:00:00+01:00 to 2026-11-24T13:00:00+01:00") ||
			!strings.Contains(notes, "The occurrence of 2026-11-26T13:00:00+01:00") {
			t.Error(notes)
		}
		if n := w.countEvents(t, "series.skipped"); n != 3 {
			t.Errorf("told %d times", n)
		}
	})
}

// While a team may not publish nothing is made, and after it nothing comes all at once.
func TestPausedTeams(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		w.repeat(t, "FREQ=DAILY")
		w.exec(t, `INSERT INTO pauses (scope, target, action, created_at) VALUES ('team', ?, 'publish', 1)`,
			w.call.TeamID)
		w.clock.Advance(3 * day)
		w.tick(t)
		if got := w.occurrences(t); got != "21T13 scheduled" {
			t.Error(got)
		}
		w.exec(t, `DELETE FROM pauses`)
		w.tick(t)
		if got := w.occurrences(t); got != "21T13 draft, 24T13 scheduled" {
			t.Error(got)
		}
		w.wantSent(t)
	})
}

// What holds for every scheduled post holds for an occurrence at its time; and the month's allowance too.
func TestRefusedAtItsTime(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		must.NoError(t, w.teams.SetPlan(t.Context(), w.call.TeamID, "team", time.Time{}))
		w.repeat(t, "FREQ=DAILY")
		states := []string{}
		release := func() {
			id := w.occurrence(t)
			w.clock.Advance(day)
			w.tick(t)
			states = append(states, w.status(t, id))
		}
		w.clock.Advance(time.Hour - day)
		release()
		w.do(t, "update_post", map[string]any{"id": w.occurrence(t), "caption": "forbidden"})
		release()
		w.exec(t, `UPDATE posts SET approval = 'waiting' WHERE id = ?`, w.occurrence(t))
		release()
		release()
		release() // the fifth of November
		if got := strings.Join(states, ", "); got != "published, failed preflight_blocked, failed waiting "+
			"missed_waiting_approval, published, failed plan_limit_reached" {
			t.Error(got)
		}
		w.clock.Advance(6 * day) // into December, which has places again
		w.tick(t)
		release()
		if got := states[len(states)-1]; got != "published" {
			t.Error(got)
		}
	})
}

// However many nodes let a series go on at once, there is one post for each time, and each goes out once.
func TestTwoNodes(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		w.repeat(t, "FREQ=DAILY")
		nodes := []*env{w}
		for range 2 {
			nodes = append(nodes, newEnv(t, w.url, w.clock, w.sealer))
		}
		w.clock.Advance(time.Hour)
		for range 5 {
			var work sync.WaitGroup
			for _, n := range nodes {
				work.Go(func() { n.tick(t) })
			}
			work.Wait()
			w.clock.Advance(day)
		}
		sent := 0
		for _, n := range nodes {
			sent += len(n.box.sent)
		}
		var posts int
		must.NoError(t, w.db.QueryRow(t.Context(), `SELECT COUNT(*) FROM posts WHERE occurs_at > 0`).Scan(&posts))
		if sent != 5 || posts != 6 {
			t.Errorf("%d sent of %d posts", sent, posts)
		}
	})
}

// A series that is cancelled at the very moment of its time goes out or does not, and makes nothing more.
func TestCancelRaces(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		other := newEnv(t, w.url, w.clock, w.sealer)
		id := w.repeat(t, "FREQ=DAILY")
		w.clock.Advance(time.Hour)
		for range 8 {
			sent := len(other.box.sent)
			var work sync.WaitGroup
			work.Go(func() { other.tick(t) })
			work.Go(func() { w.do(t, "cancel_post", map[string]any{"post_id": id}) })
			work.Wait()
			other.tick(t)
			w.clock.Advance(day)
			other.tick(t)
			var scheduled int
			must.NoError(t, w.db.QueryRow(t.Context(), `SELECT COUNT(*) FROM posts
				WHERE status = 'scheduled'`).Scan(&scheduled))
			if n := len(other.box.sent) - sent; scheduled != 0 || n > 1 {
				t.Fatalf("%d scheduled, %d sent: %s", scheduled, n, w.occurrences(t))
			}
			must.Get(w.Repeat(t.Context(), w.person, id, "FREQ=DAILY"))(t)
			w.clock.Advance(day)
		}
	})
}

// An occurrence that is cancelled while its series makes the next one, or at its very time, pauses the series all the
// same: it goes out or does not, and nothing more is made or sent.
func TestCancelOccurrenceRaces(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		other := newEnv(t, w.url, w.clock, w.sealer)
		id := w.repeat(t, "FREQ=DAILY")
		for i := range 12 {
			sent, first := len(other.box.sent), w.occurrence(t)
			if i%2 == 0 { // it is due
				w.clock.Advance(time.Hour)
			} else { // the next one is
				w.exec(t, `UPDATE post_series SET wake_at = 1 WHERE template_id = ?`, id)
			}
			var work sync.WaitGroup
			work.Go(func() { other.tick(t) })
			work.Go(func() { _, _ = w.try(t, "cancel_post", map[string]any{"post_id": first}) })
			work.Wait()
			var status string
			must.NoError(t, w.db.QueryRow(t.Context(), `SELECT status FROM posts WHERE id = ?`, first).Scan(&status))
			if cancelled := status == "draft"; cancelled {
				other.tick(t)
				w.clock.Advance(2 * day)
				other.tick(t)
				if got := w.status(t, id); got != "draft" || len(other.box.sent) != sent {
					t.Fatalf("the template is %s, %d sent: %s", got, len(other.box.sent)-sent, w.occurrences(t))
				}
			} else {
				w.do(t, "cancel_post", map[string]any{"post_id": id})
			}
			var scheduled int
			must.NoError(t, w.db.QueryRow(t.Context(), `SELECT COUNT(*) FROM posts
				WHERE status = 'scheduled'`).Scan(&scheduled))
			if scheduled != 0 {
				t.Fatalf("%d are scheduled: %s", scheduled, w.occurrences(t))
			}
			w.clock.Advance(2 * day)
			must.Get(w.Repeat(t.Context(), w.person, id, "FREQ=DAILY"))(t)
		}
	})
}
