package sandbox

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit/must"
)

// tiktokTokens returns the response of the token endpoint for mira.keller with scopes.
func (b *fixture) tiktokTokens(t *testing.T, scopes string) answer {
	t.Helper()
	a := b.form(t, http.MethodPost, "/tiktok/v2/auth/authorize/", url.Values{
		"client_key": {"app"}, "redirect_uri": {"https://app.test/back"}, "response_type": {"code"}, "scope": {scopes}, "state": {"s"},
		"decision": {"allow"}, "account": {"mira.keller"},
	})
	if !strings.Contains(a.header.Get("Location"), "state=s") {
		t.Fatalf("HTTP %d: the redirect lacks the state: %s", a.status, a.body)
	}
	return b.tiktokToken(t, "authorization_code", "code", a.code(t), "redirect_uri", "https://app.test/back")
}

// tiktokToken calls the token endpoint. values contains pairs of a name and a value.
func (b *fixture) tiktokToken(t *testing.T, grant string, values ...string) answer {
	t.Helper()
	return b.form(t, http.MethodPost, "/tiktok/v2/oauth/token/",
		with(url.Values{"client_key": {"app"}, "client_secret": {"s"}, "grant_type": {grant}}, values...))
}

const tiktokAll = "user.info.basic,user.info.profile,video.publish,video.list"

// tiktok calls the API with a JSON body.
func (b *fixture) tiktok(t *testing.T, path, token, body string) answer {
	t.Helper()
	return b.tiktokSend(t, http.MethodPost, b.url+"/tiktok/v2/"+path, strings.NewReader(body), "Authorization",
		"Bearer "+token, "Content-Type", "application/json")
}

// tiktokSend sends a request. header contains pairs of a name and a value.
func (b *fixture) tiktokSend(t *testing.T, method, target string, body io.Reader, header ...string) answer {
	t.Helper()
	request := must.Get(http.NewRequestWithContext(t.Context(), method, target, body))(t)
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	return doRequest(request)
}

type tiktokAnswer struct {
	Data struct {
		PublishID string `json:"publish_id"`
		UploadURL string `json:"upload_url"`
		Status    string
		Reason    string  `json:"fail_reason"`
		Posts     []int64 `json:"publicaly_available_post_id"` //nolint:misspell // the API's own spelling
		Uploaded  int64   `json:"uploaded_bytes"`
		Videos    []map[string]any
		Cursor    int64
		More      bool `json:"has_more"`
		User      map[string]string
	}
	Error struct{ Code string }
}

// tiktok parses the API's envelope of a response.
func (a answer) tiktok(t *testing.T) tiktokAnswer {
	t.Helper()
	var result tiktokAnswer
	if err := json.Unmarshal(a.body, &result); err != nil || (result.Error.Code == "ok") != (a.status == http.StatusOK) {
		t.Fatalf("HTTP %d: %s", a.status, a.body)
	}
	return result
}

// tiktokInit returns the request that initializes a video of size bytes.
func tiktokInit(text string, size, chunk, parts int) string {
	return `{"post_info":{"title":"` + text +
		`","privacy_level":"PUBLIC_TO_EVERYONE"},"source_info":{"source":"FILE_UPLOAD","video_size":` +
		strconv.Itoa(size) + `,"chunk_size":` + strconv.Itoa(chunk) + `,"total_chunk_count":` + strconv.Itoa(parts) + `}}`
}

// tiktokPart sends a part of a video to the upload URL target.
func (b *fixture) tiktokPart(t *testing.T, target string, video []byte, from, to int, header ...string) answer {
	t.Helper()
	header = append([]string{
		"Content-Type", "video/mp4", "Content-Range",
		"bytes " + strconv.Itoa(from) + "-" + strconv.Itoa(to-1) + "/" + strconv.Itoa(len(video)),
	}, header...)
	return b.tiktokSend(t, http.MethodPut, target, bytes.NewReader(video[from:to]), header...)
}

// tiktokVideo returns a video file of size bytes.
func tiktokVideo(size int) []byte {
	return append([]byte("\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom"), bytes.Repeat([]byte("f"), size-24)...)
}

