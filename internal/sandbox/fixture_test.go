package sandbox

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
)

// fixture is a sandbox that listens on a loopback address.
type fixture struct {
	*Server
	url string
	dir string
}

func start(t *testing.T, opts Options) *fixture {
	t.Helper()
	return startIn(t, t.TempDir(), opts)
}

func startIn(t *testing.T, dir string, opts Options) *fixture {
	t.Helper()
	server := must.Get(Open(dir, opts))(t)
	listener := httptest.NewServer(server.Handler())
	t.Cleanup(func() {
		server.Close()
		listener.Close()
	})
	return &fixture{Server: server, url: listener.URL, dir: dir}
}

func (b *fixture) account(t *testing.T, handle string) {
	t.Helper()
	must.NoError(t, b.EnsureBlueskyAccount(handle, "Alice A.", "password"))
}

// answer is the response to a call.
type answer struct {
	status int
	header http.Header
	body   []byte
	err    error // set if the connection was closed without a response
}

// Name returns the "error" member of an error response.
func (a answer) Name() string {
	var result struct{ Error string }
	_ = json.Unmarshal(a.body, &result)
	return result.Error
}

func (b *fixture) call(t *testing.T, method, token string, in any) answer {
	t.Helper()
	body := must.Get(json.Marshal(in))(t)
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, b.url+"/bluesky/xrpc/"+method, bytes.NewReader(body)))(t)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+token)
	return doRequest(request)
}

// doRequest sends a request and returns the response.
func doRequest(request *http.Request) answer {
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return answer{err: err}
	}
	defer response.Body.Close()
	result, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header, result, err}
}

// session signs in and returns an access token and a refresh token.
func (b *fixture) session(t *testing.T, handle string) (string, string) {
	t.Helper()
	a := b.call(t, "com.atproto.server.createSession", "", map[string]string{"identifier": handle, "password": "password"})
	var session struct{ AccessJWT, RefreshJWT string }
	if err := json.Unmarshal(a.body, &session); err != nil || session.AccessJWT == "" {
		t.Fatalf("signing in: %v: %s", err, a.body)
	}
	return session.AccessJWT, session.RefreshJWT
}

// put publishes text with a record key that contains name, which must be at most twelve characters of a TID.
func (b *fixture) put(t *testing.T, token, name, text string) answer {
	t.Helper()
	return b.call(t, "com.atproto.repo.putRecord", token, map[string]any{
		"repo": "alice.test", "collection": "app.bsky.feed.post", "rkey": "3" + name + strings.Repeat("2", 12-len(name)), "swapRecord": nil,
		"record": map[string]string{"$type": "app.bsky.feed.post", "text": text, "createdAt": "2026-01-01T00:00:00.000Z"},
	})
}

// texts returns the texts of GET /held.
func (b *fixture) texts(t *testing.T, query url.Values) []string {
	t.Helper()
	var texts []string
	for _, p := range b.listPosts(t, query) {
		texts = append(texts, p.Text)
	}
	return texts
}

func (b *fixture) listPosts(t *testing.T, query url.Values) []listedPost {
	t.Helper()
	var answer struct{ Posts []listedPost }
	if err := json.Unmarshal(b.get(t, "/held?"+query.Encode()).body, &answer); err != nil || answer.Posts == nil {
		t.Fatalf("GET /held: %v", err)
	}
	return answer.Posts
}

func (b *fixture) get(t *testing.T, path string) answer {
	t.Helper()
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, b.url+path, nil))(t)
	response := must.Get(http.DefaultClient.Do(request))(t)
	defer response.Body.Close()
	body := must.Get(io.ReadAll(response.Body))(t)
	return answer{status: response.StatusCode, header: response.Header, body: body}
}
