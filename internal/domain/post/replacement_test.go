package post_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/posttest"
	"pressroom.example/pressroom/internal/testkit/must"
)

// createPartlyFailed creates a post that is published on w.Account and failed on the given accounts.
func (w *env) createPartlyFailed(t *testing.T, failed ...int64) string {
	t.Helper()
	id := w.Draft(t, "hello", time.Time{})
	w.Do(t, "update_post", map[string]any{"id": id, "account_ids": slices.Concat([]int64{w.Account}, failed)})
	w.Do(t, "publish_post", map[string]any{"post_id": id})
	for _, account := range failed {
		w.Exec(t, `UPDATE post_targets SET state = 'failed', published_at = 0, error_code = 'rejected_content' WHERE post_id = ? AND
			account_id = ?`, id, account)
	}
	w.Exec(t, `UPDATE posts SET status = 'partially_published' WHERE id = ?`, id)
	return id
}

// replace returns the edited copy of a post.
func (w *env) replace(t *testing.T, actor *access.Actor, id string) post.Record {
	t.Helper()
	draft, _, err := w.Replace(t.Context(), actor, id)
	must.NoError(t, err)
	return draft
}

// skipReasons retries a post and returns the reasons for the skipped accounts, in order.
func (w *env) skipReasons(t *testing.T, id string) string {
	t.Helper()
	out := []string{}
	list, _ := w.Do(t, "retry_post", map[string]any{"post_id": id})["skipped"].([]any)
	for _, entry := range list {
		skip, _ := entry.(map[string]any)
		out = append(out, fmt.Sprint(skip["reason"]))
	}
	return strings.Join(out, " ")
}

// An edited copy takes over only the failed accounts, including their overrides.
func TestReplaceFailedAccounts(t *testing.T) {
	eachDatabaseWithMedia(t, func(t *testing.T, w *env, act *access.Actor) {
		other, override := w.connectSecond(t), "for one"
		id := w.createPartlyFailed(t, other)
		w.Exec(t, `UPDATE post_targets SET caption = ? WHERE post_id = ? AND account_id = ?`, override, id, other)
		planned := must.Get(w.Replacement(t.Context(), act, id))(t)
		if planned.ID != "" || planned.Replaces != id {
			t.Errorf("the planned copy is %+v", planned)
		}
		draft := w.replace(t, act, id)
		p := w.getPost(t, draft.ID)
		if p.Status != post.Draft || p.Replaces != id || len(p.Targets) != 1 || p.Targets[0].AccountID != other ||
			p.Caption != "hello" || *p.Targets[0].Caption != override {
			t.Fatalf("%+v", p)
		}
		if again := w.replace(t, act, id); again.ID != p.ID {
			t.Error("the second call created another copy")
		}
		if got := w.skipReasons(t, id); got != "not_failed replaced" {
			t.Errorf("a retry skips %s", got)
		}

		// A published account cannot be added to the copy, so it does not get the post twice.
		_, err := w.Compose(t.Context(), act, p.ID, p.UpdatedAt, post.Composition{Caption: "anew",
			Accounts: []int64{other, w.Account}})
		posttest.CheckError(t, err, apierr.ValidationFailed, "")
		w.ExpectError(t, apierr.ValidationFailed, "", "update_post", map[string]any{"id": p.ID,
			"account_ids": []int64{w.Account}})

		w.Do(t, "update_post", map[string]any{"id": p.ID, "caption": "anew"})
		w.Do(t, "publish_post", map[string]any{"post_id": p.ID})
		if got := w.skipReasons(t, id); got != "not_failed replaced" {
			t.Errorf("after the copy is published, a retry skips %s", got)
		}
		_, _, err = w.Replace(t.Context(), act, id)
		posttest.CheckError(t, err, apierr.ValidationFailed, "accounts_missing")
		_, _, err = w.Replace(t.Context(), act, p.ID)
		posttest.CheckError(t, err, apierr.ValidationFailed, "published")
	})
}

// A failed copy can be edited again. After the copy is deleted, the original post can be retried.
func TestReplaceAgain(t *testing.T) {
	eachDatabaseWithMedia(t, func(t *testing.T, w *env, act *access.Actor) {
		other := w.connectSecond(t)
		id := w.createPartlyFailed(t, other)
		first := w.replace(t, act, id)
		w.Do(t, "publish_post", map[string]any{"post_id": first.ID})
		w.Exec(t, `UPDATE post_targets SET state = 'failed', published_at = 0 WHERE post_id = ?`, first.ID)
		w.Exec(t, `UPDATE posts SET status = 'failed' WHERE id = ?`, first.ID)
		second := w.replace(t, act, first.ID)
		if second.ID == first.ID || second.Replaces != id {
			t.Fatalf("%+v", second)
		}
		for _, failed := range []string{id, first.ID} {
			if got := w.skipReasons(t, failed); !strings.HasSuffix(got, "replaced") {
				t.Errorf("%s skips %q", failed, got)
			}
		}
		w.Exec(t, `DELETE FROM post_targets WHERE post_id = ?`, second.ID)
		w.Exec(t, `DELETE FROM posts WHERE id = ?`, second.ID)
		if got := w.skipReasons(t, id); got != "not_failed" {
			t.Errorf("a retry skips %q", got)
		}
		w.ExpectError(t, apierr.ValidationFailed, "published", "archive_post",
			map[string]any{"post_id": id, "archived": true})
	})
}

