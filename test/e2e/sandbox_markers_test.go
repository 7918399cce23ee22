package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// skipWaits makes waiting deliveries of a post continue immediately.
func (w *env) skipWaits(id string) {
	w.t.Helper()
	const waiting = "post_id = ? AND phase <> 'ended' AND owner = '' AND lease_until = 0 AND not_before > ?"
	now, minute := time.Now().UnixMicro(), time.Minute.Microseconds()
	w.exec("UPDATE delivery_attempts SET started_at = started_at - ?, ended_at = ended_at - ? WHERE ended_at > 0 AND "+
		"delivery_id IN (SELECT id FROM deliveries WHERE "+waiting+")", minute, minute, id, now)
	w.exec("UPDATE deliveries SET not_before = 1, wake_at = 1 WHERE "+waiting, id, now)
}

// publishSkippingWaits publishes a post and skips the waits of its deliveries.
func (w *env) publishSkippingWaits(id string) answer {
	w.t.Helper()
	job := w.full("publish_post", map[string]any{"post_id": id}).text("data.job_id")
	return w.awaitJobSkippingWaits(id, job)
}

func (w *env) awaitJobSkippingWaits(id, job string) answer {
	w.t.Helper()
	var got answer
	w.until("job "+job+" to end", func() bool {
		w.skipWaits(id)
		got = w.full("get_job", map[string]any{"job_id": job})
		return got.at("data.finished") == true
	})
	return got
}

// TestMarkers checks each marker's outcome in the job, in the post and on the network.
func TestMarkers(t *testing.T) {
	t.Parallel()
	withInstance(t, options{}, func(t *testing.T, h *instance) {
		for _, c := range []struct {
			marker                   string
			job, status, state, code string
			published                int
		}{
			{"[sandbox:reject]", "failed", "failed", "failed", "rejected_content", 0},
			{"[sandbox:reject@bluesky]", "failed", "failed", "failed", "rejected_content", 0},
			{"[sandbox:reject@instagram]", "succeeded", "published", "published", "", 1},
			{"[sandbox:error]", "succeeded", "published", "published", "", 1},
			{"[sandbox:lost-answer]", "succeeded", "published", "published", "", 1},
			{"[sandbox:unconfirmed]", "failed", "failed", "unconfirmed", "not_confirmed", 1},
			{"[sandbox:unconfirmed@x]", "succeeded", "published", "published", "", 1},
			{"[sandbox:rate-limit]", "failed", "failed", "failed", "rate_limited", 0},
			{"[sandbox:expired-token]", "failed", "failed", "failed", "account_needs_reauth", 0},
			{"[sandbox:slow=1]", "succeeded", "published", "published", "", 1},
			{"[sandbox:error] [sandbox:lost-answer] [sandbox:slow=1]", "succeeded", "published", "published", "", 1},
		} {
			t.Run(c.marker, func(t *testing.T) {
				t.Parallel()
				w := h.newEnv(t, options{accounts: 1})
				text := "marked " + number(w.team) + ": " + c.marker
				id := w.draft(text)
				job := w.publishSkippingWaits(id)
				want := map[string]any{
					"data.state": c.job, "data.finished": true, "data.result.accounts.0.state": c.state,
					"data.result.accounts.0.error_code": nil, "data.error": nil,
				}
				if c.code != "" {
					want["data.result.accounts.0.error_code"] = c.code
					delete(want, "data.error")
					want["data.error.code"] = c.code
				}
				job.mustHave(t, want)
				w.mustExplain(job, "data.result.accounts.0", c.code)
				post := w.post(id)
				post.mustHave(t, map[string]any{"data.status": c.status, "data.accounts.0.state": c.state, "data.caption": text})
				w.mustExplain(post, "data.accounts.0", c.code)
				if published := w.accountsWith(text); len(published) != c.published {
					t.Errorf("published: %v, want %d", published, c.published)
				}
				again := w.full("publish_post", map[string]any{"post_id": id})
				again.mustHave(t, map[string]any{"data.already_submitted": true, "data.job_id": job.text("data.job_id")})
				if published := w.accountsWith(text); len(published) != c.published {
					t.Errorf("published after publishing again: %v, want %d", published, c.published)
				}
			})
		}
	})
}

// mustExplain checks that a failure is explained in the API's words, and that the network's message is only in
// untrusted_content, outside the data.
func (w *env) mustExplain(got answer, account, code string) {
	w.t.Helper()
	if (got.text(account+".explanation") == "") != (code == "") {
		w.t.Errorf("explanation of %q: %s", code, got.raw)
	}
	said := got.text("untrusted_content.0.text")
	if said != "" && (strings.Contains(got.text("data"), said) ||
		got.text(account+".network_message.untrusted") != got.text("untrusted_content.0.id")) {
		w.t.Errorf("the network's message is part of the data: %s", got.raw)
	}
	if code == "rejected_content" && said == "" {
		w.t.Errorf("the network's message is missing: %s", got.raw)
	}
}