// TestTikTokUpload uploads a video in two parts. Between the parts, it reopens the sandbox's data, as after a kill.
func TestTikTokUpload(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	opts := Options{Now: func() time.Time { return now }, ProcessingTime: 3 * time.Second}
	b := start(t, opts)
	token := b.tiktokTokens(t, tiktokAll).member("access_token")
	const chunk = 5_000_000
	video := tiktokVideo(2*chunk + 7)
	initialized := b.tiktok(t, "post/publish/video/init/", token, tiktokInit("film", len(video), chunk, 2)).tiktok(t).Data
	for name, c := range map[string]struct {
		target   string
		from, to int
		header   []string
		want     int
	}{
		"last part first": {initialized.UploadURL, chunk, len(video), nil, http.StatusRequestedRangeNotSatisfiable},
		"short part":      {initialized.UploadURL, 0, chunk - 1, nil, http.StatusRequestedRangeNotSatisfiable},
		"wrong Content-Length": {
			initialized.UploadURL, 0, chunk - 1, []string{"Content-Range", "bytes 0-4999999/10000007"}, http.StatusBadRequest,
		},
		"wrong total size": {
			initialized.UploadURL, 0, chunk, []string{"Content-Range", "bytes 0-4999999/10000008"}, http.StatusRequestedRangeNotSatisfiable,
		},
		"invalid Content-Range": {initialized.UploadURL, 0, chunk, []string{"Content-Range", "0-4999999"}, http.StatusBadRequest},
		"wrong Content-Type":    {initialized.UploadURL, 0, chunk, []string{"Content-Type", "text/plain"}, http.StatusBadRequest},
		"unknown upload token":  {initialized.UploadURL + "x", 0, chunk, nil, http.StatusNotFound},
		"missing upload token":  {b.url + "/tiktok/upload/video/", 0, chunk, nil, http.StatusNotFound},
	} {
		if a := b.tiktokPart(t, c.target, video, c.from, c.to, c.header...); a.status != c.want {
			t.Errorf("%s: HTTP %d: %s", name, a.status, a.body)
		}
	}
	if a := b.tiktokPart(t, initialized.UploadURL, video, 0, chunk); a.status != http.StatusPartialContent {
		t.Fatalf("HTTP %d: %s", a.status, a.body)
	}
	if a := b.tiktokPart(t, initialized.UploadURL, video, 0, chunk); a.status != http.StatusRequestedRangeNotSatisfiable {
		t.Errorf("same part twice: HTTP %d", a.status)
	}

	b = startIn(t, b.dir, opts)
	status := func() tiktokAnswer {
		return b.tiktok(t, "post/publish/status/fetch/", token, `{"publish_id":"`+initialized.PublishID+`"}`).tiktok(t)
	}
	if got := status().Data; got.Status != "PROCESSING_UPLOAD" || got.Uploaded != chunk {
		t.Errorf("between the parts: %+v", got)
	}
	_, address, _ := strings.Cut(initialized.UploadURL, "/tiktok/")
	upload := b.url + "/tiktok/" + address
	if a := b.tiktokPart(t, upload, video, chunk, len(video)); a.status != http.StatusCreated {
		t.Fatalf("HTTP %d: %s", a.status, a.body)
	}
	for _, want := range []struct {
		status string
		posts  int
	}{{"PROCESSING_UPLOAD", 0}, {"PUBLISH_COMPLETE", 0}, {"PUBLISH_COMPLETE", 1}} {
		if got := status().Data; got.Status != want.status || len(got.Posts) != want.posts {
			t.Errorf("%+v, want %+v", got, want)
		}
		listed := b.tiktok(t, "video/list/?fields=id,title", token, `{"max_count":20}`).tiktok(t).Data.Videos
		if len(listed) != want.posts {
			t.Errorf("listed: %v", listed)
		}
		now = now.Add(3 * time.Second)
	}
	if posts := b.texts(t, url.Values{"platform": {"tiktok"}}); len(posts) != 1 || posts[0] != "film" {
		t.Errorf("stored posts: %q", posts)
	}
}

func TestTikTokUploadExpires(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	b := start(t, Options{Now: func() time.Time { return now }})
	token := b.tiktokTokens(t, tiktokAll).member("access_token")
	video := tiktokVideo(100)
	initialized := b.tiktok(t, "post/publish/video/init/", token, tiktokInit("late", 100, 100, 1)).tiktok(t).Data
	now = now.Add(time.Hour)
	if a := b.tiktokPart(t, initialized.UploadURL, video, 0, 100); a.status != http.StatusForbidden {
		t.Errorf("HTTP %d: %s", a.status, a.body)
	}
}

