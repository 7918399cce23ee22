package e2e

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/server"
)

// jobLimit returns a catalog that allows n running jobs per team.
func jobLimit(n int) *plan.Catalog {
	t := ampleCatalog()
	t.Limits.JobsInFlight = n
	return t
}

// gatedDrafts creates n drafts whose publication waits for the instance's gate.
func (w *env) gatedDrafts(n int) []string {
	w.t.Helper()
	ids := []string{}
	for i := range n {
		ids = append(ids, w.draft(fmt.Sprintf("in flight %d %s", i, gatedMarker)))
	}
	return ids
}

// With a limit of two running jobs, a third publish is rejected until a job finishes, for every key, over REST and
// MCP. The rejection does not change the post.
func TestJobsInFlight(t *testing.T) {
	t.Parallel()
	o := options{catalog: jobLimit(2)}
	withInstance(t, o, func(t *testing.T, h *instance) {
		w, other := h.newEnv(t, o), h.newEnv(t, o)
		failed := w.publishPost("[sandbox:reject]")
		ids := w.gatedDrafts(3)
		jobs := []string{}
		for _, id := range ids[:2] {
			jobs = append(jobs, w.full("publish_post", map[string]any{"post_id": id}).text("data.job_id"))
		}
		third := map[string]any{"post_id": ids[2]}
		for _, call := range []edgeCall{w.rest, w.tool} {
			call(full(w), "publish_post", third, "a key").mustBeRateLimited(t, "jobs_in_flight", 5)
			call(full(w), "retry_post", map[string]any{"post_id": failed}, "").mustBeRateLimited(t, "jobs_in_flight", 5)
		}
		w.post(ids[2]).mustHave(t, map[string]any{"data.status": "draft"})
		w.post(failed).mustHave(t, map[string]any{"data.status": "failed", "data.accounts.0.retries_left": 3})
		if n := w.count("idempotency_records WHERE key_id IN (SELECT id FROM api_keys WHERE team_id = ?)", w.team); n != 0 {
			t.Errorf("the rejected call used the Idempotency-Key")
		}
		// Running jobs, other teams and calls without a job are not affected.
		again := w.full("publish_post", map[string]any{"post_id": ids[0]})
		again.mustHave(t, map[string]any{"data.already_submitted": true, "data.job_id": jobs[0]})
		w.full("schedule_post", map[string]any{"post_id": ids[2], "scheduled_at": ahead(48 * time.Hour)})
		w.full("cancel_post", third)
		other.publishPost("of another team")
		h.open()
		w.awaitJob(jobs[0])
		w.awaitJob(jobs[1])
		w.awaitJob(w.rest(full(w), "publish_post", third, "a key").text("data.job_id")).
			mustHave(t, map[string]any{"data.state": "succeeded"})
	})
}

// A due post is published regardless of the limit of running jobs, and does not count as a running job.
func TestScheduledPostsNeedNoSlot(t *testing.T) {
	t.Parallel()
	o := options{catalog: jobLimit(1), accounts: 1}
	withInstance(t, o, func(t *testing.T, h *instance) {
		w := h.newEnv(t, o)
		busy := w.gatedDrafts(2)
		job := w.full("publish_post", map[string]any{"post_id": busy[0]}).text("data.job_id")
		due := w.schedulePost("its time has come "+gatedMarker, 48*time.Hour)
		w.makeDue(due)
		w.until("the due post to be handed over", func() bool { return w.post(due).text("data.status") == "processing" })
		w.rest(full(w), "publish_post", map[string]any{"post_id": busy[1]}, "").mustBeRateLimited(t, "jobs_in_flight", 5)
		w.exec("UPDATE jobs SET finished_at = 1, state = 'failed' WHERE id = ?", job)
		w.rest(full(w), "publish_post", map[string]any{"post_id": busy[1]}, "").mustBe(t, http.StatusAccepted)
		h.open()
		w.until("the due post to go out", func() bool { return w.post(due).text("data.status") == "published" })
	})
}

// Concurrent publishes on two nodes do not exceed the limit of running jobs.
func TestConcurrentPublishWithinJobLimit(t *testing.T) {
	t.Parallel()
	o := options{catalog: jobLimit(3), accounts: 1}
	withInstance(t, o, func(t *testing.T, h *instance) {
		_, root := h.start(o, server.RoleAPI)
		bases := []string{h.base, root + "/api/v1"}
		w := h.newEnv(t, o)
		ids := w.gatedDrafts(12)
		accepted := 0
		for _, got := range w.callConcurrently(len(ids), func(i int) (answer, error) {
			idem := ""
			if i%3 == 0 {
				idem = fmt.Sprint("key ", i)
			}
			return w.tryRest(bases[i%2], full(w), "publish_post", map[string]any{"post_id": ids[i]}, idem)
		}) {
			if got.status == http.StatusAccepted {
				accepted++
				continue
			}
			got.mustBeRateLimited(t, "jobs_in_flight", 5)
		}
		if n := w.count("jobs WHERE team_id = ? AND finished_at = 0", w.team); accepted != 3 || n != 3 {
			t.Errorf("%d publishes accepted and %d jobs running, want 3", accepted, n)
		}
		h.open()
		w.until("the jobs to end", func() bool { return w.count("jobs WHERE team_id = ? AND finished_at = 0", w.team) == 0 })
		w.publish(w.draft("afterwards"))
	})
}