// While a network is slow, the post has the status publishing and rejects every action.
func TestSlowNetwork(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		id := w.draft("in no hurry " + gatedMarker)
		job := w.full("publish_post", map[string]any{"post_id": id}).text("data.job_id")
		w.until("the delivery to start sending", func() bool { return w.post(id).text("data.accounts.0.state") == "sending" })
		w.post(id).mustHave(t, map[string]any{"data.status": "processing"})
		w.full("get_job", map[string]any{"job_id": job}).
			mustHave(t, map[string]any{"data.finished": false, "data.result": nil, "data.finished_at": nil})
		for tool, args := range map[string]map[string]any{
			"cancel_post": {"post_id": id}, "update_post": {"id": id, "caption": "late"},
			"schedule_post": {"post_id": id, "scheduled_at": ahead(time.Hour)},
		} {
			got := w.rest(full(w), tool, args, "")
			got.mustReject(t, http.StatusUnprocessableEntity, "validation_failed", "wrong_state")
			got.mustHave(t, map[string]any{"context.state": "processing"})
		}
		w.full("publish_post", map[string]any{"post_id": id}).
			mustHave(t, map[string]any{"data.already_submitted": true, "data.job_id": job, "data.finished": false})
		w.full("retry_post", map[string]any{"post_id": id}).
			mustHave(t, map[string]any{"data.skipped.0.reason": "not_failed", "data.job_id": job})
		if published := w.accountsWith("in no hurry"); len(published) != 0 {
			t.Errorf("published too early: %v", published)
		}
		w.open()
		w.awaitJob(job).mustHave(t, map[string]any{"data.state": "succeeded"})
		if published := w.accountsWith("in no hurry"); len(published) != 1 {
			t.Errorf("published: %v", published)
		}
	})
}

// Posts of a disconnected account are blocked. After the account was reconnected, a retry publishes the post once.
func TestReconnect(t *testing.T) {
	t.Parallel()
	withEnv(t, options{}, func(t *testing.T, w *env) {
		next := w.draft("the next post")
		id := w.draft("after all [sandbox:expired-token]")
		w.publishSkippingWaits(id).mustHave(t, map[string]any{"data.error.code": "account_needs_reauth"})
		w.full("list_social_accounts", map[string]any{"active_only": false}).mustHave(t, map[string]any{
			"data.social_accounts.1.id": w.accounts[0], "data.social_accounts.1.active": false,
			"data.social_accounts.1.connection_state": "lost",
			"data.social_accounts.1.account_status":   "needs_reauth",
			"data.social_accounts.1.connection_probe": "refused", "data.social_accounts.0.active": true,
		})
		w.full("validate_post", map[string]any{"post_id": next}).
			mustHave(t, map[string]any{"data.problems.0.code": "account_inactive", "data.problems.0.blocking": true})
		w.rest(full(w), "publish_post", map[string]any{"post_id": next}, "").
			mustReject(t, http.StatusUnprocessableEntity, "preflight_blocked", "")
		w.rest(full(w), "schedule_post", map[string]any{"post_id": next, "scheduled_at": ahead(time.Hour)}, "").
			mustReject(t, http.StatusUnprocessableEntity, "preflight_blocked", "")
		if again := w.connect(w.team, "harbour.test"); again != w.accounts[0] {
			t.Fatalf("reconnected as a different account, %d", again)
		}
		w.full("list_social_accounts", nil).
			mustHave(t,
				map[string]any{
					"data.social_accounts.1.connection_state": "connected",
					"data.social_accounts.1.account_status":   nil, "data.social_accounts.1.connection_probe": nil,
				})
		w.full("validate_post", map[string]any{"post_id": next}).mustHave(t, map[string]any{"data.problems": "[]"})
		retry := w.full("retry_post", map[string]any{"post_id": id})
		w.awaitJob(retry.text("data.job_id")).mustHave(t, map[string]any{"data.state": "succeeded"})
		w.post(id).
			mustHave(t, map[string]any{"data.status": "published", "data.accounts.0.error_code": nil, "data.accounts.0.retries_left": 0})
		w.publish(next)
		for _, text := range []string{"after all", "the next post"} {
			if published := w.accountsWith(text); len(published) != 1 {
				t.Errorf("%s: published %v", text, published)
			}
		}
	})
}

// A rejected post can be retried three times per account, at least a minute apart.
func TestRetriesRunOut(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		id := w.publishPost("[sandbox:reject] each time")
		for left := 2; left >= 0; left-- {
			got := w.full("retry_post", map[string]any{"post_id": id})
			got.mustHave(t, map[string]any{"data.skipped": "[]"})
			w.awaitJob(got.text("data.job_id")).mustHave(t, map[string]any{"data.state": "failed", "data.error.code": "rejected_content"})
			w.post(id).mustHave(t, map[string]any{"data.status": "failed", "data.accounts.0.retries_left": left})
			if left > 0 {
				w.full("retry_post", map[string]any{"post_id": id}).
					mustHave(t, map[string]any{"data.skipped.0.reason": "retried_moments_ago"})
			}
			w.exec("UPDATE post_targets SET retried_at = retried_at - 60000000 WHERE post_id = ?", id)
		}
		w.full("retry_post", map[string]any{"post_id": id}).mustHave(t, map[string]any{"data.skipped.0.reason": "no_retries_left"})
		if published := w.accountsWith("each time"); len(published) != 0 {
			t.Errorf("published: %v", published)
		}
	})
}
