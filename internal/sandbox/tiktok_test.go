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

// tiktokTokens returns the token endpoint's answer for mira.keller with all scopes.
func (b *fixture) tiktokTokens(t *testing.T, scopes string) answer {
	t.Helper()
	a := b.form(t, http.MethodPost, "/tiktok/v2/auth/authorize/", url.Values{
		"client_key": {"app"}, "redirect_uri": {"https://app.test/back"}, "response_type": {"code"}, "scope": {scopes}, "state": {"s"},
		"decision": {"allow"}, "account": {"mira.keller"},
	})
	back, err := url.Parse(a.header.Get("Location"))
	if err != nil || a.status != http.StatusSeeOther || back.Query().Get("state") != "s" {
		t.Fatalf("HTTP %d, to %s: %s", a.status, back, a.body)
	}
	return b.tiktokToken(t, "authorization_code", "code", back.Query().Get("code"), "redirect_uri", "https://app.test/back")
}

func (b *fixture) tiktokToken(t *testing.T, grant string, values ...string) answer {
	t.Helper()
	return b.form(t, http.MethodPost, "/tiktok/v2/oauth/token/",
		with(url.Values{"client_key": {"app"}, "client_secret": {"s"}, "grant_type": {grant}}, values...))
}

const tiktokAll = "user.info.basic,user.info.profile,video.publish,video.list"

// tiktok calls the API.
func (b *fixture) tiktok(t *testing.T, path, token, body string) answer {
	t.Helper()
	return b.tiktokSend(t, http.MethodPost, b.url+"/tiktok/v2/"+path, strings.NewReader(body), "Authorization",
		"Bearer "+token, "Content-Type", "application/json")
}

func (b *fixture) tiktokSend(t *testing.T, method, target string, body io.Reader, header ...string) answer {
	t.Helper()
	request := must.Get(http.NewRequestWithContext(t.Context(), method, target, body))(t)
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	return doRequest(request)
}

