package post_test

import (
	"slices"
	"testing"
	"time"

	"pressroom/internal/post"
)

// What was sent last comes first; drafts, what is still to come and other teams' posts are not among it.
func TestLately(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		var sent []string
		for range 3 {
			w.clock.Advance(time.Hour)
			id := w.draft(t, "sent", time.Time{})
			w.do(t, "publish_post", map[string]any{"post_id": id})
			sent = append(sent, id)
		}
		w.draft(t, "draft", w.clock.Now().Add(time.Minute))
		later := w.draft(t, "later", time.Time{})
		w.do(t, "schedule_post", map[string]any{"post_id": later, "scheduled_at": w.clock.Now().Add(day).Format(time.RFC3339)})
		slices.Reverse(sent)
		for most := 1; most <= 4; most++ {
			found, err := w.Lately(t.Context(), w.call.TeamID, w.clock.Now(), most)
			must(t, err)
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
		if found, err := w.Lately(t.Context(), w.call.TeamID+1, w.clock.Now(), 5); err != nil || len(found) != 0 {
			t.Errorf("another team has %v (%v)", found, err)
		}
	})
}
