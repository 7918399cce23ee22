package post_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
	"pressroom/internal/domain/post"
	"pressroom/internal/domain/post/posttest"
	"pressroom/internal/testkit/must"
)

// partlyFailed returns a post that is published on one account and failed on others.
func (w *env) partlyFailed(t *testing.T, failed ...int64) string {
	t.Helper()
	id := w.Draft(t, "hello", time.Time{})
	w.Do(t, "update_post", map[string]any{"id": id, "account_ids": slices.Concat([]int64{w.Account}, failed)})
	w.Do(t, "publish_post", map[string]any{"post_id": id})
	for _, account := range failed {
		w.Exec(t, `UPDATE post_targets SET state = 'failed', error_code = 'rejected_content' WHERE post_id = ? AND
			account_id = ?`, id, account)
	}
	w.Exec(t, `UPDATE posts SET status = 'partially_published' WHERE id = ?`, id)
	return id
}

// skips returns the reasons why a retry of a post skips its accounts, in order.
func (w *env) skips(t *testing.T, id string) string {
	t.Helper()
	out := []string{}
	list, _ := w.Do(t, "retry_post", map[string]any{"post_id": id})["skipped"].([]any)
	for _, one := range list {
		skip, _ := one.(map[string]any)
		out = append(out, fmt.Sprint(skip["reason"]))
	}
	return strings.Join(out, " ")
}

// An edited copy takes over only the failed accounts, with all their content.
func TestReplaceFailedAccounts(t *testing.T) {
	composing(t, func(t *testing.T, w *env, act *access.Actor) {
		other, own := w.connectSecond(t), "for one"
		id := w.partlyFailed(t, other)
		w.Exec(t, `UPDATE post_targets SET caption = ? WHERE post_id = ? AND account_id = ?`, own, id, other)
		draft := must.Get(w.Replace(t.Context(), act, id))(t)
		p := w.getPost(t, draft.ID)
		if p.Status != post.Draft || p.Replaces != id || len(p.Targets) != 1 || p.Targets[0].AccountID != other ||
			p.Caption != "hello" || *p.Targets[0].Caption != own {
			t.Fatalf("%+v", p)
		}
		if again := must.Get(w.Replace(t.Context(), act, id))(t); again.ID != p.ID {
			t.Error("there is another copy")
		}
		if got := w.skips(t, id); got != "not_failed replaced" {
			t.Errorf("a retry skips %s", got)
		}

		// No account gets the post twice, even if it is added to the copy.
		_, err := w.Compose(t.Context(), act, p.ID, p.UpdatedAt, post.Composition{Caption: "anew",
			Accounts: []int64{other, w.Account}})
		posttest.CheckError(t, err, apierr.ValidationFailed, "")
		w.ExpectError(t, apierr.ValidationFailed, "", "update_post", map[string]any{"id": p.ID,
			"account_ids": []int64{w.Account}})

		w.Do(t, "update_post", map[string]any{"id": p.ID, "caption": "anew"})
		w.Do(t, "publish_post", map[string]any{"post_id": p.ID})
		if got := w.skips(t, id); got != "not_failed replaced" {
			t.Errorf("after the copy is published, a retry skips %s", got)
		}
		_, err = w.Replace(t.Context(), act, id)
		posttest.CheckError(t, err, apierr.ValidationFailed, "accounts_missing")
		_, err = w.Replace(t.Context(), act, p.ID)
		posttest.CheckError(t, err, apierr.ValidationFailed, "published")
	})
}

// If the copy fails, it can be edited again. Once the account is free, the first post can be retried.
func TestReplaceAgain(t *testing.T) {
	composing(t, func(t *testing.T, w *env, act *access.Actor) {
		other := w.connectSecond(t)
		id := w.partlyFailed(t, other)
		one := must.Get(w.Replace(t.Context(), act, id))(t)
		w.Do(t, "publish_post", map[string]any{"post_id": one.ID})
		w.Exec(t, `UPDATE post_targets SET state = 'failed' WHERE post_id = ?`, one.ID)
		w.Exec(t, `UPDATE posts SET status = 'failed' WHERE id = ?`, one.ID)
		two := must.Get(w.Replace(t.Context(), act, one.ID))(t)
		if two.ID == one.ID || two.Replaces != id {
			t.Fatalf("%+v", two)
		}
		for _, failed := range []string{id, one.ID} {
			if got := w.skips(t, failed); !strings.HasSuffix(got, "replaced") {
				t.Errorf("%s skips %q", failed, got)
			}
		}
		w.Exec(t, `DELETE FROM post_targets WHERE post_id = ?`, two.ID)
		w.Exec(t, `DELETE FROM posts WHERE id = ?`, two.ID)
		if got := w.skips(t, id); got != "not_failed" {
			t.Errorf("a retry skips %q", got)
		}
		w.ExpectError(t, apierr.ValidationFailed, "published", "archive_post",
			map[string]any{"post_id": id, "archived": true})
	})
}

