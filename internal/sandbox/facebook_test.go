package sandbox

import (
	"bytes"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit/must"
)

// facebook calls the API. The path begins with the host. values contains pairs of a name and a value.
func (b *fixture) facebook(t *testing.T, method, path, token string, values ...string) answer {
	t.Helper()
	return b.form(t, method, "/facebook/"+path, with(url.Values{"access_token": {token}}, values...))
}

// facebookTokens returns a short-lived token of mira.keller, a token of her Page, and the ID of the Page.
func (b *fixture) facebookTokens(t *testing.T) (string, string, string) {
	t.Helper()
	consent := url.Values{
		"client_id": {"app"}, "redirect_uri": {"https://app.test/back"}, "response_type": {"code"},
		"scope":    {"pages_show_list,pages_manage_posts"},
		"decision": {"allow"}, "account": {"mira.keller"},
	}
	code := b.form(t, http.MethodPost, "/facebook/www/v25.0/dialog/oauth", consent).code(t)
	person := b.facebook(t, http.MethodGet, "graph/v25.0/oauth/access_token", "", "client_id", "app", "client_secret", "s",
		"redirect_uri", "https://app.test/back", "code", code).member("access_token")
	var list struct {
		Data []struct {
			ID    string
			Token string `json:"access_token"`
		}
	}
	a := b.facebook(t, http.MethodGet, "graph/v25.0/me/accounts", person, "fields", "access_token")
	if err := json.Unmarshal(a.body, &list); err != nil || len(list.Data) != 1 || list.Data[0].Token == "" {
		t.Fatalf("HTTP %d: %s", a.status, a.body)
	}
	return person, list.Data[0].Token, list.Data[0].ID
}

// sendChunk sends a chunk of a video.
func (b *fixture) sendChunk(t *testing.T, page, token, session, offset string, chunk []byte) answer {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for name, value := range map[string]string{
		"access_token": token, "upload_phase": "transfer", "upload_session_id": session, "start_offset": offset,
	} {
		must.NoError(t, form.WriteField(name, value))
	}
	file := must.Get(form.CreateFormFile("video_file_chunk", "chunk"))(t)
	_, _ = file.Write(chunk)
	form.Close()
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, b.url+"/facebook/video/v25.0/"+page+"/videos", &body))(t)
	request.Header.Set("Content-Type", form.FormDataContentType())
	return doRequest(request)
}

// TestFacebookVideo uploads a video in two chunks. Between the chunks, it reopens the sandbox's data, as after a kill.
func TestFacebookVideo(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	opts := Options{Now: func() time.Time { return now }, ProcessingTime: 3 * time.Second}
	b := start(t, opts)
	_, token, page := b.facebookTokens(t)
	video := append([]byte("\x00\x00\x00\x18ftypmp42"), bytes.Repeat([]byte("film"), (1<<20)/4)...)
	videos := "video/v25.0/" + page + "/videos"
	started := b.facebook(t, http.MethodPost, videos, token, "upload_phase", "start", "file_size", "1048588")
	id, session := started.member("video_id"), started.member("upload_session_id")
	status := func() string {
		var result struct {
			Status struct {
				Video string `json:"video_status"`
			}
		}
		_ = json.Unmarshal(b.facebook(t, http.MethodGet, "graph/v25.0/"+id, token, "fields", "status").body, &result)
		return result.Status.Video
	}
	finish := func() answer {
		return b.facebook(t, http.MethodPost, videos, token, "upload_phase", "finish", "upload_session_id", session, "description", "kept")
	}
	if a := b.sendChunk(t, page, token, session, "0", video[:(1<<20)]); a.member("start_offset") != "1048576" ||
		a.member("end_offset") != "1048588" {
		t.Fatalf("HTTP %d: %s", a.status, a.body)
	}
	b = startIn(t, b.dir, opts)
	if a := finish(); a.graphCode() != [2]int{100, 1363037} || status() != "uploading" {
		t.Errorf("finished after the first chunk: HTTP %d: %s", a.status, a.body)
	}
	for _, offset := range []string{"0", "1048577", ""} {
		if a := b.sendChunk(t, page, token, session, offset, video[(1<<20):]); a.graphCode() != [2]int{100, 1363037} {
			t.Errorf("offset %q: HTTP %d: %s", offset, a.status, a.body)
		}
	}
	if a := b.sendChunk(t, page, token, session, "1048576", video[(1<<20):]); a.member("start_offset") != "1048588" ||
		status() != "upload_complete" {
		t.Errorf("HTTP %d: %s", a.status, a.body)
	}
	if a := finish(); a.status != http.StatusOK || status() != "processing" {
		t.Errorf("HTTP %d: %s", a.status, a.body)
	}
	now = now.Add(3 * time.Second)
	if a := finish(); a.graphCode() != [2]int{100, 0} || status() != "ready" {
		t.Errorf("finished twice: HTTP %d: %s, status %s", a.status, a.body, status())
	}
	posts := b.listPosts(t, url.Values{"platform": {"facebook"}})
	if len(posts) != 1 || posts[0].Text != "kept" || posts[0].Account != "mira.keller" {
		t.Fatalf("stored posts: %+v", posts)
	}
	if a := b.get(t, strings.TrimPrefix(posts[0].Media[0], b.url)); !bytes.Equal(a.body, video) {
		t.Errorf("the stored video has %d bytes", len(a.body))
	}
}

