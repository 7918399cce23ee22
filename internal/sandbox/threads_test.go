package sandbox

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// graphCode returns the code and the subcode of an error response.
func (a answer) graphCode() [2]int {
	var result struct {
		Error struct {
			Code    int
			Subcode int `json:"error_subcode"`
		}
	}
	_ = json.Unmarshal(a.body, &result)
	return [2]int{result.Error.Code, result.Error.Subcode}
}

// threads calls the API. values contains pairs of a name and a value.
func (b *fixture) threads(t *testing.T, method, path, token string, values ...string) answer {
	t.Helper()
	return b.form(t, method, "/threads/v1.0/"+path, with(url.Values{"access_token": {token}}, values...))
}

// id returns the member "id" of a successful response.
func (a answer) id(t *testing.T) string {
	t.Helper()
	var result struct{ ID string }
	if err := json.Unmarshal(a.body, &result); err != nil || a.status != http.StatusOK || result.ID == "" {
		t.Fatalf("HTTP %d: %s", a.status, a.body)
	}
	return result.ID
}

// member returns a string member of the response.
func (a answer) member(name string) string {
	var result map[string]any
	_ = json.Unmarshal(a.body, &result)
	text, _ := result[name].(string)
	return text
}

func TestThreadsContainerStatus(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	b := start(t, Options{Now: func() time.Time { return now }, ProcessingTime: 3 * time.Second})
	token := b.threadsToken(t)
	id := b.threads(t, http.MethodPost, "me/threads", token, "media_type", "TEXT", "text", "hello").id(t)
	status := func() string { return b.threads(t, http.MethodGet, id, token, "fields", "status").member("status") }
	if got := status(); got != "IN_PROGRESS" {
		t.Errorf("new container: %s", got)
	}
	if a := b.threads(t, http.MethodPost, "me/threads_publish", token, "creation_id", id); a.graphCode() != [2]int{9007, 2207027} {
		t.Errorf("published during processing: HTTP %d: %s", a.status, a.body)
	}
	now = now.Add(3 * time.Second)
	if got := status(); got != "FINISHED" {
		t.Errorf("after processing: %s", got)
	}
	post := b.threads(t, http.MethodPost, "me/threads_publish", token, "creation_id", id).id(t)
	if got := status(); got != "PUBLISHED" || post == id {
		t.Errorf("published as %s: %s", post, got)
	}
	if a := b.threads(t, http.MethodPost, "me/threads_publish", token, "creation_id", id); a.status != http.StatusBadRequest {
		t.Errorf("published twice: HTTP %d", a.status)
	}
	late := b.threads(t, http.MethodPost, "me/threads", token, "media_type", "TEXT", "text", "late").id(t)
	now = now.Add(24*time.Hour - time.Minute) // the token expires after one hour
	token = b.threadsToken(t)
	now = now.Add(time.Minute)
	if got := b.threads(t, http.MethodGet, late, token, "fields", "status").member("status"); got != "EXPIRED" {
		t.Errorf("after a day: %s", got)
	}
	if posts := b.texts(t, url.Values{"platform": {"threads"}}); len(posts) != 1 {
		t.Errorf("stored posts: %q", posts)
	}
	if page := string(b.get(t, "/").body); !strings.Contains(page, `id="threads-`+post+`"`) {
		t.Error("the page lacks the post")
	}
}

