package networks

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
)

// TestRetryLockedVideo retries the post of a video that YouTube keeps private. YouTube has only one video, and the
// post links to it.
func TestRetryLockedVideo(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, database string) {
		t.Parallel()
		w := newEnvAs(t, database, server.RoleAll, 300*time.Millisecond)
		s := w.publish(w.draft("youtube", usual, w.caption("locked", "youtube", "[sandbox:unapproved]"), []int64{w.video}))
		for retries := range 2 {
			if got := w.outcome(s); got != notApproved {
				t.Fatalf("after %d retries: %s", retries, got)
			}
			accounts, _ := w.get("/posts/" + s.id)["accounts"].([]any)
			account, _ := accounts[0].(map[string]any)
			link, _ := account["permalink"].(string)
			if explanation, _ := account["explanation"].(string); !strings.Contains(link, "/watch?v=") ||
				!strings.Contains(explanation, "keeps it private") {
				t.Fatalf("after %d retries: %v", retries, account)
			}
			w.clock.Advance(time.Hour)
			begun := w.call(http.MethodPost, "/posts/"+s.id+"/retry", nil)
			id, _ := begun.Data()["job_id"].(string)
			s.job = "/jobs/" + id
		}
	})
}
