package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/sandbox/youtube"
	"pressroom.example/pressroom/internal/testkit/must"
)

const scopeYouTube = "https://www.googleapis.com/auth/youtube"

// youtubeToken returns the tokens of mira.keller with the scopes for uploading and reading.
func (b *fixture) youtubeToken(t *testing.T) answer {
	t.Helper()
	return b.youtubeTokens(t, scopeYouTube+".upload"+" "+scopeYouTube+".readonly")
}

// youtubeTokens returns the tokens of mira.keller with scopes.
func (b *fixture) youtubeTokens(t *testing.T, scopes string) answer {
	t.Helper()
	consent := b.form(t, http.MethodPost, "/youtube/o/oauth2/v2/auth",
		with(consentQuery(), "scope", scopes, "decision", "allow", "account", "mira.keller"))
	return b.form(t, http.MethodPost, "/youtube/token", exchange(consent.code(t)))
}

// youtube calls the API. headers contains pairs of a name and a value.
func (b *fixture) youtube(t *testing.T, method, path, token string, body []byte, headers ...string) answer {
	t.Helper()
	if strings.HasPrefix(path, "/") {
		path = b.url + "/youtube" + path
	}
	request := must.Get(http.NewRequestWithContext(t.Context(), method, path, bytes.NewReader(body)))(t)
	request.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	return doRequest(request)
}

// youtubeReason returns the reason of an error response.
func (a answer) youtubeReason() string {
	var result struct {
		Error struct{ Errors []struct{ Reason string } }
	}
	if json.Unmarshal(a.body, &result) != nil || len(result.Error.Errors) == 0 {
		return ""
	}
	return result.Error.Errors[0].Reason
}

const (
	youtubeUploadPath = "/upload/youtube/v3/videos?uploadType=resumable&part=snippet,status"
	youtubeMetadata   = `{"snippet":{"title":"T","description":"D"},"status":{"privacyStatus":"public"}}`
)

// youtubeInitUpload starts an upload of total bytes and returns the response.
func (b *fixture) youtubeInitUpload(t *testing.T, token, metadata string, total int) answer {
	t.Helper()
	return b.youtube(t, http.MethodPost, youtubeUploadPath, token, []byte(metadata), "X-Upload-Content-Length",
		strconv.Itoa(total), "X-Upload-Content-Type", "video/mp4")
}

// youtubeUploadURL starts an upload of total bytes and returns its URL.
func (b *fixture) youtubeUploadURL(t *testing.T, token string, total int) string {
	t.Helper()
	a := b.youtubeInitUpload(t, token, youtubeMetadata, total)
	if a.status != http.StatusOK || a.header.Get("Location") == "" || len(a.body) > 0 {
		t.Fatalf("HTTP %d: %s", a.status, a.body)
	}
	return a.header.Get("Location")
}

// youtubeFile returns a video file of size bytes.
func youtubeFile(size int) []byte {
	return append([]byte("\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom"), make([]byte, size)...)[:size]
}

