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

// rest calls a network's API with a body of the content type kind.
func (b *fixture) rest(t *testing.T, method, path, token, kind string, body io.Reader) answer {
	t.Helper()
	request := must.Get(http.NewRequestWithContext(t.Context(), method, b.url+path, body))(t)
	request.Header.Set("Content-Type", kind)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	return doRequest(request)
}

// json calls a network's API with a JSON body.
func (b *fixture) json(t *testing.T, method, path, token, body string) answer {
	t.Helper()
	return b.rest(t, method, path, token, "application/json", strings.NewReader(body))
}

// accessToken returns an access token of an account. consentPath and tokenPath are the paths of the consent page and
// the token endpoint. params contains further parameters for the consent page.
func (b *fixture) accessToken(t *testing.T, consentPath, tokenPath, account string, params url.Values) string {
	t.Helper()
	query := url.Values{
		"client_id": {"app"}, "redirect_uri": {"https://app.test/back"}, "response_type": {"code"}, "scope": {"post"},
		"account": {account}, "decision": {"allow"},
	}
	maps.Copy(query, params)
	form := url.Values{
		"grant_type": {"authorization_code"}, "code": {b.form(t, http.MethodGet, consentPath, query).code(t)},
		"redirect_uri": {"https://app.test/back"}, "code_verifier": {xVerifier},
	}
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, b.url+tokenPath, strings.NewReader(form.Encode())))(t)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.SetBasicAuth("app", "secret")
	response := must.Get(http.DefaultClient.Do(request))(t)
	defer response.Body.Close()
	var tokens struct {
		Access string `json:"access_token"`
	}
	if err := json.NewDecoder(response.Body).Decode(&tokens); err != nil || tokens.Access == "" {
		t.Fatalf("HTTP %d, %v", response.StatusCode, err)
	}
	return tokens.Access
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

func TestXErrors(t *testing.T) {
	b := start(t, Options{})
	token := b.xToken(t, "mira.keller")
	for name, c := range map[string]struct {
		method, path, token, body string
		status                    int
	}{
		"no token":       {"POST", "/2/tweets", "", `{"text":"x"}`, 401},
		"unknown token":  {"GET", "/2/users/me", "other", ``, 401},
		"unknown member": {"POST", "/2/tweets", token, `{"text":"x","colour":"red"}`, 400},
		"invalid JSON":   {"POST", "/2/tweets", token, `text=x`, 400},
		"no text":        {"POST", "/2/tweets", token, `{"text":" "}`, 400},
		"too long":       {"POST", "/2/tweets", token, `{"text":"` + strings.Repeat("x", 281) + `"}`, 400},
		"unknown media":  {"POST", "/2/tweets", token, `{"text":"x","media":{"media_ids":["1000000000000000001"]}}`, 400},
		"unknown category": {
			"POST", "/2/media/upload/initialize", token, `{"media_type":"image/png","media_category":"poster","total_bytes":5}`, 400,
		},
		"large image": {
			"POST", "/2/media/upload/initialize", token,
			`{"media_type":"image/png","media_category":"tweet_image","total_bytes":6000000}`, 400,
		},
		"unknown upload":               {"GET", "/2/media/upload?media_id=5&command=STATUS", token, ``, 404},
		"finalizing an unknown upload": {"POST", "/2/media/upload/1000000000000000009/finalize", token, ``, 404},
		"long alt text": {
			"POST", "/2/media/metadata", token, `{"id":"5","metadata":{"alt_text":{"text":"` + strings.Repeat("x", 1001) + `"}}}`, 400,
		},
		"max_results too low": {"GET", "/2/users/5/tweets?max_results=4", token, ``, 400},
		"invalid start_time":  {"GET", "/2/users/5/tweets?start_time=noon", token, ``, 400},
		"unknown parameter":   {"GET", "/2/users/5/tweets?colour=red", token, ``, 400},
		"unknown path":        {"GET", "/2/nowhere", token, ``, 404},
		"unknown file":        {"GET", "/media/5/6", "", ``, 404},
	} {
		if a := b.json(t, c.method, "/x"+c.path, c.token, c.body); a.status != c.status || a.member("title") == "" {
			t.Errorf("%s: HTTP %d: %s", name, a.status, a.body)
		}
	}
	if posts := b.listPosts(t, url.Values{"platform": {"x"}}); len(posts) != 0 {
		t.Errorf("stored posts: %+v", posts)
	}
}

