package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit/must"
)

const xVerifier = "a-verifier-of-at-least-forty-three-characters-0"

// rest calls a network's API with a JSON body.
func (b *fixture) rest(t *testing.T, method, path, token, kind string, body io.Reader) answer {
	t.Helper()
	request := must.Get(http.NewRequestWithContext(t.Context(), method, b.url+path, body))(t)
	request.Header.Set("Content-Type", kind)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	return doRequest(request)
}

// json calls X with a JSON body.
func (b *fixture) json(t *testing.T, method, path, token, body string) answer {
	t.Helper()
	return b.rest(t, method, path, token, "application/json", strings.NewReader(body))
}

// accessToken returns an access token of a network for a person.
func (b *fixture) accessToken(t *testing.T, page, tokens, account string, more url.Values) string {
	t.Helper()
	query := url.Values{
		"client_id": {"app"}, "redirect_uri": {"https://app.test/back"}, "response_type": {"code"}, "scope": {"post"},
		"account": {account}, "decision": {"allow"},
	}
	maps.Copy(query, more)
	back := must.Get(url.Parse(b.form(t, http.MethodGet, page, query).header.Get("Location")))(t)
	form := url.Values{
		"grant_type": {"authorization_code"}, "code": {back.Query().Get("code")},
		"redirect_uri": {"https://app.test/back"}, "code_verifier": {xVerifier},
	}
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, b.url+tokens, strings.NewReader(form.Encode())))(t)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.SetBasicAuth("app", "secret")
	response := must.Get(http.DefaultClient.Do(request))(t)
	defer response.Body.Close()
	var given struct {
		Access string `json:"access_token"`
	}
	if err := json.NewDecoder(response.Body).Decode(&given); err != nil || given.Access == "" {
		t.Fatalf("HTTP %d, %v", response.StatusCode, err)
	}
	return given.Access
}

func (b *fixture) xToken(t *testing.T, account string) string {
	t.Helper()
	return b.accessToken(t, "/x/i/oauth2/authorize", "/x/2/oauth2/token", account, url.Values{
		"code_challenge": {"S6xMLfJrdwhXm9EJRqmQw6nyYWcpLlPsCEOqmhPUIcs"}, "code_challenge_method": {"S256"},
	})
}

func TestXRequiresPKCE(t *testing.T) {
	b := start(t, Options{})
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		if a := b.form(t, method, "/x/i/oauth2/authorize",
			with(consentQuery(), "decision", "allow", "account", "mira.keller")); a.status != http.StatusBadRequest {
			t.Errorf("%s: HTTP %d: %s", method, a.status, a.body)
		}
	}
}

func TestXRefuses(t *testing.T) {
	b := start(t, Options{})
	token := b.xToken(t, "mira.keller")
	for name, c := range map[string]struct {
		method, path, token, body string
		status                    int
	}{
		"no token":            {"POST", "/2/tweets", "", `{"text":"x"}`, 401},
		"another token":       {"GET", "/2/users/me", "other", ``, 401},
		"an unknown member":   {"POST", "/2/tweets", token, `{"text":"x","colour":"red"}`, 400},
		"no JSON":             {"POST", "/2/tweets", token, `text=x`, 400},
		"nothing":             {"POST", "/2/tweets", token, `{"text":" "}`, 400},
		"too long":            {"POST", "/2/tweets", token, `{"text":"` + strings.Repeat("x", 281) + `"}`, 400},
		"media that are none": {"POST", "/2/tweets", token, `{"text":"x","media":{"media_ids":["1000000000000000001"]}}`, 400},
		"an unknown category": {
			"POST", "/2/media/upload/initialize", token, `{"media_type":"image/png","media_category":"poster","total_bytes":5}`, 400,
		},
		"a large image": {
			"POST", "/2/media/upload/initialize", token,
			`{"media_type":"image/png","media_category":"tweet_image","total_bytes":6000000}`, 400,
		},
		"an unknown upload": {"GET", "/2/media/upload?media_id=5&command=STATUS", token, ``, 404},
		"an unknown end":    {"POST", "/2/media/upload/1000000000000000009/finalize", token, ``, 404},
		"a long description": {
			"POST", "/2/media/metadata", token, `{"id":"5","metadata":{"alt_text":{"text":"` + strings.Repeat("x", 1001) + `"}}}`, 400,
		},
		"too few":              {"GET", "/2/users/5/tweets?max_results=4", token, ``, 400},
		"no time":              {"GET", "/2/users/5/tweets?start_time=noon", token, ``, 400},
		"an unknown parameter": {"GET", "/2/users/5/tweets?colour=red", token, ``, 400},
		"an unknown path":      {"GET", "/2/nowhere", token, ``, 404},
		"a file of nobody":     {"GET", "/media/5/6", "", ``, 404},
	} {
		if a := b.json(t, c.method, "/x"+c.path, c.token, c.body); a.status != c.status || a.member("title") == "" {
			t.Errorf("%s: HTTP %d: %s", name, a.status, a.body)
		}
	}
	if posts := b.listPosts(t, url.Values{"platform": {"x"}}); len(posts) != 0 {
		t.Errorf("held %+v", posts)
	}
}

