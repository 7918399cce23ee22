package sandbox

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/testkit/must"
)

// upload sends a file without a Content-Length.
func (b *fixture) upload(t *testing.T, token, kind string, body io.Reader) answer {
	t.Helper()
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost,
		b.url+"/bluesky/xrpc/"+"com.atproto.repo.uploadBlob", body))(t)
	request.ContentLength = -1
	request.Header.Set("Content-Type", kind)
	request.Header.Set("Authorization", "Bearer "+token)
	return doRequest(request)
}

// uploadFile uploads a file and returns its blob object.
func (b *fixture) uploadFile(t *testing.T, token, kind, body string) json.RawMessage {
	t.Helper()
	a := b.upload(t, token, kind, strings.NewReader(body))
	var result struct{ Blob json.RawMessage }
	if err := json.Unmarshal(a.body, &result); err != nil || a.status != http.StatusOK {
		t.Fatalf("HTTP %d, %v: %s", a.status, err, a.body)
	}
	return result.Blob
}

func (b *fixture) putEmbed(t *testing.T, token, rkey string, embed any) {
	t.Helper()
	a := b.call(t, "com.atproto.repo.putRecord", token, map[string]any{
		"repo": "alice.test", "collection": "app.bsky.feed.post", "rkey": rkey,
		"record": map[string]any{"text": "", "createdAt": "2026-01-01T00:00:00.000Z", "embed": embed},
	})
	if a.status != http.StatusOK {
		t.Fatalf("HTTP %d: %s", a.status, a.body)
	}
}

func TestBlueskyServesMedia(t *testing.T) {
	t.Parallel()
	b, access, _ := startWithSession(t, Options{})
	video := "\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom"
	b.putEmbed(t, access, "3l2345672abca", map[string]any{"$type": "app.bsky.embed.images", "images": []any{
		map[string]any{"image": b.uploadFile(t, access, "image/png", picture), "alt": `a <dot> & "more"`},
		map[string]any{"image": b.uploadFile(t, access, "image/png", picture+"2"), "alt": ""},
	}})
	b.putEmbed(t, access, "3l2345672abcb",
		map[string]any{"$type": "app.bsky.embed.video", "video": b.uploadFile(t, access, "video/mp4", video), "alt": "a film"})

	reopened := startIn(t, b.dir, Options{}) // b is never closed, as after a kill
	var served []string
	for _, post := range reopened.listPosts(t, url.Values{}) {
		for _, address := range post.Media {
			path, ours := strings.CutPrefix(address, reopened.url)
			a := reopened.get(t, path)
			if !ours || a.status != http.StatusOK || a.header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s: HTTP %d %v", address, a.status, a.header)
			}
			served = append(served, a.header.Get("Content-Type")+" "+string(a.body))
		}
	}
	if diff := cmp.Diff([]string{"image/png " + picture, "image/png " + picture + "2", "video/mp4 " + video}, served); diff != "" {
		t.Error(diff)
	}
	page := string(reopened.get(t, "/").body)
	for _, part := range []string{
		`alt="a &lt;dot&gt; &amp; &#34;more&#34;"`, "No alt text", "<video src=\"bluesky/xrpc/", "a film</figcaption>",
	} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %s", part)
		}
	}
}

func TestBlueskyDiscardsFailedUploads(t *testing.T) {
	t.Parallel()
	b, access, _ := startWithSession(t, Options{})
	if a := b.upload(t, access, "video/mp4",
		io.LimitReader(zeros{}, 50<<20+1)); a.status != http.StatusRequestEntityTooLarge || a.Name() != "PayloadTooLarge" {
		t.Errorf("too large: HTTP %d, %v: %s", a.status, a.err, a.body)
	}
	if a := b.upload(t, access, "nothing;", strings.NewReader(picture)); a.status != http.StatusBadRequest {
		t.Errorf("no type: HTTP %d: %s", a.status, a.body)
	}
	truncated := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/bluesky/xrpc/"+"com.atproto.repo.uploadBlob",
		io.MultiReader(strings.NewReader(picture), truncatedBody{}))
	truncated.Header.Set("Content-Type", "image/png")
	truncated.Header.Set("Authorization", "Bearer "+access)
	recorder := httptest.NewRecorder()
	if b.Handler().ServeHTTP(recorder, truncated); recorder.Code != http.StatusBadRequest {
		t.Errorf("cut off: HTTP %d: %s", recorder.Code, recorder.Body)
	}
	if files, err := filepath.Glob(filepath.Join(b.dir, "blobs", "baf*")); err != nil || len(files) > 0 {
		t.Errorf("kept %v, %v", files, err)
	}
}

type zeros struct{}

func (zeros) Read(into []byte) (int, error) { clear(into); return len(into), nil }

// truncatedBody is a body that ends before its declared length.
type truncatedBody struct{}

func (truncatedBody) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestOpenRemovesPartialFiles(t *testing.T) {
	t.Parallel()
	b := start(t, Options{})
	half := filepath.Join(b.dir, "blobs", "incoming", "1")
	must.NoError(t, os.WriteFile(half, []byte("half"), 0o600))
	startIn(t, b.dir, Options{})
	if _, err := os.Stat(half); !os.IsNotExist(err) {
		t.Errorf("the partial file was not removed: %v", err)
	}
}
