package e2e

import (
	"testing"

	"pressroom.example/pressroom/internal/core/access"
)

// The filters from and to apply to the displayed time, also for a post that failed and has no scheduled time.
func TestDisplayedTimeBounds(t *testing.T) {
	t.Parallel()
	withEnv(t, options{}, func(t *testing.T, w *env) {
		failed, sent := w.draft("not taken [sandbox:reject]"), w.draft("taken")
		w.publish(failed)
		w.publish(sent)
		got := w.full("list_posts", map[string]any{"from": "2026-01-01"})
		if got.text("data.posts.0.id") != sent || got.at("data.posts.1") != nil {
			t.Errorf("got %s", got.raw)
		}
	})
}

// An omitted list and an empty one are the same request.
func TestOmittedListEqualsEmpty(t *testing.T) {
	t.Parallel()
	withEnv(t, options{}, func(t *testing.T, w *env) {
		args := map[string]any{"caption": "the same", "account_ids": w.accounts}
		first := w.rest(w.keys[access.Full], "create_post", args, "key")
		args["media_ids"] = []int64{}
		again := w.rest(w.keys[access.Full], "create_post", args, "key")
		if again.status != 201 || again.header.Get("Idempotent-Replayed") != "true" || again.text("data.id") != first.text("data.id") {
			t.Errorf("%d %s", again.status, again.raw)
		}
	})
}
