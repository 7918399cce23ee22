package post_test

import (
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/post/due"
	"pressroom.example/pressroom/internal/domain/post/posttest"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/testkit/must"
)

// An overdue post is late if its team may publish, and blocked otherwise.
func TestLatePosts(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		first := posttest.Noon.Add(posttest.Day)
		for _, at := range []time.Time{first, first.Add(time.Hour), first.Add(2 * posttest.Day)} {
			id := w.Draft(t, "late", time.Time{})
			w.Do(t, "schedule_post", map[string]any{"post_id": id, "scheduled_at": at.Format(time.RFC3339)})
		}
		wantLate := func(before time.Time, want due.LateCount) {
			t.Helper()
			got := must.Get(due.CountLate(t.Context(), w.DB, before))(t)
			if !got.Oldest.Equal(want.Oldest) || got.Posts != want.Posts || got.Blocked != want.Blocked {
				t.Errorf("before %s: %+v, want %+v", before, got, want)
			}
		}
		wantLate(first, due.LateCount{})
		wantLate(first.Add(posttest.Day), due.LateCount{Posts: 2, Oldest: first})
		must.NoError(t, w.Teams.Pause(t.Context(), team.Pause{Scope: team.ForTeam, Target: w.Call.TeamID,
			Action: access.PausePublishing}))
		wantLate(first.Add(posttest.Day), due.LateCount{Blocked: 2})
	})
}
