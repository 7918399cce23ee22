package sandbox

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/sandbox/bluesky"
	"pressroom.example/pressroom/internal/testkit/must"
)

// discard is an http.ResponseWriter that discards the response.
type discard struct{}

func (discard) Header() http.Header            { return http.Header{} }
func (discard) Write(text []byte) (int, error) { return len(text), nil }
func (discard) WriteHeader(int)                {}

func putRequest(t *testing.T, token, text string) *http.Request {
	t.Helper()
	body := `{"repo":"alice.test","collection":"app.bsky.feed.post","rkey":"3l2345672abcd","record":{"text":"` + text +
		`","createdAt":"2026-01-01T00:00:00Z"}}`
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/bluesky/xrpc/com.atproto.repo.putRecord", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	return r
}

func TestStoredPosts(t *testing.T) {
	b, access, _ := startWithSession(t, Options{})
	for name, text := range map[string]string{"a": "100% sure", "b": "1000 sure", "c": "ünïcode"} {
		if a := b.put(t, access, name, text); a.status != http.StatusOK {
			t.Fatalf("HTTP %d: %s", a.status, a.body)
		}
	}
	want := []listedPost{{
		Platform: "bluesky", Account: "alice.test", Text: "100% sure", Media: []string{}, At: "2026-01-01T00:00:00Z",
		ID: "at://" + bluesky.DID("alice.test") + "/app.bsky.feed.post/3a22222222222",
	}}
	if diff := cmp.Diff(want, b.listPosts(t, url.Values{"platform": {"bluesky"}, "contains": {"100%"}})); diff != "" {
		t.Error(diff)
	}
	for query, count := range map[string]int{"": 3, "contains=sure": 2, "contains=Sure": 0, "platform=threads": 0, "contains=ïco": 1} {
		values, _ := url.ParseQuery(query)
		if posts := b.listPosts(t, values); len(posts) != count {
			t.Errorf("%q: %d posts, want %d", query, len(posts), count)
		}
	}
}

func TestPage(t *testing.T) {
	b, access, _ := startWithSession(t, Options{})
	if page := string(b.get(t, "/").body); !strings.Contains(page, "Nothing has been published here yet.") {
		t.Error("the page does not say that a network has no posts")
	}
	b.put(t, access, "a", `<script>alert("x")</script> & more`)
	a := b.get(t, "/")
	page := string(a.body)
	for _, part := range []string{
		"Alice A.", "@alice.test", "&lt;script&gt;", `<time datetime="2026-01-01T00:00:00Z">`, `<html lang="en">`, "<h2",
	} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %s", part)
		}
	}
	if strings.Contains(page, "<script") || !strings.HasPrefix(a.header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Error("the page may run scripts")
	}
	if style := b.get(t, "/style.css"); style.status != http.StatusOK {
		t.Errorf("style.css: HTTP %d", style.status)
	}
}

// TestDataSurvivesKill opens the data of a sandbox that was never closed, as after a kill.
func TestDataSurvivesKill(t *testing.T) {
	b, access, refresh := startWithSession(t, Options{})
	b.put(t, access, "a", "[sandbox:error] kept")
	b.put(t, access, "a", "[sandbox:error] kept")
	reopened := startIn(t, b.dir, Options{})
	if texts := reopened.texts(t, nil); len(texts) != 1 {
		t.Errorf("stored posts: %q", texts)
	}
	if a := reopened.put(t, access, "a", "[sandbox:error] kept"); a.status != http.StatusOK {
		t.Errorf("old access token: HTTP %d: %s", a.status, a.body)
	}
	if a := reopened.call(t, "com.atproto.server.refreshSession", refresh, nil); a.status != http.StatusOK {
		t.Errorf("old refresh token: HTTP %d: %s", a.status, a.body)
	}
	reopened.account(t, "alice.test")
	reopened.session(t, "alice.test")
}

func TestTokensExpire(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	b, access, refresh := startWithSession(t, Options{Now: func() time.Time { return now }})
	now = now.Add(2*time.Hour - time.Second)
	if a := b.put(t, access, "a", "in time"); a.status != http.StatusOK {
		t.Errorf("HTTP %d: %s", a.status, a.body)
	}
	now = now.Add(time.Second)
	if a := b.put(t, access, "b", "too late"); a.Name() != "ExpiredToken" {
		t.Errorf("HTTP %d: %s", a.status, a.body)
	}
	checkRefresh := func(want int) {
		t.Helper()
		if a := b.call(t, "com.atproto.server.refreshSession", refresh, nil); a.status != want {
			t.Errorf("HTTP %d, want %d: %s", a.status, want, a.body)
		}
	}
	checkRefresh(http.StatusOK)
	now = now.Add(2*time.Hour - time.Second)
	checkRefresh(http.StatusOK)
	now = now.Add(2 * time.Hour)
	checkRefresh(http.StatusBadRequest)
	_, refresh = b.session(t, "alice.test")
	now = now.Add(90 * 24 * time.Hour)
	checkRefresh(http.StatusBadRequest)
}

