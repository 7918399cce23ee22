package networks

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// TestTikTokInboxApp publishes a captioned video with an app that may upload only to the inbox. Both the validation
// and the published post say that the caption is not sent.
func TestTikTokInboxApp(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, database string) {
		t.Parallel()
		w := newEnvAs(t, database, server.RoleAll, 300*time.Millisecond, func(cfg *server.Config) {
			var settings map[string]any
			must.NoError(t, json.Unmarshal(cfg.Networks.ByPlatform["tiktok"], &settings))
			delete(settings, "defaults")
			settings["scopes"] = []string{"user.info.basic", "user.info.profile", "user.info.stats", "video.upload", "video.list"}
			cfg.Networks.ByPlatform["tiktok"] = must.Get(json.Marshal(settings))(t)
		})
		must.NoError(t, w.node.Teams.Admin(w.owner, w.team).SetPostOptions(t.Context(), network.Options{}))
		s := w.draft("tiktok", usual, w.caption("inbox", "tiktok", ""), []int64{w.video})
		problems := fmt.Sprint(w.get("/posts/" + s.id + "/validation")["problems"])
		if !strings.Contains(problems, "caption_not_sent") || strings.Contains(problems, "blocking:true") {
			t.Errorf("problems %s", problems)
		}
		w.ok(http.MethodPatch, "/posts/"+s.id, map[string]any{"options": map[string]any{"tiktok": map[string]any{"mode": "inbox"}}})
		w.awaitJob(w.publish(s))
		got := w.call(http.MethodGet, "/posts/"+s.id, nil)
		accounts, _ := got.Data()["accounts"].([]any)
		account, _ := accounts[0].(map[string]any)
		notes, _ := got.Body["notes"].([]any)
		if account["state"] != "published" || !slices.ContainsFunc(notes, func(note any) bool {
			return strings.Contains(fmt.Sprint(note), "the caption has to be written in the app")
		}) {
			t.Errorf("account %v, notes %v", account, notes)
		}
	})
}