func TestTikTokErrors(t *testing.T) {
	b := start(t, Options{})
	token := b.tiktokTokens(t, tiktokAll).member("access_token")
	inbox := b.tiktokTokens(t, "user.info.basic,video.upload").member("access_token")
	basic := b.tiktokTokens(t, "user.info.basic").member("access_token")
	photo := func(text, privacy, photos string) string {
		return `{"media_type":"PHOTO","post_mode":"DIRECT_POST","post_info":{"description":"` + text + `","privacy_level":"` + privacy +
			`"},"source_info":{"source":"PULL_FROM_URL","photo_cover_index":0,"photo_images":[` + photos + `]}}`
	}
	for name, c := range map[string]struct {
		path, token, body string
		status            int
		code              string
	}{
		"no token":               {"post/publish/creator_info/query/", "", "{}", 401, "access_token_invalid"},
		"missing scope":          {"post/publish/creator_info/query/", basic, "{}", 401, "scope_not_authorized"},
		"list without the scope": {"video/list/?fields=id", basic, "{}", 401, "scope_not_authorized"},
		"no fields":              {"video/list/", token, "{}", 400, "invalid_params"},
		"max_count too high":     {"video/list/?fields=id", token, `{"max_count":21}`, 400, "invalid_params"},
		"invalid JSON":           {"video/list/?fields=id", token, `{`, 400, "invalid_params"},
		"unknown post": {
			"post/publish/status/fetch/", token, `{"publish_id":"v_pub_file~v2-1.7000000000000000001"}`, 400, "invalid_publish_id",
		},
		"status with the inbox scope": {"post/publish/status/fetch/", inbox, `{"publish_id":"x"}`, 400, "invalid_publish_id"},
		"status without the scope":    {"post/publish/status/fetch/", basic, `{"publish_id":"x"}`, 401, "scope_not_authorized"},
		"invalid publish_id":          {"post/publish/status/fetch/", token, `{"publish_id":"x"}`, 400, "invalid_publish_id"},
		"unknown path":                {"post/publish/likes/", token, "{}", 404, "unsupported_path"},
		"long title": {
			"post/publish/video/init/", token, tiktokInit(strings.Repeat("👋", 1101), 9, 9, 1), 400, "invalid_params",
		},
		"empty file": {"post/publish/video/init/", token, tiktokInit("", 0, 0, 1), 400, "invalid_params"},
		"large video": {
			"post/publish/video/init/", token, tiktokInit("", (4<<30)+1, 5_000_000, 858), 400, "invalid_params",
		},
		"small chunks":            {"post/publish/video/init/", token, tiktokInit("", 9_000_000, 4_000_000, 2), 400, "invalid_params"},
		"too many chunks":         {"post/publish/video/init/", token, tiktokInit("", 14_000_000, 5_000_000, 3), 400, "invalid_params"},
		"large file in one chunk": {"post/publish/video/init/", token, tiktokInit("", 65<<20, 65<<20, 1), 400, "invalid_params"},
		"video by URL": {
			"post/publish/video/init/", token,
			strings.Replace(tiktokInit("", 9, 9, 1), "FILE_UPLOAD", "PULL_FROM_URL", 1), 400, "invalid_params",
		},
		"unknown privacy level": {
			"post/publish/video/init/", token, strings.Replace(tiktokInit("", 9, 9, 1), "PUBLIC_TO_EVERYONE", "ALL", 1),
			400, "privacy_level_option_mismatch",
		},
		"privacy level INBOX": {
			"post/publish/video/init/", token, strings.Replace(tiktokInit("", 9, 9, 1), "PUBLIC_TO_EVERYONE", "INBOX", 1),
			400, "privacy_level_option_mismatch",
		},
		"photos with the privacy level INBOX": {
			"post/publish/content/init/", token, photo("", "INBOX", `"x"`), 400, "privacy_level_option_mismatch",
		},
		"long description": {
			"post/publish/content/init/", token, photo(strings.Repeat("é", 4001), "PUBLIC_TO_EVERYONE", `"x"`), 400, "invalid_params",
		},
		"no photos": {"post/publish/content/init/", token, photo("", "PUBLIC_TO_EVERYONE", ""), 400, "invalid_params"},
		"too many photos": {
			"post/publish/content/init/", token, photo("", "PUBLIC_TO_EVERYONE", strings.Repeat(`"x",`, 35)+`"x"`), 400, "invalid_params",
		},
		"inbox without the scope": {
			"post/publish/content/init/", token,
			strings.Replace(photo("", "PUBLIC_TO_EVERYONE", `"x"`), "DIRECT_POST", "MEDIA_UPLOAD", 1), 401, "scope_not_authorized",
		},
		"photos without the scope": {
			"post/publish/content/init/", basic, photo("", "PUBLIC_TO_EVERYONE", `"x"`), 401, "scope_not_authorized",
		},
	} {
		a := b.tiktok(t, c.path, c.token, c.body)
		if a.status != c.status || a.tiktok(t).Error.Code != c.code {
			t.Errorf("%s: HTTP %d: %s", name, a.status, a.body)
		}
	}
	if posts := b.texts(t, nil); len(posts) != 0 {
		t.Errorf("stored posts: %q", posts)
	}
}

