package post_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/post/posttest"
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
