package e2e

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/server"
)

// Of twenty concurrent publish calls on two nodes, one submits the post. The other responses say so, and each
// account publishes once.
func TestConcurrentPublish(t *testing.T) {
	t.Parallel()
	withInstance(t, options{}, func(t *testing.T, h *instance) {
		_, root := h.start(options{}, server.RoleAll)
		bases := []string{h.base, root + "/api/v1"}
		w := h.newEnv(t, options{})
		id := w.draft("all at once", w.accounts...)
		first, jobs := 0, map[string]bool{}
		for _, got := range w.callConcurrently(20, func(i int) (answer, error) {
			return w.tryRest(bases[i%2], full(w), "publish_post", map[string]any{"post_id": id}, "")
		}) {
			got.mustBe(t, http.StatusAccepted)
			jobs[got.text("data.job_id")] = true
			if got.at("data.already_submitted") == false {
				first++
			}
		}
		if first != 1 || len(jobs) != 1 {
			t.Fatalf("%d calls submitted the post; jobs %v", first, jobs)
		}
		for job := range jobs {
			w.awaitJob(job).mustHave(t, map[string]any{"data.state": "succeeded", "data.progress.total": 2})
		}
		if held := w.accountsWith("all at once"); len(held) != 2 || held[0] == held[1] {
			t.Errorf("held: %v", held)
		}
		if n := w.count("deliveries WHERE post_id = ?", id); n != 2 {
			t.Errorf("%d deliveries, want 2", n)
		}
	})
}

// If cancel and publish run concurrently, publish always succeeds, because a cancelled post is a draft that can be
// published. The response to cancel shows which call came first.
func TestConcurrentCancelAndPublish(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		for round := range 10 {
			text := fmt.Sprintf("round %d of cancel and publish", round)
			id := w.schedulePost(text, 48*time.Hour)
			tools := []string{"cancel_post", "publish_post"}
			answers := w.callConcurrently(2, func(i int) (answer, error) {
				return w.tryRest(w.base, full(w), tools[i], map[string]any{"post_id": id}, "")
			})
			cancelled, published := answers[0], answers[1]
			published.mustBe(t, http.StatusAccepted)
			published.mustHave(t, map[string]any{"data.already_submitted": false})
			if cancelled.status == http.StatusOK {
				cancelled.mustHave(t, map[string]any{"data.status": "draft"})
			} else {
				w.mustBeTooLate(cancelled)
			}
			w.awaitJob(published.text("data.job_id")).mustHave(t, map[string]any{"data.state": "succeeded"})
			cancelledFirst := w.count("events WHERE subject = ? AND kind = 'post.cancelled'", id) == 1
			if cancelledFirst != (cancelled.status == http.StatusOK) {
				t.Errorf("cancel returned %d, but by the events it came first: %t", cancelled.status, cancelledFirst)
			}
			if held := w.accountsWith(text); len(held) != 1 {
				t.Errorf("held: %v", held)
			}
		}
	})
}

// mustBeTooLate checks the error of a call that came after the post was submitted.
func (w *env) mustBeTooLate(got answer) {
	w.t.Helper()
	got.mustReject(w.t, http.StatusUnprocessableEntity, "validation_failed", "wrong_state")
	if state := got.text("context.state"); state != "processing" && state != "published" {
		w.t.Errorf("state %q: %s", state, got.raw)
	}
}

// makeDue makes scheduled posts due immediately.
func (w *env) makeDue(ids ...string) {
	w.t.Helper()
	for _, id := range ids {
		w.exec("UPDATE posts SET scheduled_at = ?, slot_at = ? WHERE id = ? AND status = 'scheduled'", time.Now().
			UnixMicro(), time.Now().UnixMicro(), id)
	}
}

// race makes a call for each post while the server publishes the due posts.
func (w *env) race(ids []string, call func(id string) (answer, error)) []answer {
	w.t.Helper()
	w.makeDue(ids...)
	return w.callConcurrently(2*len(ids), func(i int) (answer, error) {
		if id := ids[i/2]; i%2 == 1 {
			return call(id)
		}
		return answer{}, w.Posts.Release(w.t.Context(), ids[i/2])
	})
}

func (w *env) manyScheduled(text string, n int) []string {
	w.t.Helper()
	ids := []string{}
	for i := range n {
		ids = append(ids, w.schedulePost(fmt.Sprintf("%s %d.", text, i), 48*time.Hour))
	}
	return ids
}

// A post that is cancelled at its due time stays a draft and is not published. If the cancellation is rejected
// instead, the post is published once.
func TestCancelAtDueTime(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		ids := w.manyScheduled("cancelled when due", 16)
		answers := w.race(ids, func(id string) (answer, error) {
			return w.tryRest(w.base, full(w), "cancel_post", map[string]any{"post_id": id}, "")
		})
		for i, id := range ids {
			cancelled := answers[2*i+1]
			want := 0
			if cancelled.status != http.StatusOK {
				w.mustBeTooLate(cancelled)
				w.until("the post to be published", func() bool { return w.post(id).text("data.status") == "published" })
				want = 1
			} else if got := w.post(id); got.text("data.status") != "draft" {
				t.Errorf("published after it was cancelled: %s", got.raw)
			}
			if held := w.accountsWith(fmt.Sprintf("cancelled when due %d.", i)); len(held) != want {
				t.Errorf("cancel returned %d, published on %v", cancelled.status, held)
			}
		}
		if n := w.count("deliveries WHERE team_id = ? AND post_id IN (SELECT id FROM posts WHERE status = 'draft')", w.team); n != 0 {
			t.Errorf("%d drafts were submitted", n)
		}
	})
}

