package post_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Options are stored with a post and passed to its network. Compose without options and Duplicate keep them.
func TestOptions(t *testing.T) {
	eachDatabaseWithMedia(t, func(t *testing.T, w *env, act *access.Actor) {
		tiktok := map[string]any{"privacy_level": "SELF_ONLY", "music_usage_confirmed": true}
		id := w.Draft(t, "hello", time.Time{})
		w.Do(t, "update_post", map[string]any{"id": id, "options": map[string]any{"tiktok": tiktok}})
		want := network.Options{TikTok: &network.TikTokOptions{PrivacyLevel: "SELF_ONLY", MusicUsageConfirmed: true}}
		p := w.getPost(t, id)
		if diff := cmp.Diff(want, p.Content(p.Targets[0], "en").Options); diff != "" {
			t.Error(diff)
		}
		must.Get(w.Compose(t.Context(), act, id, p.UpdatedAt, post.Composition{Caption: "another",
			Accounts: []int64{w.Account}}))(t)
		if diff := cmp.Diff(want, w.getPost(t, id).Options); diff != "" {
			t.Errorf("Compose lost the options: %s", diff)
		}
		copied, _, err := w.Duplicate(t.Context(), act, "form", id)
		must.NoError(t, err)
		if diff := cmp.Diff(want, w.getPost(t, copied.ID).Options); diff != "" {
			t.Errorf("the copy has no options: %s", diff)
		}
		w.Do(t, "update_post", map[string]any{"id": id, "options": map[string]any{}})
		if p := w.getPost(t, id); !p.Options.IsZero() {
			t.Errorf("%+v", p.Options)
		}
	})
}