type tiktokSaid struct {
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

func (a answer) tiktok(t *testing.T) tiktokSaid {
	t.Helper()
	var result tiktokSaid
	if err := json.Unmarshal(a.body, &result); err != nil || (result.Error.Code == "ok") != (a.status == http.StatusOK) {
		t.Fatalf("HTTP %d: %s", a.status, a.body)
	}
	return result
}

func tiktokInit(text string, size, chunk, parts int) string {
	return `{"post_info":{"title":"` + text +
		`","privacy_level":"PUBLIC_TO_EVERYONE"},"source_info":{"source":"FILE_UPLOAD","video_size":` +
		strconv.Itoa(size) + `,"chunk_size":` + strconv.Itoa(chunk) + `,"total_chunk_count":` + strconv.Itoa(parts) + `}}`
}

// tiktokPart sends a part of a video.
func (b *fixture) tiktokPart(t *testing.T, target string, film []byte, from, to int, header ...string) answer {
	t.Helper()
	header = append([]string{
		"Content-Type", "video/mp4", "Content-Range",
		"bytes " + strconv.Itoa(from) + "-" + strconv.Itoa(to-1) + "/" + strconv.Itoa(len(film)),
	}, header...)
	return b.tiktokSend(t, http.MethodPut, target, bytes.NewReader(film[from:to]), header...)
}

func tiktokFilm(size int) []byte {
	return append([]byte("\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom"), bytes.Repeat([]byte("f"), size-24)...)
}

// TestTikTokUpload also opens the data of a sandbox that was never closed, as after a kill between two parts.
func TestTikTokUpload(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	opts := Options{Now: func() time.Time { return now }, Ready: 3 * time.Second}
	b := start(t, opts)
	token := b.tiktokTokens(t, tiktokAll).member("access_token")
	const chunk = 5_000_000
	film := tiktokFilm(2*chunk + 7)
	begun := b.tiktok(t, "post/publish/video/init/", token, tiktokInit("film", len(film), chunk, 2)).tiktok(t).Data
	for name, c := range map[string]struct {
		target   string
		from, to int
		header   []string
		want     int
	}{
		"the last part first": {begun.UploadURL, chunk, len(film), nil, http.StatusRequestedRangeNotSatisfiable},
		"too short a part":    {begun.UploadURL, 0, chunk - 1, nil, http.StatusRequestedRangeNotSatisfiable},
		"another length": {
			begun.UploadURL, 0, chunk - 1, []string{"Content-Range", "bytes 0-4999999/10000007"}, http.StatusBadRequest,
		},
		"another whole": {
			begun.UploadURL, 0, chunk, []string{"Content-Range", "bytes 0-4999999/10000008"}, http.StatusRequestedRangeNotSatisfiable,
		},
		"no range":        {begun.UploadURL, 0, chunk, []string{"Content-Range", "0-4999999"}, http.StatusBadRequest},
		"no video":        {begun.UploadURL, 0, chunk, []string{"Content-Type", "text/plain"}, http.StatusBadRequest},
		"another address": {begun.UploadURL + "x", 0, chunk, nil, http.StatusNotFound},
		"no address":      {b.url + "/tiktok/upload/video/", 0, chunk, nil, http.StatusNotFound},
	} {
		if a := b.tiktokPart(t, c.target, film, c.from, c.to, c.header...); a.status != c.want {
			t.Errorf("%s: HTTP %d: %s", name, a.status, a.body)
		}
	}
	if a := b.tiktokPart(t, begun.UploadURL, film, 0, chunk); a.status != http.StatusPartialContent {
		t.Fatalf("HTTP %d: %s", a.status, a.body)
	}
	if a := b.tiktokPart(t, begun.UploadURL, film, 0, chunk); a.status != http.StatusRequestedRangeNotSatisfiable {
		t.Errorf("a part twice: HTTP %d", a.status)
	}

	b = startIn(t, b.dir, opts)
	status := func() tiktokSaid {
		return b.tiktok(t, "post/publish/status/fetch/", token, `{"publish_id":"`+begun.PublishID+`"}`).tiktok(t)
	}
	if got := status().Data; got.Status != "PROCESSING_UPLOAD" || got.Uploaded != chunk {
		t.Errorf("between the parts: %+v", got)
	}
	_, address, _ := strings.Cut(begun.UploadURL, "/tiktok/")
	upload := b.url + "/tiktok/" + address
	if a := b.tiktokPart(t, upload, film, chunk, len(film)); a.status != http.StatusCreated {
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
	film := tiktokFilm(100)
	begun := b.tiktok(t, "post/publish/video/init/", token, tiktokInit("late", 100, 100, 1)).tiktok(t).Data
	now = now.Add(time.Hour)
	if a := b.tiktokPart(t, begun.UploadURL, film, 0, 100); a.status != http.StatusForbidden {
		t.Errorf("HTTP %d: %s", a.status, a.body)
	}
}

func TestTikTokRefusals(t *testing.T) {
	b := start(t, Options{})
	token := b.tiktokTokens(t, tiktokAll).member("access_token")
	inbox := b.tiktokTokens(t, "user.info.basic,video.upload").member("access_token")
	less := b.tiktokTokens(t, "user.info.basic").member("access_token")
	photo := func(text, privacy, more string) string {
		return `{"media_type":"PHOTO","post_mode":"DIRECT_POST","post_info":{"description":"` + text + `","privacy_level":"` + privacy +
			`"},"source_info":{"source":"PULL_FROM_URL","photo_cover_index":0,"photo_images":[` + more + `]}}`
	}
	for name, c := range map[string]struct {
		path, token, body string
		status            int
		code              string
	}{
		"no token":       {"post/publish/creator_info/query/", "", "{}", 401, "access_token_invalid"},
		"a scope less":   {"post/publish/creator_info/query/", less, "{}", 401, "scope_not_authorized"},
		"a list without": {"video/list/?fields=id", less, "{}", 401, "scope_not_authorized"},
		"no fields":      {"video/list/", token, "{}", 400, "invalid_params"},
		"a page":         {"video/list/?fields=id", token, `{"max_count":21}`, 400, "invalid_params"},
		"no JSON":        {"video/list/?fields=id", token, `{`, 400, "invalid_params"},
		"no such post": {
			"post/publish/status/fetch/", token, `{"publish_id":"v_pub_file~v2-1.7000000000000000001"}`, 400, "invalid_publish_id",
		},
		"a status of the inbox":       {"post/publish/status/fetch/", inbox, `{"publish_id":"x"}`, 400, "invalid_publish_id"},
		"a status with no such scope": {"post/publish/status/fetch/", less, `{"publish_id":"x"}`, 401, "scope_not_authorized"},
		"nothing like one":            {"post/publish/status/fetch/", token, `{"publish_id":"x"}`, 400, "invalid_publish_id"},
		"no path":                     {"post/publish/likes/", token, "{}", 404, "unsupported_path"},
		"a long title":                {"post/publish/video/init/", token, tiktokInit(strings.Repeat("👋", 1101), 9, 9, 1), 400, "invalid_params"},
		"nothing":                     {"post/publish/video/init/", token, tiktokInit("", 0, 0, 1), 400, "invalid_params"},
		"a large video": {
			"post/publish/video/init/", token, tiktokInit("", (4<<30)+1, 5_000_000, 858), 400, "invalid_params",
		},
		"small parts":       {"post/publish/video/init/", token, tiktokInit("", 9_000_000, 4_000_000, 2), 400, "invalid_params"},
		"one part too many": {"post/publish/video/init/", token, tiktokInit("", 14_000_000, 5_000_000, 3), 400, "invalid_params"},
		"large and whole":   {"post/publish/video/init/", token, tiktokInit("", 65<<20, 65<<20, 1), 400, "invalid_params"},
		"a video by address": {
			"post/publish/video/init/", token,
			strings.Replace(tiktokInit("", 9, 9, 1), "FILE_UPLOAD", "PULL_FROM_URL", 1), 400, "invalid_params",
		},
		"for whom": {
			"post/publish/video/init/", token, strings.Replace(tiktokInit("", 9, 9, 1), "PUBLIC_TO_EVERYONE", "ALL", 1),
			400, "privacy_level_option_mismatch",
		},
		"for our inbox": {
			"post/publish/video/init/", token, strings.Replace(tiktokInit("", 9, 9, 1), "PUBLIC_TO_EVERYONE", "INBOX", 1),
			400, "privacy_level_option_mismatch",
		},
		"photos for our inbox": {
			"post/publish/content/init/", token, photo("", "INBOX", `"x"`), 400, "privacy_level_option_mismatch",
		},
		"a long description": {
			"post/publish/content/init/", token, photo(strings.Repeat("é", 4001), "PUBLIC_TO_EVERYONE", `"x"`), 400, "invalid_params",
		},
		"no photos": {"post/publish/content/init/", token, photo("", "PUBLIC_TO_EVERYONE", ""), 400, "invalid_params"},
		"thirty-six": {
			"post/publish/content/init/", token, photo("", "PUBLIC_TO_EVERYONE", strings.Repeat(`"x",`, 35)+`"x"`), 400, "invalid_params",
		},
		"an inbox": {
			"post/publish/content/init/", token,
			strings.Replace(photo("", "PUBLIC_TO_EVERYONE", `"x"`), "DIRECT_POST", "MEDIA_UPLOAD", 1), 401, "scope_not_authorized",
		},
		"photos without": {"post/publish/content/init/", less, photo("", "PUBLIC_TO_EVERYONE", `"x"`), 401, "scope_not_authorized"},
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
	me := func(token string) answer {
		return b.tiktokSend(t, http.MethodGet, b.url+"/tiktok/v2/user/info/?fields=open_id,username", nil, "Authorization", "Bearer "+token)
	}
	if got := me(first.member("access_token")).tiktok(t).Data.User; got["username"] != "mira.keller" ||
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
		"another grant":         {"password", nil, "unsupported_grant_type"},
		"no token":              {"refresh_token", nil, "invalid_grant"},
		"no code":               {"authorization_code", nil, "invalid_grant"},
		"an access token":       {"refresh_token", []string{"refresh_token", first.member("access_token")}, "invalid_grant"},
		"a refresh as its code": {"authorization_code", []string{"code", first.member("refresh_token")}, "invalid_grant"},
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
		t.Errorf("a refresh token twice: HTTP %d: %s", a.status, a.body)
	}
	now = now.Add(2 * time.Hour)
	if a := me(second.member("access_token")); a.status != http.StatusUnauthorized {
		t.Errorf("an old access token: HTTP %d", a.status)
	}
}

func TestTikTokListPages(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	b := start(t, Options{Now: func() time.Time { return now }})
	token := b.tiktokTokens(t, tiktokAll).member("access_token")
	film := tiktokFilm(100)
	for i := range 3 {
		begun := b.tiktok(t, "post/publish/video/init/", token, tiktokInit(strconv.Itoa(i), 100, 100, 1)).tiktok(t).Data
		if a := b.tiktokPart(t, begun.UploadURL, film, 0, 100); a.status != http.StatusCreated {
			t.Fatalf("HTTP %d: %s", a.status, a.body)
		}
		now = now.Add(time.Second)
	}
	first := b.tiktok(t, "video/list/?fields=title", token, `{"max_count":2}`).tiktok(t).Data
	rest := b.tiktok(t, "video/list/?fields=title", token,
		`{"max_count":2,"cursor":`+strconv.FormatInt(first.Cursor, 10)+`}`).tiktok(t).Data
	if len(first.Videos) != 2 || first.Videos[0]["title"] != "2" || !first.More || len(rest.Videos) != 1 ||
		rest.Videos[0]["title"] != "0" || rest.More {
		t.Errorf("%+v, then %+v", first, rest)
	}
}
