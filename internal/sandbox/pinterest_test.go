package sandbox

import (
	"bytes"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
)

func (b *fixture) pinterestToken(t *testing.T, account string) string {
	t.Helper()
	return b.accessToken(t, "/pinterest/oauth/", "/pinterest/v5/oauth/token", account, nil)
}

// pinterestBoard returns the ID of one of the account's boards.
func (b *fixture) pinterestBoard(t *testing.T, token string) string {
	t.Helper()
	var page struct {
		Items    []struct{ ID string }
		Bookmark string
	}
	a := b.json(t, http.MethodGet, "/pinterest/v5/boards?page_size=1&bookmark=1", token, "")
	if err := json.Unmarshal(a.body, &page); err != nil || len(page.Items) != 1 || page.Bookmark != "2" {
		t.Fatalf("HTTP %d: %s", a.status, a.body)
	}
	return page.Items[0].ID
}

func TestPinterestErrors(t *testing.T) {
	picture := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("GIF89a...")) }))
	t.Cleanup(picture.Close)
	b := start(t, Options{})
	token := b.pinterestToken(t, "mira.keller")
	board, other := b.pinterestBoard(t, token), b.pinterestBoard(t, b.pinterestToken(t, "studio.north"))
	pin := func(board, members string) string { return `{"board_id":"` + board + `",` + members + `}` }
	image := `"media_source":{"source_type":"image_url","url":"` + picture.URL + `"}`
	for name, c := range map[string]struct {
		method, path, token, body string
		status                    int
	}{
		"no token":                    {"POST", "/pins", "", pin(board, image), 401},
		"unknown token":               {"GET", "/user_account", "other", ``, 401},
		"invalid JSON":                {"POST", "/pins", token, `board=x`, 400},
		"unknown board":               {"POST", "/pins", token, pin("5", image), 404},
		"board of another account":    {"POST", "/pins", token, pin(other, image), 404},
		"unknown section":             {"POST", "/pins", token, pin(board, image+`,"board_section_id":"7"`), 404},
		"sections of another's board": {"GET", "/boards/" + other + "/sections", token, ``, 404},
		"no source":                   {"POST", "/pins", token, pin(board, `"title":"x"`), 400},
		"long title":                  {"POST", "/pins", token, pin(board, image+`,"title":"`+strings.Repeat("x", 101)+`"`), 400},
		"long description":            {"POST", "/pins", token, pin(board, image+`,"description":"`+strings.Repeat("x", 801)+`"`), 400},
		"image not found": {
			"POST", "/pins", token, pin(board, `"media_source":{"source_type":"image_url","url":"`+b.url+`/none"}`), 400,
		},
		"file that is not an image": {
			"POST", "/pins", token, pin(board, `"media_source":{"source_type":"image_url","url":"`+b.url+`/style.css"}`), 400,
		},
		"multiple_image_urls with one image": {
			"POST", "/pins", token,
			pin(board, `"media_source":{"source_type":"multiple_image_urls","items":[{"url":"`+picture.URL+`"}]}`), 400,
		},
		"unknown media ID": {
			"POST", "/pins", token,
			pin(board, `"media_source":{"source_type":"video_id","media_id":"5","cover_image_key_frame_time":0}`), 400,
		},
		"status of an unknown video":      {"GET", "/media/600000000000000009", token, ``, 404},
		"pins of another account's board": {"GET", "/boards/" + other + "/pins", token, ``, 404},
		"page too large":                  {"GET", "/boards?page_size=251", token, ``, 400},
		"invalid bookmark":                {"GET", "/boards?bookmark=x", token, ``, 400},
		"unknown path":                    {"GET", "/nowhere", token, ``, 404},
	} {
		if a := b.json(t, c.method, "/pinterest/v5"+c.path, c.token, c.body); a.status != c.status || a.member("message") == "" {
			t.Errorf("%s: HTTP %d: %s", name, a.status, a.body)
		}
	}
	if posts := b.listPosts(t, url.Values{"platform": {"pinterest"}}); len(posts) != 0 {
		t.Errorf("stored posts: %+v", posts)
	}
	if a := b.json(t, http.MethodPost, "/pinterest/v5/pins", token, pin(board, image)); a.status != http.StatusCreated {
		t.Errorf("HTTP %d: %s", a.status, a.body)
	}
}

// An upload requires its key, and a pin with a video requires a cover.
func TestPinterestVideo(t *testing.T) {
	b := start(t, Options{})
	token := b.pinterestToken(t, "mira.keller")
	board := b.pinterestBoard(t, token)
	var registered struct {
		ID     string            `json:"media_id"`
		URL    string            `json:"upload_url"`
		Fields map[string]string `json:"upload_parameters"`
	}
	must.NoError(t, json.Unmarshal(b.json(t, http.MethodPost, "/pinterest/v5/media", token, `{"media_type":"video"}`).body, &registered))
	put := func(key string) int {
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		for name, value := range map[string]string{"key": key, "other": "x"} {
			must.NoError(t, form.WriteField(name, value))
		}
		must.NoError(t, form.WriteField("file", "\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom"))
		must.NoError(t, form.Close())
		return b.rest(t, http.MethodPost, strings.TrimPrefix(registered.URL, b.url), "", form.FormDataContentType(), &body).status
	}
	pin := func(members string) int {
		return b.json(t, http.MethodPost, "/pinterest/v5/pins", token,
			`{"board_id":"`+board+`","media_source":{"source_type":"video_id","media_id":"`+registered.ID+`"`+members+`}}`).status
	}
	cover := `,"cover_image_key_frame_time":0`
	if status := pin(cover); status != http.StatusBadRequest {
		t.Errorf("before the upload: HTTP %d", status)
	}
	if status := put("another"); status != http.StatusForbidden {
		t.Errorf("wrong key: HTTP %d", status)
	}
	if status := put(registered.Fields["key"]); status != http.StatusNoContent {
		t.Errorf("right key: HTTP %d", status)
	}
	if status := pin(""); status != http.StatusBadRequest {
		t.Errorf("no cover: HTTP %d", status)
	}
	if status := pin(cover); status != http.StatusCreated {
		t.Errorf("HTTP %d", status)
	}
	if posts := b.listPosts(t, url.Values{"platform": {"pinterest"}}); len(posts) != 1 || len(posts[0].Media) != 1 {
		t.Errorf("stored posts: %+v", posts)
	}
}
