package e2e

import (
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/testkit/must"
)

// callers returns the request headers of each kind of caller.
func callers(w *env) map[string]http.Header {
	return map[string]http.Header{"the right key": bearer(full(w)), "a wrong key": bearer(apikey.New(apikey.APIKey)), "no key": {}}
}

// An unknown path returns the same response to every caller, before any other check.
func TestAddresses(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		id := w.draft("a draft")
		first := w.raw(http.MethodGet, w.base+"/nowhere", nil, nil)
		first.mustReject(t, http.StatusNotFound, "endpoint_not_found", "")
		for _, path := range []string{
			"", "/", "//", "/nowhere", "/me/", "//me", "/ME", "/me/me", "/posts/", "/posts/" + id + "/",
			"/posts/" + id + "/nowhere", "/posts/" + id + "/cancel/now",
			"/posts/bad_id", "/posts/a.b", "/posts/" + strings.Repeat("a", 65), "/posts/%00", "/posts/a%2Fb",
			"/posts/..", "/posts/%2e%2e/me", "/posts/é",
			"/jobs", "/jobs/social_post", "/jobs/Social:abc", "/jobs/" + strings.Repeat("a", 33) + ":abc",
			"/jobs/social_post:" + strings.Repeat("a", 65), "/jobs/:abc", "/jobs/a:b:c",
			"/social-accounts/1", "/hashtag-lists/one", "/hashtag-lists/01", "/hashtag-lists/-1/hashtags", "/hashtags",
			"/brand-voices/" + noSuchID, "/mcp", "/../v1/me", "/openapi.yaml", "/me;x=1", "/{id}",
		} {
			for name, header := range callers(w) {
				got := w.raw(http.MethodGet, w.base+path, header, nil)
				if comparableText(got) != comparableText(first) {
					t.Errorf("%q with %s:\n%s", path, name, comparableText(got))
				}
			}
			// Body and headers do not affect the response.
			header := http.Header{"Content-Type": {"text/plain"}, "Idempotency-Key": {"a", "b"}, "Authorization": {"Bearer x"}}
			if got := w.raw(http.MethodPost, w.base+path, header, []byte("{")); comparableText(got) != comparableText(first) {
				t.Errorf("POST %q:\n%s", path, comparableText(got))
			}
		}
	})
}

// The Allow header of each path is the same for every caller.
func TestMethods(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(_ *testing.T, w *env) {
		declared := map[string][]string{"/openapi.json": {"GET"}}
		names := regexp.MustCompile(`\{[a-z_]+\}`)
		for _, op := range w.Registry().All() {
			id := noSuchID
			if strings.HasPrefix(op.Path, "/jobs/") {
				id = "social_post:" + noSuchID
			}
			if strings.HasPrefix(op.Path, "/hashtag-lists/") || strings.HasPrefix(op.Path, "/brand-voices/") {
				id = "1"
			}
			path := strings.NewReplacer("{type}", "profile", "{account_id}", "1").Replace(op.Path)
			path = names.ReplaceAllString(path, id)
			declared[path] = append(declared[path], op.Method)
		}
		for path, has := range declared {
			slices.Sort(has)
			for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "BREW", "get"} {
				if slices.Contains(has, method) {
					continue
				}
				w.mustNotAllow(method, path, has)
			}
		}
	})
}

func (w *env) mustNotAllow(method, path string, has []string) {
	w.t.Helper()
	var first answer
	for name, header := range callers(w) {
		header.Set("Origin", "https://example.org")
		header.Set("Access-Control-Request-Method", "POST")
		header.Set("Idempotency-Key", "x")
		got := w.raw(method, w.base+path+"?x=1", header, nil)
		if allow := got.header.Get("Allow"); got.status != http.StatusMethodNotAllowed || allow != strings.Join(has, ", ") {
			w.t.Errorf("%s %s: %d, Allow: %s, want %v", method, path, got.status, allow, has)
		}
		if method == http.MethodHead {
			if len(got.raw) > 0 {
				w.t.Errorf("HEAD %s has a body", path)
			}
		} else {
			got.mustReject(w.t, http.StatusMethodNotAllowed, "method_not_allowed", "")
		}
		if first.header != nil && comparableText(got) != comparableText(first) {
			w.t.Errorf("%s %s with %s:\n%s\n\notherwise\n\n%s", method, path, name, comparableText(got), comparableText(first))
		}
		first = got
	}
}

// A colon in a job's path may be escaped.
func TestJobAddress(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		started := w.full("publish_post", map[string]any{"post_id": w.draft("a post")})
		job := started.text("data.job_id")
		location := started.header.Get("Location")
		if location != w.base+"/jobs/"+strings.Replace(job, ":", "%3A", 1) {
			t.Fatalf("Location %q of %s", location, job)
		}
		for _, url := range []string{location, w.base + "/jobs/" + job, strings.Replace(location, "%3A", "%3a", 1)} {
			got := w.raw(http.MethodGet, url, bearer(full(w)), nil)
			got.mustBe(t, http.StatusOK)
			got.mustHave(t, map[string]any{"data.job_id": job})
		}
		made := w.full("create_post", map[string]any{"caption": "x", "account_ids": w.accounts})
		w.raw(http.MethodGet, made.header.Get("Location"), bearer(full(w)), nil).
			mustHave(t, map[string]any{"data.id": made.text("data.id")})
	})
}

// The API description needs no key and may be cached.
func TestDescription(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		first := w.raw(http.MethodGet, w.base+"/openapi.json", nil, nil)
		first.mustBe(t, http.StatusOK)
		etag := first.header.Get("ETag")
		if etag == "" || !strings.Contains(first.header.Get("Cache-Control"), "max-age=") ||
			first.header.Get("Content-Type") != "application/json" {
			t.Errorf("headers: %v", first.header)
		}
		golden := must.Get(os.ReadFile("../../api/openapi.json"))(t)
		if served := regexp.MustCompile(`"url":"[^"]*/(api/v1|docs)"`); served.ReplaceAllString(squeeze(string(first.raw)),
			"") != served.ReplaceAllString(squeeze(string(golden)), "") {
			t.Error("the response differs from api/openapi.json")
		}
		for held, want := range map[string]int{
			etag: 304, "W/" + etag: 304, `"other", ` + etag: 304, "*": 304, `"other"`: 200, "": 200, strings.Trim(etag, `"`): 200,
		} {
			for name, header := range callers(w) {
				header.Set("If-None-Match", held)
				got := w.raw(http.MethodGet, w.base+"/openapi.json", header, nil)
				if got.status != want || got.header.Get("ETag") != etag || (want == 304) != (len(got.raw) == 0) {
					t.Errorf("If-None-Match: %s with %s: %d and %d bytes, want %d", held, name, got.status, len(got.raw), want)
				}
			}
		}
	})
}

// squeeze removes all white space, including white space in JSON strings.
func squeeze(text string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(text, `": `, `":`)), "")
}
