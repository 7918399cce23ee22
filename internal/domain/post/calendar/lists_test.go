package calendar_test

import (
	"slices"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/calendar"
	"pressroom.example/pressroom/internal/domain/post/posttest"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

// ListOverdueDrafts returns overdue drafts, latest first, including occurrences of a paused series.
func TestListOverdueDrafts(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		checkOverdue := func(team int64, want ...string) {
			t.Helper()
			found := must.Get(calendar.ListOverdueDrafts(t.Context(), w.DB, team, w.Clock.Now(), 10))(t)
			got := []string{}
			for _, entry := range found {
				got = append(got, entry.Excerpt)
				if entry.Status != post.Draft || len(entry.Accounts) != 1 || entry.InSeries != (entry.Excerpt == "hello") {
					t.Errorf("%+v", entry)
				}
			}
			if !slices.Equal(got, append([]string{}, want...)) {
				t.Errorf("%v, want %v", got, want)
			}
		}
		series := w.StartSeries(t, "FREQ=DAILY")
		w.Clock.Advance(time.Hour)
		w.Tick(t)
		w.Do(t, "cancel_post", map[string]any{"post_id": series})
		planned := w.Draft(t, "planned", w.Clock.Now().Add(time.Hour))
		w.Draft(t, "without a time", time.Time{})
		w.Draft(t, "still to come", w.Clock.Now().Add(9*posttest.Day))
		checkOverdue(w.Call.TeamID)
		w.Clock.Advance(2 * posttest.Day)
		checkOverdue(w.Call.TeamID, "hello", "planned")
		checkOverdue(w.Call.TeamID + 1)
		w.Do(t, "update_post", map[string]any{"id": planned,
			"scheduled_at": w.Clock.Now().Add(posttest.Day).Format(time.RFC3339)})
		checkOverdue(w.Call.TeamID, "hello")
		w.Do(t, "publish_post", map[string]any{"post_id": w.LastOccurrence(t)})
		checkOverdue(w.Call.TeamID)
	})
}

// ListRecent returns published posts, newest first. It omits drafts, scheduled and failed posts, and posts of other
// teams.
func TestListRecent(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		var sent []string
		for range 3 {
			w.Clock.Advance(time.Hour)
			id := w.Draft(t, "sent", time.Time{})
			w.Do(t, "publish_post", map[string]any{"post_id": id})
			sent = append(sent, id)
		}
		w.Draft(t, "draft", w.Clock.Now().Add(time.Minute))
		later := w.Draft(t, "later", time.Time{})
		w.Do(t, "schedule_post", map[string]any{"post_id": later,
			"scheduled_at": w.Clock.Now().Add(posttest.Day).Format(time.RFC3339)})
		failed := w.Draft(t, "failed", time.Time{})
		w.Exec(t, `UPDATE posts SET status = ?, slot_at = ? WHERE id = ?`, string(post.Failed), db.Micros(w.Clock.Now()), failed)
		slices.Reverse(sent)
		for limit := 1; limit <= 4; limit++ {
			found := must.Get(calendar.ListRecent(t.Context(), w.DB, w.Call.TeamID, w.Clock.Now(), limit))(t)
			var got []string
			for _, entry := range found {
				got = append(got, entry.PostID)
				if entry.Status != post.Published || len(entry.Accounts) != 1 {
					t.Errorf("%+v", entry)
				}
			}
			if !slices.Equal(got, sent[:min(limit, 3)]) {
				t.Errorf("the last %d are %v, want %v", limit, got, sent)
			}
		}
		if found, err := calendar.ListRecent(t.Context(), w.DB, w.Call.TeamID+1, w.Clock.Now(), 5); err != nil || len(found) != 0 {
			t.Errorf("another team has %v (%v)", found, err)
		}
	})
}

// ListFailed returns failed posts after a time, and all unconfirmed posts regardless of their age.
func TestListFailed(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		add := func(text string, status post.Status, age time.Duration, state post.TargetState) {
			t.Helper()
			id := w.Draft(t, text, time.Time{})
			w.Exec(t, `UPDATE posts SET status = ?, slot_at = ? WHERE id = ?`, string(status),
				db.Micros(w.Clock.Now().Add(-age)), id)
			w.Exec(t, `UPDATE post_targets SET state = ? WHERE post_id = ?`, string(state), id)
		}
		add("old and unconfirmed", post.Failed, 30*posttest.Day, post.TargetUnconfirmed)
		add("old", post.Failed, 30*posttest.Day, post.TargetFailed)
		add("on some accounts", post.PartiallyPublished, 2*time.Hour, post.TargetFailed)
		add("failed", post.Failed, time.Hour, post.TargetFailed)
		add("published", post.Published, time.Hour, post.TargetPublished)
		week := w.Clock.Now().Add(-7 * posttest.Day)
		for limit, want := range map[int][]string{
			2: {"failed", "on some accounts"}, 9: {"failed", "on some accounts", "old and unconfirmed"},
		} {
			var got []string
			for _, entry := range must.Get(calendar.ListFailed(t.Context(), w.DB, w.Call.TeamID, week, limit))(t) {
				got = append(got, entry.Excerpt)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
		}
		if other := must.Get(calendar.ListFailed(t.Context(), w.DB, w.Call.TeamID+1, week, 9))(t); len(other) > 0 {
			t.Errorf("another team has %v", other)
		}
	})
}
