package post_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/post/label"
	"pressroom.example/pressroom/internal/domain/post/posttest"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

func (w *env) checkLabels(t *testing.T, id string, want ...any) {
	t.Helper()
	got, _ := w.Do(t, "get_post", map[string]any{"id": id})["labels"].([]any)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("labels of %s: %s", id, diff)
	}
}

// Labels are normalized. update_post replaces them, or keeps them if they are omitted. They need no approval.
func TestLabels(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		id, _ := w.Do(t, "create_post", map[string]any{"caption": "hello", "account_ids": []int64{w.Account},
			"labels": []string{" Winter  blend", "menu", "Menu"}})["id"].(string)
		w.checkLabels(t, id, "Winter blend", "menu")
		must.NoError(t, w.Decide(t, w.RequestApproval(t, id), true))
		w.Do(t, "update_post", map[string]any{"id": id, "labels": []string{"menu", "Winter blend"}})
		w.checkLabels(t, id, "menu", "Winter blend")
		if got := w.Status(t, id); got != "draft approved" {
			t.Errorf("after a change of the labels: %s", got)
		}
		w.Do(t, "update_post", map[string]any{"id": id, "caption": "changed"})
		w.checkLabels(t, id, "menu", "Winter blend")
		w.ExpectError(t, apierr.ValidationFailed, "", "update_post", map[string]any{"id": id, "labels": []string{"\u202E"}})
		w.Do(t, "update_post", map[string]any{"id": id, "labels": []string{}})
		w.checkLabels(t, id)
		if got := w.Status(t, id); got != "draft waiting" {
			t.Errorf("after a change of the text: %s", got)
		}
	})
}

// A change that waits for another one sees the labels that the other one adds.
func TestLabelsAddedMeanwhile(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		for _, c := range []struct {
			change map[string]any
			want   []any
		}{
			{map[string]any{"caption": "changed"}, []any{"menu"}},
			{map[string]any{"labels": []string{}}, nil},
		} {
			id := w.Draft(t, "hello", time.Time{})
			c.change["id"] = id
			changed := make(chan any, 1)
			must.NoError(t, w.DB.InTx(t.Context(), "test.labels", func(ctx context.Context, tx *db.Tx) error {
				_, err := w.Lock(ctx, tx, w.Call.TeamID, id)
				must.NoError(t, err)
				must.NoError(t, label.Set(ctx, tx, id, []string{"menu"}))
				go func() {
					out, err := w.Try(t, "update_post", c.change)
					if err != nil {
						changed <- err
						return
					}
					changed <- out.Data
				}()
				w.awaitLock(t)
				_, err = tx.Exec(ctx, `UPDATE posts SET updated_at = updated_at + 1 WHERE id = ?`, id)
				return err
			}))
			var got struct{ Labels []any }
			must.NoError(t, json.Unmarshal(must.Get(json.Marshal(<-changed))(t), &got))
			if diff := cmp.Diff(c.want, got.Labels); diff != "" {
				t.Errorf("%v: labels in the response: %s", c.change, diff)
			}
			w.checkLabels(t, id, c.want...)
		}
	})
}

// awaitLock waits until another transaction waits for a lock. With SQLite, it could not even begin.
func (w *env) awaitLock(t *testing.T) {
	t.Helper()
	if !w.DB.Postgres() {
		return
	}
	must.Eventually(t, 15*time.Second, "a transaction waits for the post", func() bool {
		var waiting int
		must.NoError(t, w.DB.QueryRow(t.Context(), `SELECT COUNT(*) FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&waiting))
		return waiting > 0
	})
}

// Copies of a post have its labels: duplicates and the occurrences of a series.
func TestLabelsCopied(t *testing.T) {
	eachDatabaseWithMedia(t, func(t *testing.T, w *env, act *access.Actor) {
		id := w.Draft(t, "hello", posttest.Noon.Add(time.Hour))
		w.Do(t, "update_post", map[string]any{"id": id, "labels": []string{"menu", "winter"}})
		duplicate, _, err := w.Duplicate(t.Context(), act, "", id)
		must.NoError(t, err)
		w.checkLabels(t, duplicate.ID, "menu", "winter")
		must.Get(w.Repeat(t.Context(), w.Person, id, "FREQ=DAILY", nil))(t)
		w.Tick(t)
		w.checkLabels(t, w.LastOccurrence(t), "menu", "winter")
	})
}