func TestThreadsErrors(t *testing.T) {
	b := start(t, Options{})
	token := b.threadsToken(t)
	item := b.threads(t, http.MethodPost, "me/threads", token, "media_type", "VIDEO", "video_url",
		"http://127.0.0.1:1/", "is_carousel_item", "true").id(t)
	for name, c := range map[string]struct {
		method, path string
		values       []string
		want         [2]int
	}{
		"no text": {http.MethodPost, "me/threads", []string{"media_type", "TEXT"}, [2]int{100, 0}},
		"too long": {
			http.MethodPost, "me/threads", []string{"media_type", "TEXT", "text", strings.Repeat("👋", 126)}, [2]int{36004, 2207010},
		},
		"too many links": {
			http.MethodPost, "me/threads",
			[]string{"media_type", "TEXT", "text", "http://a http://b http://c http://d http://e http://f"}, [2]int{100, 0},
		},
		"no media type":   {http.MethodPost, "me/threads", []string{"text", "x"}, [2]int{100, 0}},
		"another account": {http.MethodPost, "123/threads", []string{"media_type", "TEXT", "text", "x"}, [2]int{100, 33}},
		"no image_url":    {http.MethodPost, "me/threads", []string{"media_type", "IMAGE"}, [2]int{9004, 2207052}},
		"small carousel":  {http.MethodPost, "me/threads", []string{"media_type", "CAROUSEL", "children", item}, [2]int{100, 2207028}},
		"large carousel": {
			http.MethodPost, "me/threads",
			[]string{"media_type", "CAROUSEL", "children", strings.Repeat("1,", 20) + "1"}, [2]int{100, 2207028},
		},
		"unknown item": {http.MethodPost, "me/threads", []string{"media_type", "CAROUSEL", "children", "1,2"}, [2]int{100, 33}},
		"failed item": {
			http.MethodPost, "me/threads", []string{"media_type", "CAROUSEL", "children", item + "," + item}, [2]int{9007, 2207027},
		},
		"unknown container":  {http.MethodPost, "me/threads_publish", []string{"creation_id", "18x"}, [2]int{24, 2207006}},
		"publishing an item": {http.MethodPost, "me/threads_publish", []string{"creation_id", item}, [2]int{24, 2207006}},
		"unknown ID":         {http.MethodGet, "189", nil, [2]int{100, 33}},
		"unknown path":       {http.MethodGet, "me/likes", nil, [2]int{2500, 0}},
		"limit too high":     {http.MethodGet, "me/threads", []string{"limit", "101"}, [2]int{100, 0}},
		"invalid since":      {http.MethodGet, "me/threads", []string{"since", "yesterday"}, [2]int{100, 0}},
		"no token":           {http.MethodGet, "me", []string{"access_token", ""}, [2]int{190, 0}},
		"code as a token": {http.MethodGet, "me", []string{"access_token", b.consentRedirect(t,
			consentQuery()).Get("code")}, [2]int{190, 0}},
	} {
		a := b.threads(t, c.method, c.path, token, c.values...)
		if a.status != http.StatusBadRequest || a.graphCode() != c.want {
			t.Errorf("%s: HTTP %d: %s", name, a.status, a.body)
		}
	}
	if posts := b.texts(t, nil); len(posts) != 0 {
		t.Errorf("stored posts: %q", posts)
	}
}

func TestThreadsTokens(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	b := start(t, Options{Now: func() time.Time { return now }})
	token := b.threadsToken(t)
	exchangeToken := func(path, grant, token string) answer {
		return b.form(t, http.MethodGet, "/threads/"+path,
			url.Values{"grant_type": {grant}, "client_secret": {"s"}, "access_token": {token}})
	}
	long := exchangeToken("access_token", "th_exchange_token", token).member("access_token")
	if a := exchangeToken("refresh_access_token", "th_refresh_token", long); a.status != http.StatusBadRequest {
		t.Errorf("new token: HTTP %d: %s", a.status, a.body)
	}
	now = now.Add(24 * time.Hour)
	if a := b.threads(t, http.MethodGet, "me", token); a.graphCode() != [2]int{190, 463} {
		t.Errorf("short-lived token after a day: HTTP %d: %s", a.status, a.body)
	}
	refreshed := exchangeToken("refresh_access_token", "th_refresh_token", long).member("access_token")
	for name, token := range map[string]string{"old": long, "new": refreshed} {
		if a := b.threads(t, http.MethodGet, "me", token, "fields", "username"); a.member("username") != "mira.keller" {
			t.Errorf("%s: HTTP %d: %s", name, a.status, a.body)
		}
	}
}

// TestThreadsDataSurvivesKill opens the data of a sandbox that was never closed, as after a kill.
func TestThreadsDataSurvivesKill(t *testing.T) {
	b := start(t, Options{})
	token := b.threadsToken(t)
	id := b.threads(t, http.MethodPost, "me/threads", token, "media_type", "TEXT", "text", "kept").id(t)
	reopened := startIn(t, b.dir, Options{})
	reopened.threads(t, http.MethodPost, "me/threads_publish", token, "creation_id", id).id(t)
	if posts := reopened.texts(t, nil); len(posts) != 1 || posts[0] != "kept" {
		t.Errorf("stored posts: %q", posts)
	}
}

func TestThreadsMarkerRateLimit(t *testing.T) {
	b := start(t, Options{})
	token := b.threadsToken(t)
	id := b.threads(t, http.MethodPost, "me/threads", token, "media_type", "TEXT", "text", "[sandbox:rate-limit]").id(t)
	a := b.threads(t, http.MethodPost, "me/threads_publish", token, "creation_id", id)
	if a.graphCode() != [2]int{4, 0} || a.header.Get("Retry-After") != "2" ||
		!strings.Contains(a.header.Get("X-Business-Use-Case-Usage"), `"estimated_time_to_regain_access":1`) {
		t.Errorf("HTTP %d, %v: %s", a.status, a.header, a.body)
	}
}