// A post that is published by a call at its due time is submitted once. The response shows who submitted it.
func TestPublishAtDueTime(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		ids := w.manyScheduled("published when due", 10)
		answers := w.race(ids, func(id string) (answer, error) {
			return w.tryRest(w.base, full(w), "publish_post", map[string]any{"post_id": id}, "")
		})
		for i, id := range ids {
			published := answers[2*i+1]
			published.mustBe(t, http.StatusAccepted)
			w.awaitJob(published.text("data.job_id")).mustHave(t, map[string]any{"data.state": "succeeded"})
			// The event has a key if the call submitted the post, but not if the scheduler did.
			byCall := w.count("events WHERE subject = ? AND kind = 'post.handed_over' AND key_id > 0", id) == 1
			if byCall == (published.at("data.already_submitted") == true) {
				t.Errorf("submitted by the call, according to the events: %t; response: %s", byCall, published.raw)
			}
			if held := w.accountsWith(fmt.Sprintf("published when due %d.", i)); len(held) != 1 {
				t.Errorf("held: %v", held)
			}
		}
		if n := w.count("deliveries WHERE team_id = ?", w.team); n != len(ids) {
			t.Errorf("%d deliveries, want %d", n, len(ids))
		}
	})
}

// A post that is changed at its due time is published with the new text only if the change succeeded.
func TestUpdateAtDueTime(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		ids := w.manyScheduled("old text", 16)
		answers := w.race(ids, func(id string) (answer, error) {
			return w.tryRest(w.base, full(w), "update_post", map[string]any{"id": id, "caption": "new text of " + id}, "")
		})
		for i, id := range ids {
			w.until("the post to be published", func() bool { return w.post(id).text("data.status") == "published" })
			changed := answers[2*i+1]
			before, after := len(w.accountsWith(fmt.Sprintf("old text %d.", i))), len(w.accountsWith("new text of "+id))
			switch {
			case changed.status == http.StatusOK && (before != 0 || after != 1):
				t.Errorf("changed, but published %d old and %d new posts", before, after)
			case changed.status != http.StatusOK && (before != 1 || after != 0):
				w.mustBeTooLate(changed)
				t.Errorf("not changed, but published %d old and %d new posts", before, after)
			}
		}
	})
}

// Of ten concurrent retries, one sends the post to the account again. The others report the account as skipped.
func TestConcurrentRetries(t *testing.T) {
	t.Parallel()
	withEnv(t, options{}, func(t *testing.T, w *env) {
		aFailedPost(w)
		id := w.note("post")
		sent, jobs := 0, map[string]bool{}
		for _, got := range w.callConcurrently(10, func(int) (answer, error) {
			return w.tryRest(w.base, full(w), "retry_post", map[string]any{"post_id": id}, "")
		}) {
			got.mustBe(t, http.StatusAccepted)
			jobs[got.text("data.job_id")] = true
			if len(got.list("data.skipped")) == 0 {
				sent++
			} else if reason := got.text("data.skipped.0.reason"); reason != "not_failed" && reason != "retried_moments_ago" {
				t.Errorf("skipped because %s", reason)
			}
		}
		if sent != 1 || len(jobs) != 1 {
			t.Fatalf("%d retries sent the post; jobs %v", sent, jobs)
		}
		for job := range jobs {
			w.awaitJob(job).mustHave(t, map[string]any{"data.state": "succeeded"})
		}
		w.post(id).mustHave(t, map[string]any{"data.status": "published", "data.accounts.0.retries_left": 0})
		if n := w.count("deliveries WHERE post_id = ?", id); n != 2 {
			t.Errorf("%d deliveries, want 2", n)
		}
	})
}

// If the plan allows one more post this month, only one of several concurrent calls succeeds.
func TestConcurrentLastPostOfMonth(t *testing.T) {
	t.Parallel()
	withInstance(t, options{}, func(t *testing.T, h *instance) {
		w := h.newEnv(t, options{plan: smallPlan, accounts: 1})
		fill(oneMonth, 19)(w)
		ids := []string{}
		for range 6 {
			ids = append(ids, w.draft("who gets it"))
		}
		won := 0
		for _, got := range w.callConcurrently(len(ids), func(i int) (answer, error) {
			return w.tryRest(w.base, w.keys[access.Full], "schedule_post",
				map[string]any{"post_id": ids[i], "scheduled_at": stamp(oneMonth())}, "")
		}) {
			if got.status == http.StatusOK {
				won++
				continue
			}
			got.mustReject(t, http.StatusForbidden, "plan_limit_reached", "")
		}
		if won != 1 {
			t.Errorf("%d posts were scheduled, want 1", won)
		}
	})
}