// xAppend sends the form of a segment. fields contains pairs of a name and a value.
func (b *fixture) xAppend(t *testing.T, token, id string, fields ...string) answer {
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

func (b *fixture) xInitUpload(t *testing.T, token string) string {
	t.Helper()
	a := b.json(t, http.MethodPost, "/x/2/media/upload/initialize", token,
		fmt.Sprintf(`{"media_type":"image/gif","media_category":"tweet_gif","total_bytes":%d}`, len(xGIF)))
	var initialized struct{ Data struct{ ID string } }
	if err := json.Unmarshal(a.body, &initialized); err != nil || a.status != http.StatusOK {
		t.Fatalf("HTTP %d: %s", a.status, a.body)
	}
	return initialized.Data.ID
}

// A client can send segments in any order and repeatedly. The segments survive a restart. Other accounts cannot send
// segments.
func TestXSegments(t *testing.T) {
	dir := t.TempDir()
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	opts := Options{Now: func() time.Time { return now }, ProcessingTime: 3 * time.Second}
	b := startIn(t, dir, opts)
	token := b.xToken(t, "mira.keller")
	id := b.xInitUpload(t, token)
	for name, fields := range map[string][]string{
		"no index": {"media", "x"}, "no media": {"segment_index", "0"}, "index too high": {"segment_index", "1000", "media", "x"},
		"invalid index": {"segment_index", "one", "media", "x"}, "unknown field": {"segment_index", "0", "media", "x", "colour", "red"},
	} {
		if a := b.xAppend(t, token, id, fields...); a.status != http.StatusBadRequest {
			t.Errorf("%s: HTTP %d: %s", name, a.status, a.body)
		}
	}
	if a := b.xAppend(t, b.xToken(t, "studio.north"), id, "media", "x", "segment_index", "0"); a.status != http.StatusNotFound {
		t.Errorf("another account: HTTP %d: %s", a.status, a.body)
	}
	b.xAppend(t, token, id, "media", xGIF[5:], "segment_index", "1")
	finalize := func() answer { return b.json(t, http.MethodPost, "/x/2/media/upload/"+id+"/finalize", token, "") }
	if a := finalize(); a.status != http.StatusBadRequest {
		t.Errorf("missing segment: HTTP %d: %s", a.status, a.body)
	}
	b.xAppend(t, token, id, "media", "wrong", "segment_index", "0")
	must.NoError(t, b.Close())
	b = startIn(t, dir, opts)
	b.xAppend(t, token, id, "segment_index", "0", "media", xGIF[:5])
	for range 2 {
		if a := finalize(); a.status != http.StatusOK || !bytes.Contains(a.body, []byte("in_progress")) {
			t.Errorf("HTTP %d: %s", a.status, a.body)
		}
	}
	post := `{"media":{"media_ids":["` + id + `"]}}`
	if a := b.json(t, http.MethodPost, "/x/2/tweets", token, post); a.status != http.StatusBadRequest {
		t.Errorf("during processing: HTTP %d: %s", a.status, a.body)
	}
	now = now.Add(3 * time.Second)
	if a := b.json(t, http.MethodPost, "/x/2/tweets", token, post); a.status != http.StatusCreated {
		t.Errorf("HTTP %d: %s", a.status, a.body)
	}
	posts := b.listPosts(t, url.Values{"platform": {"x"}})
	if len(posts) != 1 || string(b.get(t, strings.TrimPrefix(posts[0].Media[0], b.url)).body) != xGIF {
		t.Errorf("stored posts: %+v", posts)
	}
}
