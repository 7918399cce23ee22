package networks

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/sandbox"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// TestYouTubeThumbnailAndPlaylist publishes videos with a thumbnail and a playlist. If YouTube rejects either, the
// published post has a warning. No video is uploaded twice.
func TestYouTubeThumbnailAndPlaylist(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, database string) {
		t.Parallel()
		w := newEnvAs(t, database, server.RoleAll, 300*time.Millisecond, func(cfg *server.Config) {
			changed := strings.Replace(string(cfg.Networks.ByPlatform["youtube"]), "{", `{"playlists": true, `, 1)
			cfg.Networks.ByPlatform["youtube"] = json.RawMessage(changed)
		})
		const unverified = "studio.north"
		if w.accounts["youtube"][unverified] == 0 {
			w.accounts["youtube"][unverified] = w.connect("youtube", unverified, url.Values{"platform": {"youtube"}})
		}
		for _, c := range []struct {
			person, playlist string
			media            int64
			want             []string
		}{
			{usual, sandbox.YouTubePlaylist(usual), w.images[0], nil},
			{unverified, "PLnone", w.images[0], []string{"thumbnail_not_set", "playlist_not_set"}},
		} {
			s := w.draft("youtube", c.person, w.caption("finished", c.person, ""), []int64{w.video})
			options := map[string]any{"youtube": map[string]any{"playlist_id": c.playlist, "thumbnail_media_id": c.media}}
			if got := w.call(http.MethodPatch, "/posts/"+s.id, map[string]any{"options": options}); got.Status != http.StatusOK {
				t.Fatalf("%d %s", got.Status, got.Code())
			}
			if got := w.outcome(w.publish(s)); got != once {
				t.Errorf("%s: %s", c.person, got)
			}
			if diff := cmp.Diff(c.want, w.warnings(s.id, len(c.want))); diff != "" {
				t.Errorf("%s: %s", c.person, diff)
			}
		}
		s := w.draft("youtube", usual, w.caption("no image", usual, ""), []int64{w.video})
		for _, media := range []int64{w.video, 999_999} {
			options := map[string]any{"youtube": map[string]any{"thumbnail_media_id": media}}
			if got := w.call(http.MethodPatch, "/posts/"+s.id, map[string]any{"options": options}); got.Status < http.StatusBadRequest {
				t.Errorf("thumbnail %d: HTTP %d", media, got.Status)
			}
		}
	})
}

// warnings returns the codes of an account's warnings once it has ended and there are enough of them.
func (w *env) warnings(post string, enough int) []string {
	w.t.Helper()
	var codes []string
	must.Eventually(w.t, 30*time.Second, "the warnings of a post", func() bool {
		var shown struct {
			Accounts []struct {
				Warnings []struct{ Code, Message string }
			}
		}
		raw := must.Get(json.Marshal(w.get("/posts/" + post)))(w.t)
		must.NoError(w.t, json.Unmarshal(raw, &shown))
		codes = nil
		for _, one := range shown.Accounts[0].Warnings {
			codes = append(codes, one.Code)
			if !strings.Contains(one.Message, "YouTube Studio") {
				w.t.Errorf("%s has no advice: %s", one.Code, one.Message)
			}
		}
		var left int
		must.NoError(w.t, w.db.QueryRow(w.t.Context(), `SELECT COUNT(*) FROM deliveries WHERE phase <> 'ended'`).Scan(&left))
		return len(codes) >= enough && left == 0
	})
	return codes
}