// A post that the client has not approved cannot be edited as a copy, which could be published without approval.
func TestReplaceUnapproved(t *testing.T) {
	composing(t, func(t *testing.T, w *env, act *access.Actor) {
		id := w.partlyFailed(t, w.connectSecond(t))
		for _, state := range []post.Approval{post.Waiting, post.Rejected} {
			w.Exec(t, `UPDATE posts SET approval = ? WHERE id = ?`, string(state), id)
			_, err := w.Replace(t.Context(), act, id)
			posttest.CheckError(t, err, apierr.AwaitingApproval, "")
		}
		w.Exec(t, `UPDATE posts SET approval = ? WHERE id = ?`, string(post.Approved), id)
		must.Get(w.Replace(t.Context(), act, id))(t)
	})
}

// An edited copy cannot become a series, because its occurrences would not be part of the family.
func TestReplacementCannotRepeat(t *testing.T) {
	composing(t, func(t *testing.T, w *env, act *access.Actor) {
		draft := must.Get(w.Replace(t.Context(), act, w.partlyFailed(t, w.connectSecond(t))))(t)
		w.Do(t, "update_post", map[string]any{"id": draft.ID, "scheduled_at": "2026-11-25T08:00"})
		_, err := w.Repeat(t.Context(), w.Person, draft.ID, "FREQ=DAILY", nil)
		posttest.CheckError(t, err, apierr.ValidationFailed, "edited_copy")
	})
}

// Concurrent retries and edited copies publish an account once.
func TestConcurrentReplaceAndRetry(t *testing.T) {
	composing(t, func(t *testing.T, w *env, act *access.Actor) {
		other := w.connectSecond(t)
		id := w.partlyFailed(t, other)
		before := len(w.Deliveries.Captions())
		var group sync.WaitGroup
		for i := range 8 {
			group.Go(func() {
				if i%2 == 0 {
					_, _ = w.Try(t, "retry_post", map[string]any{"post_id": id})
				} else if draft, err := w.Replace(t.Context(), act, id); err == nil {
					_, _ = w.Try(t, "publish_post", map[string]any{"post_id": draft.ID})
				}
			})
		}
		group.Wait()
		if n := len(w.Deliveries.Captions()) - before; n != 1 {
			t.Errorf("it was sent %d times", n)
		}
	})
}

// An archived post is not retried. Only failed posts can be archived.
func TestArchive(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		other := w.connectSecond(t)
		id := w.partlyFailed(t, other)
		for range 2 {
			if p := w.Do(t, "archive_post", map[string]any{"post_id": id, "archived": true}); p["archived_at"] == nil {
				t.Errorf("%+v", p)
			}
		}
		w.ExpectError(t, apierr.ValidationFailed, "archived", "retry_post", map[string]any{"post_id": id})
		if p := w.Do(t, "archive_post", map[string]any{"post_id": id, "archived": false}); p["archived_at"] != nil {
			t.Errorf("%+v", p)
		}
		if archived, restored := w.CountEvents(t, "post.archived"), w.CountEvents(t, "post.unarchived"); archived != 1 ||
			restored != 1 {
			t.Errorf("%d events and %d", archived, restored)
		}
		if got := w.skips(t, id); got != "not_failed" {
			t.Errorf("a retry skips %q", got)
		}
		w.ExpectError(t, apierr.ValidationFailed, "draft", "archive_post",
			map[string]any{"post_id": w.Draft(t, "a draft", time.Time{}), "archived": true})
	})
}

// A post that may be published cannot be archived. An archived post can be restored in any state.
func TestArchiveUnconfirmed(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		id := w.partlyFailed(t, w.connectSecond(t))
		w.Exec(t, `UPDATE post_targets SET state = 'unconfirmed' WHERE post_id = ? AND state = 'failed'`, id)
		w.ExpectError(t, apierr.ValidationFailed, "unconfirmed", "archive_post", map[string]any{"post_id": id, "archived": true})
		w.Exec(t, `UPDATE post_targets SET state = 'failed' WHERE post_id = ? AND state = 'unconfirmed'`, id)
		w.Do(t, "archive_post", map[string]any{"post_id": id, "archived": true})
		w.Exec(t, `UPDATE post_targets SET state = 'published' WHERE post_id = ?`, id)
		w.Exec(t, `UPDATE posts SET status = 'published' WHERE id = ?`, id)
		if p := w.Do(t, "archive_post", map[string]any{"post_id": id, "archived": false}); p["archived_at"] != nil {
			t.Errorf("%+v", p)
		}
	})
}
