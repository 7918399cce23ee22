package post_test

import (
	"slices"
	"testing"
	"time"

	"pressroom/internal/domain/post"
	"pressroom/internal/testkit/must"
)

// Drafts whose time has passed wait for a person, the latest first: also those that pausing a series has made.
func TestPassed(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		passed := func(team int64, want ...string) {
			t.Helper()
			found := must.Get(w.ListOverdueDrafts(t.Context(), team, w.clock.Now(), 10))(t)
			got := []string{}
			for _, slot := range found {
				got = append(got, slot.Excerpt)
				if slot.Status != post.Draft || len(slot.Accounts) != 1 || slot.InSeries != (slot.Excerpt == "hello") {
					t.Errorf("%+v", slot)
				}
			}
			if !slices.Equal(got, append([]string{}, want...)) {
				t.Errorf("%v, want %v", got, want)
			}
		}
		series := w.repeat(t, "FREQ=DAILY")
		w.clock.Advance(time.Hour)
		w.tick(t)
		w.do(t, "cancel_post", map[string]any{"post_id": series})
		planned := w.draft(t, "planned", w.clock.Now().Add(time.Hour))
		w.draft(t, "without a time", time.Time{})
		w.draft(t, "still to come", w.clock.Now().Add(9*day))
		passed(w.call.TeamID)
		w.clock.Advance(2 * day)
		passed(w.call.TeamID, "hello", "planned")
		passed(w.call.TeamID + 1)
		w.do(t, "update_post", map[string]any{"id": planned,
			"scheduled_at": w.clock.Now().Add(day).Format(time.RFC3339)})
		passed(w.call.TeamID, "hello")
		w.do(t, "publish_post", map[string]any{"post_id": w.occurrence(t)})
		passed(w.call.TeamID)
	})
}

// What was sent last comes first; drafts, what is still to come and other teams' posts are not among it.
func TestLately(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		var sent []string
		for range 3 {
			w.clock.Advance(time.Hour)
			id := w.draft(t, "sent", time.Time{})
			w.do(t, "publish_post", map[string]any{"post_id": id})
			sent = append(sent, id)
		}
		w.draft(t, "draft", w.clock.Now().Add(time.Minute))
		later := w.draft(t, "later", time.Time{})
		w.do(t, "schedule_post", map[string]any{"post_id": later,
			"scheduled_at": w.clock.Now().Add(day).Format(time.RFC3339)})
		slices.Reverse(sent)
		for most := 1; most <= 4; most++ {
			found := must.Get(w.ListRecent(t.Context(), w.call.TeamID, w.clock.Now(), most))(t)
			var got []string
			for _, slot := range found {
				got = append(got, slot.PostID)
				if slot.Status != post.Published || len(slot.Accounts) != 1 {
					t.Errorf("%+v", slot)
				}
			}
			if !slices.Equal(got, sent[:min(most, 3)]) {
				t.Errorf("the last %d are %v, want %v", most, got, sent)
			}
		}
		if found, err := w.ListRecent(t.Context(), w.call.TeamID+1, w.clock.Now(), 5); err != nil || len(found) != 0 {
			t.Errorf("another team has %v (%v)", found, err)
		}
	})
}