// xSegmentOf sends a segment, or an invalid one.
func (b *fixture) xSegmentOf(t *testing.T, token, id string, fields ...string) answer {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for i := 0; i < len(fields); i += 2 {
		must.NoError(t, form.WriteField(fields[i], fields[i+1]))
	}
	must.NoError(t, form.Close())
	return b.rest(t, http.MethodPost, "/x/2/media/upload/"+id+"/append", token, form.FormDataContentType(), &body)
}

const xGIF = "GIF89a and more"

func (b *fixture) xBegin(t *testing.T, token string) string {
	t.Helper()
	a := b.json(t, http.MethodPost, "/x/2/media/upload/initialize", token,
		fmt.Sprintf(`{"media_type":"image/gif","media_category":"tweet_gif","total_bytes":%d}`, len(xGIF)))
	var begun struct{ Data struct{ ID string } }
	if err := json.Unmarshal(a.body, &begun); err != nil || a.status != http.StatusOK {
		t.Fatalf("HTTP %d: %s", a.status, a.body)
	}
	return begun.Data.ID
}

// Segments can be sent in any order and repeatedly, survive a restart, and belong to the uploader.
func TestXSegments(t *testing.T) {
	dir := t.TempDir()
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	opts := Options{Now: func() time.Time { return now }, Ready: 3 * time.Second}
	b := startIn(t, dir, opts)
	token := b.xToken(t, "mira.keller")
	id := b.xBegin(t, token)
	for name, fields := range map[string][]string{
		"no index": {"media", "x"}, "no media": {"segment_index", "0"}, "an index too high": {"segment_index", "1000", "media", "x"},
		"no number": {"segment_index", "one", "media", "x"}, "another field": {"segment_index", "0", "media", "x", "colour", "red"},
	} {
		if a := b.xSegmentOf(t, token, id, fields...); a.status != http.StatusBadRequest {
			t.Errorf("%s: HTTP %d: %s", name, a.status, a.body)
		}
	}
	if a := b.xSegmentOf(t, b.xToken(t, "studio.north"), id, "media", "x", "segment_index", "0"); a.status != http.StatusNotFound {
		t.Errorf("somebody else: HTTP %d: %s", a.status, a.body)
	}
	b.xSegmentOf(t, token, id, "media", xGIF[5:], "segment_index", "1")
	end := func() answer { return b.json(t, http.MethodPost, "/x/2/media/upload/"+id+"/finalize", token, "") }
	if a := end(); a.status != http.StatusBadRequest {
		t.Errorf("not whole: HTTP %d: %s", a.status, a.body)
	}
	b.xSegmentOf(t, token, id, "media", "wrong", "segment_index", "0")
	must.NoError(t, b.Close())
	b = startIn(t, dir, opts)
	b.xSegmentOf(t, token, id, "segment_index", "0", "media", xGIF[:5])
	for range 2 {
		if a := end(); a.status != http.StatusOK || !bytes.Contains(a.body, []byte("in_progress")) {
			t.Errorf("HTTP %d: %s", a.status, a.body)
		}
	}
	post := `{"media":{"media_ids":["` + id + `"]}}`
	if a := b.json(t, http.MethodPost, "/x/2/tweets", token, post); a.status != http.StatusBadRequest {
		t.Errorf("too soon: HTTP %d: %s", a.status, a.body)
	}
	now = now.Add(3 * time.Second)
	if a := b.json(t, http.MethodPost, "/x/2/tweets", token, post); a.status != http.StatusCreated {
		t.Errorf("HTTP %d: %s", a.status, a.body)
	}
	posts := b.listPosts(t, url.Values{"platform": {"x"}})
	if len(posts) != 1 || string(b.get(t, strings.TrimPrefix(posts[0].Media[0], b.url)).body) != xGIF {
		t.Errorf("held %+v", posts)
	}
}