// A post that needs the client's approval cannot have an edited copy, because the copy could be published without it.
func TestReplaceUnapproved(t *testing.T) {
	eachDatabaseWithMedia(t, func(t *testing.T, w *env, act *access.Actor) {
		id := w.createPartlyFailed(t, w.connectSecond(t))
		for _, state := range []post.Approval{post.Waiting, post.Rejected} {
			w.Exec(t, `UPDATE posts SET approval = ? WHERE id = ?`, string(state), id)
			_, _, err := w.Replace(t.Context(), act, id)
			posttest.CheckError(t, err, apierr.AwaitingApproval, "")
		}
		w.Exec(t, `UPDATE posts SET approval = ? WHERE id = ?`, string(post.Approved), id)
		w.replace(t, act, id)
	})
}

// An edited copy cannot become a series, because its occurrences would not be part of the family.
func TestReplacementCannotRepeat(t *testing.T) {
	eachDatabaseWithMedia(t, func(t *testing.T, w *env, act *access.Actor) {
		draft := w.replace(t, act, w.createPartlyFailed(t, w.connectSecond(t)))
		w.Do(t, "update_post", map[string]any{"id": draft.ID, "scheduled_at": "2026-11-25T08:00"})
		_, err := w.Repeat(t.Context(), w.Person, draft.ID, "FREQ=DAILY", nil)
		posttest.CheckError(t, err, apierr.ValidationFailed, "edited_copy")
	})
}

// Concurrent retries and edited copies publish an account once.
func TestConcurrentReplaceAndRetry(t *testing.T) {
	eachDatabaseWithMedia(t, func(t *testing.T, w *env, act *access.Actor) {
		other := w.connectSecond(t)
		id := w.createPartlyFailed(t, other)
		before := len(w.Deliveries.Captions())
		var group sync.WaitGroup
		for i := range 8 {
			group.Go(func() {
				if i%2 == 0 {
					_, _ = w.Try(t, "retry_post", map[string]any{"post_id": id})
				} else if draft, _, err := w.Replace(t.Context(), act, id); err == nil {
					_, _ = w.Try(t, "publish_post", map[string]any{"post_id": draft.ID})
				}
			})
		}
		group.Wait()
		if n := len(w.Deliveries.Captions()) - before; n != 1 {
			t.Errorf("the post was sent %d times", n)
		}
	})
}

// An archived post cannot be retried. Only failed posts can be archived.
func TestArchive(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		other := w.connectSecond(t)
		id := w.createPartlyFailed(t, other)
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
			t.Errorf("%d archived and %d unarchived events", archived, restored)
		}
		if got := w.skipReasons(t, id); got != "not_failed" {
			t.Errorf("a retry skips %q", got)
		}
		w.ExpectError(t, apierr.ValidationFailed, "draft", "archive_post",
			map[string]any{"post_id": w.Draft(t, "a draft", time.Time{}), "archived": true})
	})
}

// A post with an unconfirmed account cannot be archived. An archived post can be restored in any state.
func TestArchiveUnconfirmed(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		id := w.createPartlyFailed(t, w.connectSecond(t))
		w.Exec(t, `UPDATE post_targets SET state = 'unconfirmed' WHERE post_id = ? AND state = 'failed'`, id)
		w.ExpectError(t, apierr.ValidationFailed, "unconfirmed", "archive_post", map[string]any{"post_id": id, "archived": true})
		w.Exec(t, `UPDATE post_targets SET state = 'failed', published_at = 0 WHERE post_id = ? AND state = 'unconfirmed'`, id)
		w.Do(t, "archive_post", map[string]any{"post_id": id, "archived": true})
		w.Exec(t, `UPDATE post_targets SET state = 'published' WHERE post_id = ?`, id)
		w.Exec(t, `UPDATE posts SET status = 'published' WHERE id = ?`, id)
		if p := w.Do(t, "archive_post", map[string]any{"post_id": id, "archived": false}); p["archived_at"] != nil {
			t.Errorf("%+v", p)
		}
	})
}
