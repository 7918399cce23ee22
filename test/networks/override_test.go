package networks

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/override"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// TestOverrides publishes a post with different text, media and cover for one account.
func TestOverrides(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, database string) {
		t.Parallel()
		w := newEnv(t, database)
		made := w.call(http.MethodPost, "/posts", map[string]any{
			"caption": "for everybody", "media_ids": w.images[:1],
			"account_ids": []int64{
				w.accounts["bluesky"][usual], w.accounts["x"][usual], w.accounts["tiktok"][usual],
				w.accounts["pinterest"][usual], w.accounts["instagram"][usual],
			},
		})
		id, _ := made.Data()["id"].(string)
		own := "for X alone"
		edited := post.Composition{Caption: "for everybody", Media: w.images[:1], Overrides: map[int64]override.Override{
			w.accounts["x"][usual]:         {Caption: &own, Media: []int64{w.images[2], w.images[1]}},
			w.accounts["tiktok"][usual]:    {Media: []int64{w.video}},
			w.accounts["pinterest"][usual]: {Media: []int64{w.video}},
			w.accounts["instagram"][usual]: {Media: []int64{w.video}},
		}, Covers: map[int64]time.Duration{w.video: 2 * time.Second}}
		stored := must.Get(w.node.Posts.Load(t.Context(), w.team, id))(t)
		for _, account := range stored.Targets {
			edited.Accounts = append(edited.Accounts, account.AccountID)
		}
		actor := must.Get(w.node.Teams.InApp(t.Context(), w.owner, w.team))(t)
		must.Get(w.node.Posts.Compose(t.Context(), actor, id, stored.UpdatedAt, edited))(t)
		shown, _ := w.get("/posts/" + id)["accounts"].([]any)
		x, _ := shown[1].(map[string]any)
		if diff := cmp.Diff([]any{own, []any{float64(w.images[2]), float64(w.images[1])}},
			[]any{x["caption"], x["media_ids"]}); diff != "" {
			t.Error(diff)
		}
		w.proxy.startRecording()
		s := w.publish(sent{platform: "bluesky", text: "for everybody", media: 1, id: id})
		w.awaitJob(s)
		w.checkCopies(s, 1, 1)
		w.checkCopies(sent{platform: "x", text: own, media: 2}, 1, 1)
		for platform, cover := range map[string]string{
			"tiktok": `"video_cover_timestamp_ms":2000`, "pinterest": `"cover_image_key_frame_time":2`, "instagram": "thumb_offset=2000",
		} {
			w.checkCopies(sent{platform: platform, text: "for everybody", media: 1}, 1, 1)
			if !strings.Contains(w.proxy.recording(platform), cover) {
				t.Errorf("%s did not receive the cover", platform)
			}
		}
		stored = must.Get(w.node.Posts.Load(t.Context(), w.team, id))(t)
		if _, err := w.node.Posts.Compose(t.Context(), actor, id, stored.UpdatedAt, edited); err == nil {
			t.Error("a published post was changed")
		}
	})
}
