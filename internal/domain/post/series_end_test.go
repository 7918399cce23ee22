package post_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/posttest"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Skip rejects posts that are not scheduled occurrences, and people who may not write.
func TestSkipRejected(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		template := w.StartSeries(t, "FREQ=DAILY")
		plain := w.Draft(t, "plain", time.Time{})
		expectError := func(person int64, id string, code apierr.Code) {
			t.Helper()
			before := w.SeriesPosts(t)
			if _, err := w.Skip(t.Context(), person, id); !apierr.Is(err, code) || w.SeriesPosts(t) != before {
				t.Errorf("%v, want %s: %s", err, code, w.SeriesPosts(t))
			}
		}
		for _, id := range []string{template, plain} {
			expectError(w.Person, id, apierr.ValidationFailed)
		}
		first := w.LastOccurrence(t)
		expectError(w.Person+1, first, apierr.NotFound)
		w.Exec(t, `UPDATE memberships SET role = 'viewer' WHERE person_id = ?`, w.Person)
		expectError(w.Person, first, apierr.NotFound)
		w.Exec(t, `UPDATE memberships SET role = 'editor' WHERE person_id = ?`, w.Person)
		w.Do(t, "publish_post", map[string]any{"post_id": first})
		expectError(w.Person, first, apierr.ValidationFailed)
	})
}

// Skipping, moving or publishing one occurrence early does not affect the series.
func TestChangedOccurrenceKeepsSeries(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		w.StartSeries(t, "FREQ=DAILY")
		first := w.LastOccurrence(t)
		skipped := must.Get(w.Skip(t.Context(), w.Person, first))(t)
		if skipped.Status != post.Draft || skipped.Series.Paused || !skipped.ScheduledAt.IsZero() {
			t.Errorf("%+v", skipped)
		}
		w.Tick(t)
		if got := w.SeriesPosts(t); got != "21T13 draft, 22T13 scheduled" {
			t.Error(got)
		}
		w.Do(t, "publish_post", map[string]any{"post_id": w.LastOccurrence(t)})
		w.Tick(t)
		if got := w.SeriesPosts(t); got != "21T13 draft, 22T13 published, 23T13 scheduled" {
			t.Error(got)
		}
		w.Do(t, "update_post", map[string]any{"id": w.LastOccurrence(t), "scheduled_at": "2026-11-25T08:00",
			"caption": "moved"})
		w.Clock.Advance(2*posttest.Day + time.Hour)
		w.Tick(t)
		if got := w.SeriesPosts(t); got != "21T13 draft, 22T13 published, 23T13 scheduled, 24T13 scheduled" {
			t.Error(got)
		}
		for _, wait := range []time.Duration{posttest.Day, 19 * time.Hour, 5 * time.Hour} {
			w.Clock.Advance(wait)
			w.Tick(t)
		}
		w.WantSent(t, "hello", "hello", "moved", "hello")
	})
}

// After downtime, the newest occurrence is published if it is less than an hour late. Earlier occurrences are skipped,
// and notes list them.
func TestOccurrencesAfterDowntime(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		id := w.StartSeries(t, "FREQ=DAILY")
		w.Clock.Advance(time.Hour + time.Hour) // just within the grace period
		w.Tick(t)
		w.WantSent(t, "hello")
		// The 22nd to the 24th are missed, and the 25th is half an hour late.
		w.Clock.Advance(4*posttest.Day - time.Hour + 30*time.Minute)
		w.Tick(t)
		w.Tick(t)
		w.WantSent(t, "hello", "hello")
		if got := w.SeriesPosts(t); got != "21T13 published, 22T13 draft, 25T13 published, 26T13 scheduled" {
			t.Error(got)
		}
		w.Clock.Advance(posttest.Day + 31*time.Minute) // just beyond the grace period
		w.Tick(t)
		w.WantSent(t, "hello", "hello")
		out := must.Get(w.Try(t, "get_post", map[string]any{"id": id}))(t)
		notes := strings.Join(out.Notes, "\n")
		if len(out.Notes) != 3 || !strings.Contains(notes,
			"2 occurrences from 2026-11-23T13:00:00+01:00 to 2026-11-24T13:00:00+01:00") ||
			!strings.Contains(notes, "The occurrence of 2026-11-26T13:00:00+01:00") {
			t.Error(notes)
		}
		if n := w.CountEvents(t, "series.skipped"); n != 3 {
			t.Errorf("%d series.skipped events", n)
		}
	})
}

// No occurrences are created while a team may not publish. Missed occurrences are not created later.
func TestSeriesOfPausedTeam(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		w.StartSeries(t, "FREQ=DAILY")
		w.Exec(t, `INSERT INTO pauses (scope, target, action, created_at) VALUES ('team', ?, 'publish', 1)`,
			w.Call.TeamID)
		w.Clock.Advance(3 * posttest.Day)
		w.Tick(t)
		if got := w.SeriesPosts(t); got != "21T13 scheduled" {
			t.Error(got)
		}
		w.Exec(t, `DELETE FROM pauses`)
		w.Tick(t)
		if got := w.SeriesPosts(t); got != "21T13 draft, 24T13 scheduled" {
			t.Error(got)
		}
		w.WantSent(t)
	})
}