func TestTikTokTokens(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	b := start(t, Options{Now: func() time.Time { return now }})
	first := b.tiktokTokens(t, tiktokAll)
	if first.member("scope") != tiktokAll || first.member("token_type") != "Bearer" || !strings.HasPrefix(first.member("open_id"), "-000") {
		t.Errorf("HTTP %d: %s", first.status, first.body)
	}
	userInfo := func(token string) answer {
		return b.tiktokSend(t, http.MethodGet, b.url+"/tiktok/v2/user/info/?fields=open_id,username", nil, "Authorization", "Bearer "+token)
	}
	if got := userInfo(first.member("access_token")).tiktok(t).Data.User; got["username"] != "mira.keller" ||
		got["open_id"] != first.member("open_id") {
		t.Errorf("user %v", got)
	}
	for name, c := range map[string]struct {
		grant  string
		values []string
		want   string
	}{
		"no app": {
			"refresh_token", []string{"client_key", "", "refresh_token", first.member("refresh_token")}, "invalid_client",
		},
		"no secret": {
			"refresh_token", []string{"client_secret", "", "refresh_token", first.member("refresh_token")}, "invalid_client",
		},
		"another app": {
			"refresh_token", []string{"client_key", "other", "refresh_token", first.member("refresh_token")}, "invalid_grant",
		},
		"unknown grant type":              {"password", nil, "unsupported_grant_type"},
		"no token":                        {"refresh_token", nil, "invalid_grant"},
		"no code":                         {"authorization_code", nil, "invalid_grant"},
		"access token as a refresh token": {"refresh_token", []string{"refresh_token", first.member("access_token")}, "invalid_grant"},
		"refresh token as a code":         {"authorization_code", []string{"code", first.member("refresh_token")}, "invalid_grant"},
	} {
		if a := b.tiktokToken(t, c.grant, c.values...); a.status != http.StatusBadRequest || a.member("error") != c.want {
			t.Errorf("%s: HTTP %d: %s", name, a.status, a.body)
		}
	}
	second := b.tiktokToken(t, "refresh_token", "refresh_token", first.member("refresh_token"))
	if second.status != http.StatusOK || second.member("scope") != tiktokAll {
		t.Fatalf("HTTP %d: %s", second.status, second.body)
	}
	if a := b.tiktokToken(t, "refresh_token", "refresh_token", first.member("refresh_token")); a.member("error") != "invalid_grant" {
		t.Errorf("refresh token used twice: HTTP %d: %s", a.status, a.body)
	}
	now = now.Add(2 * time.Hour)
	if a := userInfo(second.member("access_token")); a.status != http.StatusUnauthorized {
		t.Errorf("expired access token: HTTP %d", a.status)
	}
}

func TestTikTokListPages(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	b := start(t, Options{Now: func() time.Time { return now }})
	token := b.tiktokTokens(t, tiktokAll).member("access_token")
	video := tiktokVideo(100)
	for i := range 3 {
		initialized := b.tiktok(t, "post/publish/video/init/", token, tiktokInit(strconv.Itoa(i), 100, 100, 1)).tiktok(t).Data
		if a := b.tiktokPart(t, initialized.UploadURL, video, 0, 100); a.status != http.StatusCreated {
			t.Fatalf("HTTP %d: %s", a.status, a.body)
		}
		now = now.Add(time.Second)
	}
	first := b.tiktok(t, "video/list/?fields=title", token, `{"max_count":2}`).tiktok(t).Data
	second := b.tiktok(t, "video/list/?fields=title", token,
		`{"max_count":2,"cursor":`+strconv.FormatInt(first.Cursor, 10)+`}`).tiktok(t).Data
	if len(first.Videos) != 2 || first.Videos[0]["title"] != "2" || !first.More || len(second.Videos) != 1 ||
		second.Videos[0]["title"] != "0" || second.More {
		t.Errorf("%+v, then %+v", first, second)
	}
}
