package e2e

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"pressroom/internal/core/access"
	"pressroom/internal/server"
)

// Of twenty concurrent publishes on two nodes, one submits the post, the others say so, and each account publishes
// once.
func TestConcurrentPublish(t *testing.T) {
	t.Parallel()
	withInstance(t, options{}, func(t *testing.T, h *instance) {
		_, root := h.start(options{}, server.RoleAll)
		bases := []string{h.base, root + "/api/v1"}
		w := h.newEnv(t, options{})
		id := w.draft("all at once", w.accounts...)
		first, jobs := 0, map[string]bool{}
		for _, got := range w.together(20, func(i int) (answer, error) {
			return w.tryRest(bases[i%2], full(w), "publish_post", map[string]any{"post_id": id}, "")
		}) {
			got.mustBe(t, http.StatusAccepted)
			jobs[got.text("data.job_id")] = true
			if got.at("data.already_submitted") == false {
				first++
			}
		}
		if first != 1 || len(jobs) != 1 {
			t.Fatalf("%d calls say that they were the first; jobs %v", first, jobs)
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

// Cancel and publish at once: publish always succeeds in the end, because a cancelled post is a draft that may be
// published; the response to cancel shows the order.
func TestConcurrentCancelAndPublish(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		for round := range 10 {
			text := fmt.Sprintf("round %d of cancel and publish", round)
			id := w.schedulePost(text, 48*time.Hour)
			tools := []string{"cancel_post", "publish_post"}
			answers := w.together(2, func(i int) (answer, error) {
				return w.tryRest(w.base, full(w), tools[i], map[string]any{"post_id": id}, "")
			})
			cancelled, published := answers[0], answers[1]
			published.mustBe(t, http.StatusAccepted)
			published.mustHave(t, map[string]any{"data.already_submitted": false})
			if cancelled.status == http.StatusOK {
				cancelled.mustHave(t, map[string]any{"data.status": "draft"})
			} else {
				w.mustBeHandedOver(cancelled)
			}
			w.awaitJob(published.text("data.job_id")).mustHave(t, map[string]any{"data.state": "succeeded"})
			cancelledFirst := w.count("events WHERE subject = ? AND kind = 'post.cancelled'", id) == 1
			if cancelledFirst != (cancelled.status == http.StatusOK) {
				t.Errorf("cancel answered %d, and the events say %t", cancelled.status, cancelledFirst)
			}
			if held := w.accountsWith(text); len(held) != 1 {
				t.Errorf("held: %v", held)
			}
		}
	})
}

// mustBeHandedOver checks the refusal of a call that came too late.
func (w *env) mustBeHandedOver(got answer) {
	w.t.Helper()
	got.mustRefuse(w.t, http.StatusUnprocessableEntity, "validation_failed", "wrong_state")
	if state := got.text("context.state"); state != "processing" && state != "published" {
		w.t.Errorf("the state is %q: %s", state, got.raw)
	}
}

// due makes scheduled posts due now.
func (w *env) due(ids ...string) {
	w.t.Helper()
	for _, id := range ids {
		w.exec("UPDATE posts SET scheduled_at = ?, slot_at = ? WHERE id = ? AND status = 'scheduled'", time.Now().
			UnixMicro(), time.Now().UnixMicro(), id)
	}
}

// race makes a call for each of some posts while the program publishes them because they are due.
func (w *env) race(ids []string, call func(id string) (answer, error)) []answer {
	w.t.Helper()
	w.due(ids...)
	return w.together(2*len(ids), func(i int) (answer, error) {
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

// Cancel at the due time: a cancelled post stays a draft and is never published; if cancelling is refused, it is
// published once.
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
				w.mustBeHandedOver(cancelled)
				w.until("the post to be published", func() bool { return w.post(id).text("data.status") == "published" })
				want = 1
			} else if got := w.post(id); got.text("data.status") != "draft" {
				t.Errorf("cancelled, and yet: %s", got.raw)
			}
			if held := w.accountsWith(fmt.Sprintf("cancelled when due %d.", i)); len(held) != want {
				t.Errorf("cancel answered %d and the network holds %v", cancelled.status, held)
			}
		}
		if n := w.count("deliveries WHERE team_id = ? AND post_id IN (SELECT id FROM posts WHERE status = 'draft')", w.team); n != 0 {
			t.Errorf("%d drafts were handed over", n)
		}
	})
}

// Publish at the due time: either the call or the program submits the post, and the response shows which.
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
			// An event of a call has its key; an event of the program has none.
			byCall := w.count("events WHERE subject = ? AND kind = 'post.handed_over' AND key_id > 0", id) == 1
			if byCall == (published.at("data.already_submitted") == true) {
				t.Errorf("the events say that a call handed it over: %t; it answered %s", byCall, published.raw)
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

// PATCH at the due time: the new text is published if the change succeeded, else the old one.
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
				t.Errorf("changed, and yet the network holds %d old and %d new", before, after)
			case changed.status != http.StatusOK && (before != 1 || after != 0):
				w.mustBeHandedOver(changed)
				t.Errorf("not changed, and yet the network holds %d old and %d new", before, after)
			}
		}
	})
}

// Of ten concurrent retries one sends the account again; the others report it as skipped.
func TestConcurrentRetries(t *testing.T) {
	t.Parallel()
	withEnv(t, options{}, func(t *testing.T, w *env) {
		aFailedOne(w)
		id := w.its("post")
		sent, jobs := 0, map[string]bool{}
		for _, got := range w.together(10, func(int) (answer, error) {
			return w.tryRest(w.base, full(w), "retry_post", map[string]any{"post_id": id}, "")
		}) {
			got.mustBe(t, http.StatusAccepted)
			jobs[got.text("data.job_id")] = true
			if len(got.list("data.skipped")) == 0 {
				sent++
			} else if reason := got.text("data.skipped.0.reason"); reason != "not_failed" && reason != "retried_moments_ago" {
				t.Errorf("left alone because %s", reason)
			}
		}
		if sent != 1 || len(jobs) != 1 {
			t.Fatalf("%d retries sent it; jobs %v", sent, jobs)
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

// The month's last post goes to one of the concurrent calls.
func TestConcurrentLastPlace(t *testing.T) {
	t.Parallel()
	withInstance(t, options{}, func(t *testing.T, h *instance) {
		w := h.newEnv(t, options{plan: small, accounts: 1})
		fill(oneMonth, 19)(w)
		ids := []string{}
		for range 6 {
			ids = append(ids, w.draft("who gets it"))
		}
		won := 0
		for _, got := range w.together(len(ids), func(i int) (answer, error) {
			return w.tryRest(w.base, w.keys[access.Full], "schedule_post",
				map[string]any{"post_id": ids[i], "scheduled_at": stamp(oneMonth())}, "")
		}) {
			if got.status == http.StatusOK {
				won++
				continue
			}
			got.mustRefuse(t, http.StatusForbidden, "plan_limit_reached", "")
		}
		if won != 1 {
			t.Errorf("%d posts got the one place", won)
		}
	})
}