func TestDIDDocument(t *testing.T) {
	for url, want := range map[string]string{"": "", "https://sandbox.example/": "https://sandbox.example"} {
		b, _, _ := startWithSession(t, Options{URL: url})
		if want == "" {
			want = b.url
		}
		a := b.get(t, "/bluesky/xrpc/com.atproto.repo.describeRepo?repo=alice.test")
		if !strings.Contains(string(a.body), `"serviceEndpoint":"`+want+`/bluesky"`) {
			t.Errorf("URL %q: %s", url, a.body)
		}
	}
}

func TestEnsureBlueskyAccountInvalid(t *testing.T) {
	b := start(t, Options{})
	for handle, password := range map[string]string{"": "x", "alice": "x", "alice.test": "", "a b.test": "x", "@alice.test": "x"} {
		if err := b.EnsureBlueskyAccount(handle, "Alice", password); err == nil {
			t.Errorf("account %q with password %q was created", handle, password)
		}
	}
}

func TestInvalidPaths(t *testing.T) {
	b := start(t, Options{})
	for path, want := range map[string]int{
		"/nothing": http.StatusNotFound, "/bluesky": http.StatusNotFound, "/bluesky/": http.StatusNotImplemented,
		"/bluesky/xrpc/": http.StatusNotImplemented, "/bluesky/xrpc/a.b.c": http.StatusNotImplemented,
		"/bluesky/xrpc/_health": http.StatusOK, "/bluesky/xrpc/com.atproto.repo.putRecord": http.StatusMethodNotAllowed,
		"/bluesky/xrpc/com.atproto.identity.resolveHandle":                                http.StatusBadRequest,
		"/bluesky/xrpc/com.atproto.repo.getRecord":                                        http.StatusBadRequest,
		"/bluesky/xrpc/com.atproto.repo.listRecords?repo=a.test&collection=a.b.c&limit=x": http.StatusBadRequest,
	} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		recorder := httptest.NewRecorder()
		b.Handler().ServeHTTP(recorder, request)
		if recorder.Code != want && recorder.Code != http.StatusMovedPermanently && recorder.Code != http.StatusTemporaryRedirect {
			t.Errorf("%s: HTTP %d, want %d", path, recorder.Code, want)
		}
	}
}

// FuzzPut sends arbitrary request bodies as a signed-in account. The sandbox must not panic. It must not return 500
// unless a marker requests it.
func FuzzPut(f *testing.F) {
	for _, c := range rawCalls {
		if c.method == putRecordMethod && len(c.body) < 2000 {
			f.Add(strings.NewReplacer("DID", "alice.test", "KEY", "3l2345672abcd", "BLOB", blobOfSize("image/png", "1"),
				"FILE", unknownFile).Replace(c.body))
		}
	}
	f.Add(
		`{"repo":"alice.test","collection":"app.bsky.feed.post","rkey":"3l2345672abcd",` +
			`"record":{"text":"\ud800\u0000","createdAt":"0000-01-01T00:00:00Z","facets":[null,{"index":null,"features":[null]}]}}`)
	f.Add(`null`)
	server, err := Open(f.TempDir(), Options{After: func(time.Duration) <-chan time.Time { return time.After(0) }})
	if err != nil {
		f.Fatal(err)
	}
	defer server.Close()
	if err := server.EnsureBlueskyAccount("alice.test", "", "password"); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body string) {
		var session struct{ AccessJWT string }
		signIn := postRecorded(t, server, "server.createSession", "", `{"identifier":"alice.test","password":"password"}`)
		must.NoError(t, json.Unmarshal(signIn.Body.Bytes(), &session))
		recorder := postRecorded(t, server, "repo.putRecord", session.AccessJWT, body)
		if recorder.Code >= http.StatusInternalServerError && !strings.Contains(body, "sandbox:") {
			t.Errorf("HTTP %d: %s", recorder.Code, recorder.Body)
		}
	})
}

func postRecorded(t *testing.T, server *Server, method, token, body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/bluesky/xrpc/com.atproto."+method, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	recorder := httptest.NewRecorder()
	server.Handler().ServeHTTP(recorder, r)
	return recorder
}

// A post's URL on the network redirects to the post on the sandbox's page.
func TestPermalinkRedirects(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	start(t, Options{}).Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/bluesky/profile/alice.test/post/3miatogtx2c22", nil))
	if to := w.Header().Get("Location"); w.Code != http.StatusSeeOther || !strings.HasSuffix(to, "/#bluesky-3miatogtx2c22") {
		t.Errorf("%d to %s", w.Code, to)
	}
}