// A due occurrence is checked like a scheduled post: network rules, approval and the monthly limit.
func TestOccurrenceRejectedWhenDue(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		must.NoError(t, w.Teams.SetPlan(t.Context(), w.Call.TeamID, "team", time.Time{}))
		w.StartSeries(t, "FREQ=DAILY")
		states := []string{}
		release := func() {
			id := w.LastOccurrence(t)
			w.Clock.Advance(posttest.Day)
			w.Tick(t)
			states = append(states, w.Status(t, id))
		}
		w.Clock.Advance(time.Hour - posttest.Day)
		release()
		w.Do(t, "update_post", map[string]any{"id": w.LastOccurrence(t), "caption": "forbidden"})
		release()
		w.Exec(t, `UPDATE posts SET approval = 'waiting' WHERE id = ?`, w.LastOccurrence(t))
		release()
		release()
		release() // the fifth post in November
		if got := strings.Join(states, ", "); got != "published, failed preflight_blocked, failed waiting "+
			"missed_waiting_approval, published, failed plan_limit_reached" {
			t.Error(got)
		}
		w.Clock.Advance(6 * posttest.Day) // into December, which has posts left
		w.Tick(t)
		release()
		if got := states[len(states)-1]; got != "published" {
			t.Error(got)
		}
	})
}

// If several nodes run a series concurrently, each occurrence is created and published once.
func TestSeriesOnSeveralNodes(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		w.StartSeries(t, "FREQ=DAILY")
		nodes := []*posttest.Env{w.Env}
		for range 2 {
			nodes = append(nodes, posttest.New(t, w.URL, w.Clock, w.Sealer))
		}
		w.Clock.Advance(time.Hour)
		for range 5 {
			var work sync.WaitGroup
			for _, n := range nodes {
				work.Go(func() { n.Tick(t) })
			}
			work.Wait()
			w.Clock.Advance(posttest.Day)
		}
		sent := 0
		for _, n := range nodes {
			sent += len(n.Deliveries.Captions())
		}
		var posts int
		must.NoError(t, w.DB.QueryRow(t.Context(), `SELECT COUNT(*) FROM posts WHERE occurs_at > 0`).Scan(&posts))
		if sent != 5 || posts != 6 {
			t.Errorf("%d sent of %d posts", sent, posts)
		}
	})
}

// If a series is canceled while an occurrence is due, that occurrence may be published, but no later occurrences are
// created.
func TestCancelSeriesWhenDue(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		other := posttest.New(t, w.URL, w.Clock, w.Sealer)
		id := w.StartSeries(t, "FREQ=DAILY")
		w.Clock.Advance(time.Hour)
		for range 8 {
			sent := len(other.Deliveries.Captions())
			var work sync.WaitGroup
			work.Go(func() { other.Tick(t) })
			work.Go(func() { w.Do(t, "cancel_post", map[string]any{"post_id": id}) })
			work.Wait()
			other.Tick(t)
			w.Clock.Advance(posttest.Day)
			other.Tick(t)
			var scheduled int
			must.NoError(t, w.DB.QueryRow(t.Context(), `SELECT COUNT(*) FROM posts
				WHERE status = 'scheduled'`).Scan(&scheduled))
			if n := len(other.Deliveries.Captions()) - sent; scheduled != 0 || n > 1 {
				t.Fatalf("%d scheduled, %d sent: %s", scheduled, n, w.SeriesPosts(t))
			}
			must.Get(w.Repeat(t.Context(), w.Person, id, "FREQ=DAILY", nil))(t)
			w.Clock.Advance(posttest.Day)
		}
	})
}

// If an occurrence is canceled while it is due, or while its series creates the next occurrence, it may be published.
// The series is paused, and no later occurrences are created or published.
func TestConcurrentCancelOccurrence(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		other := posttest.New(t, w.URL, w.Clock, w.Sealer)
		id := w.StartSeries(t, "FREQ=DAILY")
		for i := range 12 {
			sent, first := len(other.Deliveries.Captions()), w.LastOccurrence(t)
			if i%2 == 0 { // the first occurrence is due
				w.Clock.Advance(time.Hour)
			} else { // the second occurrence is created
				w.Exec(t, `UPDATE post_series SET wake_at = 1 WHERE template_id = ?`, id)
			}
			var work sync.WaitGroup
			work.Go(func() { other.Tick(t) })
			work.Go(func() { _, _ = w.Try(t, "cancel_post", map[string]any{"post_id": first}) })
			work.Wait()
			var status string
			must.NoError(t, w.DB.QueryRow(t.Context(), `SELECT status FROM posts WHERE id = ?`, first).Scan(&status))
			if status == "draft" {
				other.Tick(t)
				w.Clock.Advance(2 * posttest.Day)
				other.Tick(t)
				if got := w.Status(t, id); got != "draft" || len(other.Deliveries.Captions()) != sent {
					t.Fatalf("the template is %s, %d sent: %s", got, len(other.Deliveries.Captions())-sent, w.SeriesPosts(t))
				}
			} else {
				w.Do(t, "cancel_post", map[string]any{"post_id": id})
			}
			var scheduled int
			must.NoError(t, w.DB.QueryRow(t.Context(), `SELECT COUNT(*) FROM posts
				WHERE status = 'scheduled'`).Scan(&scheduled))
			if scheduled != 0 {
				t.Fatalf("%d are scheduled: %s", scheduled, w.SeriesPosts(t))
			}
			w.Clock.Advance(2 * posttest.Day)
			must.Get(w.Repeat(t.Context(), w.Person, id, "FREQ=DAILY", nil))(t)
		}
	})
}
