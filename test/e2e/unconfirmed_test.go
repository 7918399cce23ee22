package e2e

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// If a network's response is lost and the network cannot be queried, the account's outcome is unconfirmed, and the
// post is not sent again.
func TestUnconfirmed(t *testing.T) {
	t.Parallel()
	withEnv(t, options{}, func(t *testing.T, w *env) {
		silent := func(rw http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/com.atproto.repo.getRecord") {
				return false
			}
			rw.WriteHeader(http.StatusServiceUnavailable)
			return true
		}
		w.inject.Store(&silent)
		id := w.draft("is it there? [sandbox:lost-answer]")
		job := w.publishSkippingWaits(id)
		job.mustHave(t,
			map[string]any{
				"data.state": "failed", "data.error.code": "not_confirmed",
				"data.result.accounts.0.state": "unconfirmed", "data.result.accounts.0.error_code": "not_confirmed",
			})
		w.post(id).
			mustHave(t,
				map[string]any{
					"data.status": "failed", "data.accounts.0.state": "unconfirmed", "data.accounts.0.error_code": "not_confirmed",
				})
		for _, args := range []map[string]any{{"post_id": id}, {"post_id": id, "account_ids": w.accounts[:1]}} {
			w.full("retry_post", args).
				mustHave(t, map[string]any{"data.skipped.0.reason": "unconfirmed", "data.job_id": job.text("data.job_id")})
		}
		w.full("publish_post", map[string]any{"post_id": id}).
			mustHave(t, map[string]any{"data.already_submitted": true, "data.job_id": job.text("data.job_id")})
		if held := w.accountsWith("is it there?"); len(held) != 1 {
			t.Fatalf("held: %v", held)
		}
		w.inject.Store(nil)
		w.until("the network to be asked again", func() bool {
			w.exec("UPDATE deliveries SET wake_at = 1 WHERE post_id = ? AND phase = 'doubtful' AND wake_at > ? AND "+
				"lease_until = 0", id, time.Now().UnixMicro())
			return w.post(id).text("data.status") == "published"
		})
		w.post(id).mustHave(t, map[string]any{"data.accounts.0.state": "published", "data.accounts.0.error_code": nil})
		w.full("get_job", map[string]any{"job_id": job.text("data.job_id")}).
			mustHave(t, map[string]any{"data.state": "succeeded", "data.error": nil, "data.result.accounts.0.state": "published"})
		w.full("retry_post", map[string]any{"post_id": id}).mustHave(t, map[string]any{"data.skipped.0.reason": "not_failed"})
		if held := w.accountsWith("is it there?"); len(held) != 1 {
			t.Errorf("held: %v", held)
		}
	})
}

// If the network is unreachable, nothing is sent. The account fails and can be retried.
func TestNetworkUnreachable(t *testing.T) {
	t.Parallel()
	withEnv(t, options{}, func(t *testing.T, w *env) {
		down := func(rw http.ResponseWriter, r *http.Request) bool {
			if !strings.HasPrefix(r.URL.Path, "/bluesky/xrpc/com.atproto.repo.putRecord") {
				return false
			}
			rw.Header().Set("Content-Type", "application/json")
			rw.WriteHeader(http.StatusTooManyRequests)
			return true
		}
		w.inject.Store(&down)
		id := w.draft("out of reach", w.accounts...)
		w.publishSkippingWaits(id).
			mustHave(t,
				map[string]any{
					"data.state": "failed", "data.error.code": "rate_limited", "data.progress.done": 2, "data.progress.total": 2,
				})
		w.post(id).mustHave(t, map[string]any{"data.status": "failed"})
		w.inject.Store(nil)
		retry := w.full("retry_post", map[string]any{"post_id": id})
		retry.mustHave(t, map[string]any{"data.skipped": "[]", "data.progress.total": 2})
		w.awaitJob(retry.text("data.job_id")).mustHave(t, map[string]any{"data.state": "succeeded"})
		if held := w.accountsWith("out of reach"); len(held) != 2 {
			t.Errorf("held: %v", held)
		}
	})
}