func TestFacebookErrors(t *testing.T) {
	b := start(t, Options{})
	person, token, page := b.facebookTokens(t)
	feed, photos, videos := "graph/v25.0/"+page+"/feed", "graph/v25.0/"+page+"/photos", "video/v25.0/"+page+"/videos"
	for name, c := range map[string]struct {
		method, path string
		values       []string
		want         [2]int
	}{
		"empty post":             {http.MethodPost, feed, nil, [2]int{100, 0}},
		"too long":               {http.MethodPost, feed, []string{"message", strings.Repeat("👋", 63_206/2+1)}, [2]int{100, 0}},
		"invalid link":           {http.MethodPost, feed, []string{"link", "javascript:alert(1)"}, [2]int{100, 1609005}},
		"not published":          {http.MethodPost, feed, []string{"message", "x", "published", "false"}, [2]int{100, 0}},
		"unknown photo":          {http.MethodPost, feed, []string{"attached_media", `[{"media_fbid":"181"}]`}, [2]int{100, 33}},
		"invalid attached_media": {http.MethodPost, feed, []string{"attached_media", `x`}, [2]int{100, 0}},
		"too many photos": {
			http.MethodPost, feed, []string{"attached_media", `[` + strings.Repeat(`{},`, 10) + `{}]`}, [2]int{100, 0},
		},
		"another Page":                  {http.MethodPost, "graph/v25.0/10123/feed", []string{"message", "x"}, [2]int{100, 33}},
		"token of the person":           {http.MethodPost, feed, []string{"message", "x", "access_token", person}, [2]int{200, 0}},
		"no token":                      {http.MethodPost, feed, []string{"message", "x", "access_token", ""}, [2]int{190, 0}},
		"photo without published=false": {http.MethodPost, photos, []string{"url", "http://127.0.0.1:1/"}, [2]int{100, 0}},
		"photo without a URL":           {http.MethodPost, photos, []string{"published", "false"}, [2]int{9004, 2207052}},
		"no phase":                      {http.MethodPost, videos, nil, [2]int{100, 0}},
		"no size":                       {http.MethodPost, videos, []string{"upload_phase", "start"}, [2]int{100, 0}},
		"too large": {
			http.MethodPost, videos, []string{"upload_phase", "start", "file_size", "10000000001"}, [2]int{100, 0},
		},
		"missing chunk": {http.MethodPost, videos, []string{"upload_phase", "transfer"}, [2]int{100, 0}},
		"unknown upload": {
			http.MethodPost, videos, []string{"upload_phase", "finish", "upload_session_id", "161"}, [2]int{100, 0},
		},
		"no secret": {
			http.MethodGet, "graph/v25.0/oauth/access_token", []string{"client_id", "app", "code", "x"}, [2]int{100, 0},
		},
		"unknown grant type": {
			http.MethodGet, "graph/v25.0/oauth/access_token",
			[]string{"client_id", "app", "client_secret", "s", "grant_type", "x"}, [2]int{100, 0},
		},
		"Page's token for me/accounts": {http.MethodGet, "graph/v25.0/me/accounts", nil, [2]int{190, 0}},
		"unknown ID":                   {http.MethodGet, "graph/v25.0/151", nil, [2]int{100, 33}},
		"unknown path":                 {http.MethodGet, "graph/v25.0/me/likes", nil, [2]int{2500, 0}},
		"limit too high": {
			http.MethodGet, "graph/v25.0/" + page + "/published_posts", []string{"limit", "101"}, [2]int{100, 0},
		},
	} {
		a := b.facebook(t, c.method, c.path, token, c.values...)
		if a.graphCode() != c.want {
			t.Errorf("%s: HTTP %d: %s", name, a.status, a.body)
		}
	}
	if posts := b.texts(t, nil); len(posts) != 0 {
		t.Errorf("stored posts: %q", posts)
	}
}