func TestYouTubeUpload(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	b := start(t, Options{Now: func() time.Time { return now }, ProcessingTime: time.Minute})
	token := b.youtubeToken(t).member("access_token")
	const total = 2*(256<<10) + 100
	file := youtubeFile(total)
	address := b.youtubeUploadURL(t, token, total)
	// send sends a part of the video and checks the status and the received bytes.
	send := func(from, to, status, received int) answer {
		t.Helper()
		a := b.youtube(t, http.MethodPut, address, token, file[from:to], "Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to-1, total))
		want := ""
		if received > 0 {
			want = fmt.Sprintf("bytes=0-%d", received-1)
		}
		if a.status != status || a.header.Get("Range") != want {
			t.Errorf("from %d: HTTP %d, %q: %s", from, a.status, a.header.Get("Range"), a.body)
		}
		return a
	}
	checkProgress := func(received int) {
		t.Helper()
		a := b.youtube(t, http.MethodPut, address, token, nil, "Content-Range", fmt.Sprintf("bytes */%d", total))
		if want := fmt.Sprintf("bytes=0-%d", received-1); a.status != http.StatusPermanentRedirect ||
			received > 0 && a.header.Get("Range") != want {
			t.Errorf("progress: HTTP %d, %q", a.status, a.header.Get("Range"))
		}
	}
	checkProgress(0)
	send((256 << 10), 2*(256<<10), http.StatusPermanentRedirect, 0) // parts must arrive in order
	send(0, (256 << 10), http.StatusPermanentRedirect, (256 << 10))
	send(0, (256 << 10), http.StatusPermanentRedirect, (256 << 10))
	send((256 << 10), (256<<10)+7, http.StatusBadRequest, 0)
	send((256 << 10), 2*(256<<10), http.StatusPermanentRedirect, 2*(256<<10))
	checkProgress(2 * (256 << 10))
	if posts := b.texts(t, nil); len(posts) != 0 {
		t.Errorf("stored posts: too soon: %q", posts)
	}
	first := send(2*(256<<10), total, http.StatusOK, 0)
	if second := send(2*(256<<10), total, http.StatusOK, 0); second.member("id") != first.member("id") || first.member("id") == "" {
		t.Errorf("%s, then %s", first.body, second.body)
	}
	status := func() string {
		return string(b.youtube(t, http.MethodGet, "/youtube/v3/videos?part=status&id="+first.member("id"), token, nil).body)
	}
	if got := status(); !strings.Contains(got, `"uploadStatus":"uploaded"`) {
		t.Errorf("after the upload: %s", got)
	}
	now = now.Add(time.Minute)
	if got := status(); !strings.Contains(got, `"uploadStatus":"processed"`) || strings.Contains(got, "snippet") {
		t.Errorf("after processing: %s", got)
	}
	posts := b.listPosts(t, url.Values{"platform": {"youtube"}})
	if len(posts) != 1 || posts[0].Text != "D" || posts[0].ID != first.member("id") || posts[0].Account != "mira.keller" {
		t.Fatalf("stored posts: %+v", posts)
	}
	if shown := b.get(t, strings.TrimPrefix(posts[0].Media[0], b.url)); !bytes.Equal(shown.body, file) {
		t.Errorf("%d bytes are shown", len(shown.body))
	}
	if page := string(b.get(t, "/").body); !strings.Contains(page, `id="youtube-`+first.member("id")+`"`) {
		t.Error("the page lacks the video")
	}
}

// TestYouTubeUploadSurvivesKill opens the data of a sandbox that was never closed, as after a kill during an upload.
func TestYouTubeUploadSurvivesKill(t *testing.T) {
	b := start(t, Options{})
	token := b.youtubeToken(t).member("access_token")
	file := youtubeFile((256 << 10) + 9)
	address := b.youtubeUploadURL(t, token, len(file))
	b.youtube(t, http.MethodPut, address, token, file[:(256<<10)], "Content-Range",
		fmt.Sprintf("bytes 0-%d/%d", (256<<10)-1, len(file)))
	reopened := startIn(t, b.dir, Options{})
	address = strings.Replace(address, b.url, reopened.url, 1)
	a := reopened.youtube(t, http.MethodPut, address, token, file[(256<<10):], "Content-Range",
		fmt.Sprintf("bytes %d-%d/%d", (256<<10), len(file)-1, len(file)))
	if posts := reopened.texts(t, nil); a.status != http.StatusOK || len(posts) != 1 {
		t.Errorf("HTTP %d: %s; stored posts: %q", a.status, a.body, posts)
	}
}

func TestYouTubeUploadSessionExpires(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	b := start(t, Options{Now: func() time.Time { return now }})
	address := b.youtubeUploadURL(t, b.youtubeToken(t).member("access_token"), 9)
	now = now.Add(7 * 24 * time.Hour)
	a := b.youtube(t, http.MethodPut, address, b.youtubeToken(t).member("access_token"), youtubeFile(9))
	if a.status != http.StatusNotFound || len(b.texts(t, nil)) != 0 {
		t.Errorf("HTTP %d: %s", a.status, a.body)
	}
}

// YouTube accepts a file that is not a video, but its processing fails.
func TestYouTubeInvalidFile(t *testing.T) {
	b := start(t, Options{})
	token := b.youtubeToken(t).member("access_token")
	id := b.youtube(t, http.MethodPut, b.youtubeUploadURL(t, token, 5), token, []byte("plain")).member("id")
	a := b.youtube(t, http.MethodGet, "/youtube/v3/videos?part=status,processingDetails&id="+id, token, nil)
	if !strings.Contains(string(a.body), `"failureReason":"invalidFile"`) {
		t.Errorf("HTTP %d: %s", a.status, a.body)
	}
}

func TestYouTubeUploadErrors(t *testing.T) {
	b := start(t, Options{})
	token := b.youtubeToken(t).member("access_token")
	metadata := func(title, text, tags, privacy string) string {
		return fmt.Sprintf(`{"snippet":{"title":%q,"description":%q,"tags":[%s]},"status":{"privacyStatus":%q}}`, title,
			text, tags, privacy)
	}
	for name, c := range map[string]struct{ metadata, want string }{
		"no title":           {metadata(" ", "", "", "public"), "invalidTitle"},
		"long title":         {metadata(strings.Repeat("é", 101), "", "", "public"), "invalidTitle"},
		"title with <":       {metadata("<", "", "", "public"), "invalidTitle"},
		"long description":   {metadata("T", strings.Repeat("é", 2501), "", "public"), "invalidDescription"},
		"description with >": {metadata("T", ">", "", "public"), "invalidDescription"},
		"long tags": {
			metadata("T", "", `"`+strings.Repeat("a", 250)+`","`+strings.Repeat("b", 250)+`"`, "public"), "invalidTags",
		},
		"long tags with spaces":  {metadata("T", "", `"`+strings.Repeat("a", 497)+` b"`, "public"), "invalidTags"},
		"unknown privacy status": {metadata("T", "", "", "secret"), "invalidVideoMetadata"},
		"unknown member":         {`{"snippet":{"title":"T","mood":"good"},"status":{"privacyStatus":"public"}}`, "badRequest"},
		"invalid JSON":           {`[`, "badRequest"},
	} {
		if a := b.youtubeInitUpload(t, token, c.metadata, 9); a.status != http.StatusBadRequest || a.youtubeReason() != c.want {
			t.Errorf("%s: HTTP %d: %s", name, a.status, a.body)
		}
	}
	for name, c := range map[string]struct {
		path, total, kind, want string
	}{
		"no type":       {youtubeUploadPath, "9", "", "badContent"},
		"image":         {youtubeUploadPath, "9", "image/png", "badContent"},
		"no length":     {youtubeUploadPath, "", "video/mp4", "badRequest"},
		"empty file":    {youtubeUploadPath, "0", "video/mp4", "badRequest"},
		"too large":     {youtubeUploadPath, "256000000001", "video/mp4", "badRequest"},
		"missing part":  {"/upload/youtube/v3/videos?uploadType=resumable&part=snippet", "9", "video/mp4", "unexpectedPart"},
		"not resumable": {"/upload/youtube/v3/videos?part=snippet,status", "9", "video/mp4", "mediaBodyRequired"},
	} {
		a := b.youtube(t, http.MethodPost, c.path, token, []byte(youtubeMetadata), "X-Upload-Content-Length", c.total,
			"X-Upload-Content-Type", c.kind)
		if a.status != http.StatusBadRequest || a.youtubeReason() != c.want {
			t.Errorf("%s: HTTP %d: %s", name, a.status, a.body)
		}
	}
	address := b.youtubeUploadURL(t, token, 9)
	for _, part := range []string{
		"bytes 0-9/9", "bytes 0-8/10", "bytes 5-4/9", "bytes 0-3/9", "bytes=0-8", "bytes */10", "bytes 0-99999999999999999999/9",
	} {
		if a := b.youtube(t, http.MethodPut, address, token, youtubeFile(9), "Content-Range", part); a.status != http.StatusBadRequest {
			t.Errorf("%s: HTTP %d: %s", part, a.status, a.body)
		}
	}
	if a := b.youtube(t, http.MethodPut, address+"x", token, youtubeFile(9)); a.status != http.StatusNotFound {
		t.Errorf("no session: HTTP %d", a.status)
	}
	if posts := b.texts(t, nil); len(posts) != 0 {
		t.Errorf("stored posts: %q", posts)
	}
}

func TestYouTubeLists(t *testing.T) {
	b := start(t, Options{})
	token := b.youtubeToken(t).member("access_token")
	var ids []string
	for range 3 {
		ids = append(ids, b.youtube(t, http.MethodPut, b.youtubeUploadURL(t, token, 40), token, youtubeFile(40)).member("id"))
	}
	channel := youtube.ChannelID("mira.keller")
	list := "/youtube/v3/playlistItems?part=snippet&maxResults=2&playlistId=" + youtube.UploadsID(channel)
	page := b.youtube(t, http.MethodGet, list, token, nil)
	nextPage := b.youtube(t, http.MethodGet, list+"&pageToken="+page.member("nextPageToken"), token, nil)
	newest, oldest := strings.Index(string(page.body), ids[2]), strings.Index(string(page.body), ids[1])
	if newest < 0 || oldest < newest || !strings.Contains(string(nextPage.body), ids[0]) || nextPage.member("nextPageToken") != "" {
		t.Errorf("%s, then %s", page.body, nextPage.body)
	}
	for path, want := range map[string]struct {
		status int
		part   string
	}{
		"channels?part=snippet&mine=true":               {http.StatusOK, `"customUrl":"@mira.keller"`},
		"channels?part=contentDetails&id=" + channel:    {http.StatusOK, youtube.UploadsID(channel)},
		"channels?part=snippet&id=UCother":              {http.StatusOK, `"items":[]`},
		"channels?part=snippet":                         {http.StatusBadRequest, "missingRequiredParameter"},
		"channels?mine=true":                            {http.StatusBadRequest, "missingRequiredParameter"},
		"channels?part=mood&mine=true":                  {http.StatusBadRequest, "unknownPart"},
		"playlistItems?part=snippet&playlistId=UUother": {http.StatusNotFound, "playlistNotFound"},
		"playlistItems?part=snippet&maxResults=51":      {http.StatusBadRequest, "invalidPageToken"},
		"playlistItems?part=snippet&pageToken=-1":       {http.StatusBadRequest, "invalidPageToken"},
		"videos?part=snippet&id=" + ids[0] + ",nobody":  {http.StatusOK, `"title":"T"`},
		"videos?part=snippet":                           {http.StatusBadRequest, "missingRequiredParameter"},
		"search?part=snippet":                           {http.StatusNotFound, "notFound"},
	} {
		if a := b.youtube(t, http.MethodGet, "/youtube/v3/"+path, token, nil); a.status != want.status ||
			!strings.Contains(string(a.body), want.part) {
			t.Errorf("%s: HTTP %d: %s", path, a.status, a.body)
		}
	}
	if a := b.youtube(t, http.MethodGet, list, "no token", nil); a.status != http.StatusUnauthorized || a.youtubeReason() != "authError" {
		t.Errorf("no token: HTTP %d: %s", a.status, a.body)
	}
}

// TestYouTubeTestingApp checks that the refresh tokens of an app whose consent screen has the status "Testing" expire
// after seven days even if they are used. Tokens of other apps do not.
func TestYouTubeTestingApp(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	b := start(t, Options{Now: func() time.Time { return now }})
	tokens := map[string]string{}
	for _, client := range []string{"app-testing-unaudited", "app"} {
		consent := b.form(t, http.MethodPost, "/youtube/o/oauth2/v2/auth", with(consentQuery(), "client_id", client,
			"scope", scopeYouTube+".upload", "decision", "allow", "account", "mira.keller"))
		a := b.form(t, http.MethodPost, "/youtube/token", exchange(consent.code(t), "client_id", client))
		tokens[client] = a.member("refresh_token")
	}
	for _, later := range []bool{false, true} {
		now = now.Add(6 * 24 * time.Hour)
		for client, token := range tokens {
			a := b.form(t, http.MethodPost, "/youtube/token", url.Values{"client_id": {client}, "client_secret": {"s"},
				"grant_type": {"refresh_token"}, "refresh_token": {token}})
			if ended := a.member("error") == "invalid_grant"; ended != (later && client != "app") {
				t.Errorf("%s at %v: HTTP %d: %s", client, now, a.status, a.body)
			}
		}
	}
}

func TestYouTubeTokens(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	b := start(t, Options{Now: func() time.Time { return now }})
	tokens := b.youtubeToken(t)
	refresh := func(changes ...string) answer {
		return b.form(t, http.MethodPost, "/youtube/token", with(url.Values{
			"client_id": {"app"}, "client_secret": {"s"}, "grant_type": {"refresh_token"},
			"refresh_token": {tokens.member("refresh_token")},
		}, changes...))
	}
	channelStatus := func(token string) int {
		return b.youtube(t, http.MethodGet, "/youtube/v3/channels?part=id&mine=true", token, nil).status
	}
	refreshed := refresh()
	for name, token := range map[string]string{"old": tokens.member("access_token"), "new": refreshed.member("access_token")} {
		if status := channelStatus(token); status != http.StatusOK {
			t.Errorf("%s: HTTP %d", name, status)
		}
	}
	if refreshed.member("refresh_token") != "" || refreshed.member("scope") != scopeYouTube+".upload"+" "+scopeYouTube+".readonly" ||
		tokens.member("refresh_token") == "" {
		t.Errorf("refreshed: %s", refreshed.body)
	}
	for want, changes := range map[string][]string{
		"invalid_client":         {"client_secret", ""},
		"unsupported_grant_type": {"grant_type", "password"},
		"invalid_grant":          {"refresh_token", refreshed.member("access_token")},
	} {
		if a := refresh(changes...); a.status < http.StatusBadRequest || a.member("error") != want {
			t.Errorf("%q: HTTP %d: %s", changes, a.status, a.body)
		}
	}
	if a := refresh("client_id", "another"); a.member("error") != "invalid_grant" {
		t.Errorf("another client: HTTP %d: %s", a.status, a.body)
	}
	now = now.Add(time.Hour)
	if status := channelStatus(refreshed.member("access_token")); status != http.StatusUnauthorized {
		t.Errorf("after an hour: HTTP %d", status)
	}
	now = now.Add(180 * 24 * time.Hour)
	if a := refresh(); a.member("error") != "invalid_grant" {
		t.Errorf("expired refresh token: HTTP %d: %s", a.status, a.body)
	}
}

func TestYouTubeMarkerRateLimit(t *testing.T) {
	b := start(t, Options{})
	token := b.youtubeToken(t).member("access_token")
	upload := b.youtubeInitUpload(t, token, strings.Replace(youtubeMetadata, `"D"`, `"[sandbox:rate-limit]"`, 1), 9)
	a := b.youtube(t, http.MethodPut, upload.header.Get("Location"), token, youtubeFile(9))
	if a.status != http.StatusForbidden || a.youtubeReason() != "rateLimitExceeded" || a.header.Get("Retry-After") != "2" {
		t.Errorf("HTTP %d, %v: %s", a.status, a.header, a.body)
	}
}

func TestYouTubeMarkerSlow(t *testing.T) {
	var waited []time.Duration
	b := start(t, Options{After: func(d time.Duration) <-chan time.Time {
		waited = append(waited, d)
		elapsed := make(chan time.Time)
		close(elapsed)
		return elapsed
	}})
	token := b.youtubeToken(t).member("access_token")
	upload := b.youtubeInitUpload(t, token, strings.Replace(youtubeMetadata, `"D"`, `"[sandbox:slow=3]"`, 1), 40)
	a := b.youtube(t, http.MethodPut, upload.header.Get("Location"), token, youtubeFile(40))
	if a.status != http.StatusOK || len(waited) != 1 || waited[0] != 3*time.Second || len(b.texts(t, nil)) != 1 {
		t.Errorf("HTTP %d after %v: %s", a.status, waited, a.body)
	}
}

func TestYouTubeScopes(t *testing.T) {
	b := start(t, Options{})
	for scope, want := range map[string][2]int{ // statuses of an upload and of a list
		scopeYouTube: {http.StatusOK, http.StatusOK}, scopeYouTube + ".upload": {http.StatusOK, http.StatusForbidden},
		scopeYouTube + ".readonly": {http.StatusForbidden, http.StatusOK},
	} {
		token := b.youtubeTokens(t, scope).member("access_token")
		upload, list := b.youtubeInitUpload(t, token, youtubeMetadata, 9), b.youtube(t, http.MethodGet,
			"/youtube/v3/channels?part=id&mine=true", token, nil)
		if upload.status != want[0] || list.status != want[1] {
			t.Errorf("%s: HTTP %d, HTTP %d: %s%s", scope, upload.status, list.status, upload.body, list.body)
		}
	}
}
