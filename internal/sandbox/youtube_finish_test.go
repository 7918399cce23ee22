package sandbox

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/sandbox/youtube"
)

// The endpoints of thumbnails and playlists return the errors that YouTube documents.
func TestYouTubeThumbnailAndPlaylistErrors(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	b := start(t, Options{Now: func() time.Time { return now }})
	upload := b.youtubeToken(t).member("access_token")
	edit := b.youtubeTokens(t, scopeYouTube).member("access_token")
	file := youtubeFile(100)
	published := b.youtube(t, http.MethodPut, b.youtubeUploadURL(t, upload, 100), upload, file)
	video := published.member("id")
	item := func(playlist, video string) []byte {
		return fmt.Appendf(nil, `{"snippet":{"playlistId":%q,"resourceId":{"kind":"youtube#video","videoId":%q}}}`, playlist, video)
	}
	const items = "/youtube/v3/playlistItems"
	const insert, set = items + "?part=snippet", "/upload/youtube/v3/thumbnails/set?videoId="
	own := youtube.PlaylistID(youtube.ChannelID("mira.keller"))
	png := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
	for name, c := range map[string]struct {
		path, token string
		body        []byte
		status      int
		reason      string
	}{
		"unknown playlist":              {insert, edit, item("PLnone", video), http.StatusNotFound, "playlistNotFound"},
		"unknown video":                 {insert, edit, item(own, "none-at-all"), http.StatusNotFound, "videoNotFound"},
		"missing scope":                 {insert, upload, item(own, video), http.StatusForbidden, "insufficientPermissions"},
		"no part":                       {items, edit, item(own, video), http.StatusBadRequest, "missingRequiredParameter"},
		"no resource":                   {insert, edit, []byte(`{}`), http.StatusBadRequest, "invalidResourceType"},
		"valid item":                    {insert, edit, item(own, video), http.StatusOK, ""},
		"valid thumbnail":               {set + video, upload, png, http.StatusOK, ""},
		"thumbnail of an unknown video": {set + "none-at-all", upload, png, http.StatusNotFound, "videoNotFound"},
		"thumbnail that is a video":     {set + video, upload, file, http.StatusBadRequest, "invalidImage"},
		"thumbnail above 2 MB":          {set + video, upload, append(png, make([]byte, 2<<20)...), http.StatusBadRequest, "invalidImage"},
		"thumbnail below 2 MB":          {set + video, upload, append(png, make([]byte, 2<<20-20)...), http.StatusOK, ""},
		"thumbnail without a token":     {set + video, "none", png, http.StatusUnauthorized, "authError"},
	} {
		if a := b.youtube(t, http.MethodPost, c.path, c.token, c.body); a.status != c.status || a.youtubeReason() != c.reason {
			t.Errorf("%s: HTTP %d %s: %s", name, a.status, a.youtubeReason(), a.body)
		}
	}
	for playlist, status := range map[string]int{own: http.StatusOK, "PLnone": http.StatusNotFound} {
		if a := b.youtube(t, http.MethodGet, insert+"&playlistId="+playlist, upload, nil); a.status != status {
			t.Errorf("listing %s: HTTP %d: %s", playlist, a.status, a.body)
		}
	}
}
