package postlist_test

import (
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/post/postlist"
	"pressroom.example/pressroom/internal/testkit/must"
)

// A failed account names the other post of the family that has taken it over: a copy or the original.
func TestFailuresHeldByFamily(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		original := w.Draft(t, "hello", time.Time{})
		fail := func(id string) {
			w.Do(t, "publish_post", map[string]any{"post_id": id})
			w.Exec(t, `UPDATE post_targets SET state = 'failed', published_at = 0 WHERE post_id = ?`, id)
			w.Exec(t, `UPDATE posts SET status = 'failed' WHERE id = ?`, id)
		}
		checkHolder := func(id, want string) {
			t.Helper()
			found := must.Get(postlist.ListFailures(t.Context(), w.DB, w.Call.TeamID, []string{id}))(t)
			if len(found[id]) != 1 || found[id][0].HeldBy != want {
				t.Errorf("failures of %s: %+v, want account held by %q", id, found[id], want)
			}
		}
		fail(original)
		edited, _, err := w.Replace(t.Context(), w.Call.Actor, original)
		must.NoError(t, err)
		checkHolder(original, edited.ID)
		fail(edited.ID)
		checkHolder(original, "")
		checkHolder(edited.ID, "")
		w.Do(t, "retry_post", map[string]any{"post_id": original})
		checkHolder(edited.ID, original)
	})
}
