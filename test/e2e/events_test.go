package e2e

import (
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
)

// The event of a change has its actor, key and request ID. It contains no text written by people.
func TestEventActors(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		const text = "words that are nobody else's business"
		id := w.draft(text)
		args := map[string]any{"post_id": id}
		told := func(kind string, got answer) {
			t.Helper()
			n := w.count("events WHERE team_id = ? AND kind = ? AND subject = ? AND person_id = ? AND key_id = ? AND request_id = ?",
				w.team, kind, id, w.owner, w.keyIDs[access.Full], got.text("meta.request_id"))
			if n != 1 {
				t.Errorf("%d events %q of request %s: %s", n, kind, got.text("meta.request_id"), got.raw)
			}
		}
		told("post.changed", w.full("update_post", map[string]any{"id": id, "caption": text + "!"}))
		told("post.scheduled", w.full("schedule_post", map[string]any{"post_id": id, "scheduled_at": ahead(48 * time.Hour)}))
		told("post.cancelled", w.tool(full(w), "cancel_post", args, ""))
		handed := w.full("publish_post", args)
		told("post.handed_over", handed)
		w.awaitJob(handed.text("data.job_id"))
		for kind, want := range map[string]int{"post.created": 1, "post.account_published": 1} {
			if n := w.count("events WHERE team_id = ? AND kind = ? AND subject = ?", w.team, kind, id); n != want {
				t.Errorf("%d events %q, want %d", n, kind, want)
			}
		}
		for row := range w.texts(footprintOf[2], w.team) {
			if strings.Contains(row, "nobody else's") || strings.Contains(row, full(w)) {
				t.Errorf("an event contains a text or a key: %s", row)
			}
		}
		// The table rejects updates and deletions.
		for _, change := range []string{"DELETE FROM events", "UPDATE events SET kind = 'nothing'"} {
			if err := w.tryExec(change); err == nil {
				t.Errorf("the statement succeeded: %s", change)
			}
		}
		if n := w.count("events WHERE team_id = ? AND kind = 'nothing'", w.team); n != 0 {
			t.Errorf("%d events were changed", n)
		}
	})
}