// Facebook rejects a chunk that is too large.
func TestFacebookLargeChunk(t *testing.T) {
	b := start(t, Options{})
	_, token, page := b.facebookTokens(t)
	session := b.facebook(t, http.MethodPost, "video/v25.0/"+page+"/videos", token, "upload_phase", "start",
		"file_size", "9000000").member("upload_session_id")
	if a := b.sendChunk(t, page, token, session, "0",
		make([]byte, (1<<20)+(64<<10))); a.err == nil && a.graphCode() != [2]int{100, 0} {
		t.Errorf("HTTP %d: %s", a.status, a.body)
	}
}

// A Page's token requested with a short-lived token expires with that token. Other Pages' tokens are valid for years.
func TestFacebookTokens(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	b := start(t, Options{Now: func() time.Time { return now }})
	person, short, page := b.facebookTokens(t)
	long := b.facebook(t, http.MethodGet, "graph/v25.0/oauth/access_token", "", "client_id", "app", "client_secret", "s",
		"grant_type", "fb_exchange_token", "fb_exchange_token", person).member("access_token")
	var list struct {
		Data []struct {
			Token string `json:"access_token"`
		}
	}
	_ = json.Unmarshal(b.facebook(t, http.MethodGet, "graph/v25.0/me/accounts", long, "fields", "access_token").body, &list)
	now = now.Add(60 * 24 * time.Hour)
	for name, c := range map[string]struct {
		path, token string
		want        [2]int
	}{
		"short-lived token of the Page": {page, short, [2]int{190, 463}},
		"long-lived token of the Page":  {page, list.Data[0].Token, [2]int{}},
		"token of the person":           {"me", long, [2]int{190, 463}},
	} {
		if a := b.facebook(t, http.MethodGet, "graph/v25.0/"+c.path, c.token); a.graphCode() != c.want {
			t.Errorf("%s: HTTP %d: %s", name, a.status, a.body)
		}
	}
}

// A photo can become a story only once. Stories are listed for a day, separately from posts.
func TestFacebookStories(t *testing.T) {
	clock := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	b := start(t, Options{Now: func() time.Time { return clock }})
	_, token, page := b.facebookTokens(t)
	path := "graph/v25.0/" + page
	photo := b.facebook(t, http.MethodPost, path+"/photos", token, "url", jpegFile(t), "published", "false").id(t)
	story := b.facebook(t, http.MethodPost, path+"/photo_stories", token, "photo_id", photo)
	if id := story.member("post_id"); id == "" || story.status != http.StatusOK {
		t.Fatalf("HTTP %d: %s", story.status, story.body)
	}
	for name, want := range map[string]struct {
		values []string
		code   [2]int
	}{
		"again":         {[]string{"photo_id", photo}, [2]int{100, 1366051}},
		"unknown photo": {[]string{"photo_id", "1"}, [2]int{100, 33}},
	} {
		if a := b.facebook(t, http.MethodPost, path+"/photo_stories", token, want.values...); a.graphCode() != want.code {
			t.Errorf("%s: HTTP %d: %s", name, a.status, a.body)
		}
	}
	stories := string(b.facebook(t, http.MethodGet, path+"/stories", token).body)
	if !strings.Contains(stories, `"media_id":"`+photo+`"`) || !strings.Contains(stories, `"media_type":"photo"`) {
		t.Errorf("stories %s", stories)
	}
	if posts := string(b.facebook(t, http.MethodGet, path+"/published_posts", token).body); strings.Contains(posts, "permalink") {
		t.Errorf("posts %s", posts)
	}
	if a := b.facebook(t, http.MethodPost, path+"/feed", token, "message", "x", "place", "Kiel"); a.graphCode() != [2]int{100, 0} {
		t.Errorf("an invalid place: HTTP %d: %s", a.status, a.body)
	}
	clock = clock.Add(24 * time.Hour)
	_, token, _ = b.facebookTokens(t)
	a := b.facebook(t, http.MethodGet, path+"/stories", token)
	if a.status != http.StatusOK || strings.Contains(string(a.body), photo) {
		t.Errorf("stories of yesterday: HTTP %d: %s", a.status, a.body)
	}
}