// A network that keeps failing is called a limited number of times, with pauses.
func TestNetworkFailsRepeatedly(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		var commits atomic.Int64
		failing := func(rw http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/com.atproto.repo.putRecord") {
				return false
			}
			commits.Add(1)
			rw.WriteHeader(http.StatusInternalServerError)
			return true
		}
		w.inject.Store(&failing)
		t.Cleanup(func() { w.inject.Store(nil) }) // so that endless retries end
		id := w.draft("failing")
		job := w.full("publish_post", map[string]any{"post_id": id}).text("data.job_id")
		w.until("the job to end, or to go on without end", func() bool {
			w.skipWaits(id)
			return commits.Load() > 20 || w.full("get_job", map[string]any{"job_id": job}).at("data.finished") == true
		})
		if n := commits.Load(); n > 20 {
			t.Fatalf("the network was called %d times and the job has not ended", n)
		}
		w.awaitJob(job).
			mustHave(t,
				map[string]any{"data.state": "failed", "data.error.code": "network_error", "data.result.accounts.0.state": "failed"})
		w.inject.Store(nil)
		retry := w.full("retry_post", map[string]any{"post_id": id})
		w.awaitJob(retry.text("data.job_id")).mustHave(t, map[string]any{"data.state": "succeeded"})
		if held := w.accountsWith("failing"); len(held) != 1 {
			t.Errorf("held: %v", held)
		}
	})
}

// If a scheduled post is not permitted to be published at its due time, it fails on every account and is not sent.
func TestDuePostNotPermitted(t *testing.T) {
	t.Parallel()
	withInstance(t, options{}, func(t *testing.T, h *instance) {
		for name, c := range map[string]struct {
			change func(w *env, id string)
			code   string
		}{
			"waiting": {func(w *env, id string) {
				w.exec("UPDATE posts SET approval = 'approved' WHERE id = ?", id)
				w.full("update_post",
					map[string]any{"id": id, "caption": "withheld from " + number(w.team) + ", changed"}).
					mustHave(w.t, map[string]any{"data.status": "scheduled", "data.approval": "waiting"})
			}, "missed_waiting_approval"},
			"rejected": {func(w *env, id string) {
				w.exec("UPDATE posts SET approval = 'rejected' WHERE id = ?", id)
			}, "missed_waiting_approval"},
			"too long": {func(w *env, id string) {
				got := w.full("update_post", map[string]any{"id": id, "caption": "withheld from " + number(w.team) + " " + words(301)})
				got.mustHave(w.t, map[string]any{"data.status": "scheduled", "data.problems.0.code": "caption_too_long"})
			}, "preflight_blocked"},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := h.newEnv(t, options{})
				text := "withheld from " + number(w.team)
				id := w.draft(text, w.accounts...)
				w.full("schedule_post", map[string]any{"post_id": id, "scheduled_at": ahead(time.Hour)})
				c.change(w, id)
				w.makeDue(id)
				w.until("the post to fail", func() bool { return w.post(id).text("data.status") == "failed" })
				got := w.post(id)
				got.mustHave(t,
					map[string]any{
						"data.accounts.0.error_code": c.code, "data.accounts.1.error_code": c.code,
						"data.accounts.0.state": "failed", "data.published_at": nil,
					})
				if got.text("data.accounts.0.explanation") == "" {
					t.Errorf("no explanation: %s", got.raw)
				}
				if n := w.count("jobs WHERE team_id = ? AND state = 'failed' AND error_code = '"+c.code+"'", w.team); n != 1 {
					t.Errorf("%d failed jobs, want 1", n)
				}
				if held := w.accountsWith(text); len(held) != 0 {
					t.Errorf("held: %v", held)
				}
			})
		}
	})
}

// If an account was disconnected after the post was scheduled, only that account fails.
func TestAccountDisconnectedWhenDue(t *testing.T) {
	t.Parallel()
	withEnv(t, options{}, func(t *testing.T, w *env) {
		id := w.draft("half of it", w.accounts...)
		w.full("schedule_post", map[string]any{"post_id": id, "scheduled_at": ahead(time.Hour)})
		w.exec("UPDATE social_accounts SET connection_state = 'lost' WHERE id = ?", w.accounts[0])
		w.makeDue(id)
		w.until("the post to go out", func() bool { return w.post(id).text("data.status") == "partially_published" })
		got := w.post(id)
		got.mustHave(t, map[string]any{"data.accounts.0.error_code": "account_needs_reauth", "data.accounts.1.state": "published"})
		if held := w.accountsWith("half of it"); len(held) != 1 || held[0] != "second.test" {
			t.Errorf("held: %v", held)
		}
		for _, status := range []string{"partially_published", "published"} {
			want := 0
			if status == "partially_published" {
				want = 1
			}
			if n := len(w.full("list_posts", map[string]any{"status": status}).list("data.posts")); n != want {
				t.Errorf("%d posts are %s", n, status)
			}
		}
	})
}
