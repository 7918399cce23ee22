package sandbox

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
)

// threadsInsightsToken returns a token of mira.keller that allows insights.
func (b *fixture) threadsInsightsToken(t *testing.T) string {
	t.Helper()
	code := b.consentRedirect(t, with(consentQuery(), "scope", "threads_basic,threads_manage_insights")).Get("code")
	return b.form(t, http.MethodPost, "/threads/oauth/access_token", exchange(code)).member("access_token")
}

// publishThread publishes a text on Threads and returns the ID of the post.
func (b *fixture) publishThread(t *testing.T, token, text string) string {
	t.Helper()
	container := b.threads(t, http.MethodPost, "me/threads", token, "media_type", "TEXT", "text", text).id(t)
	return b.threads(t, http.MethodPost, "me/threads_publish", token, "creation_id", container).id(t)
}

// Invalid and unauthorized requests for insights fail with Meta's errors.
func TestGraphInsightsErrors(t *testing.T) {
	b := start(t, Options{})
	plain, token := b.threadsToken(t), b.threadsInsightsToken(t)
	post := b.publishThread(t, plain, "hello")
	for name, c := range map[string]struct {
		path, token, metric string
		code                [2]int
	}{
		"without the scope":         {post + "/insights", plain, "views", [2]int{10, 0}},
		"account without the scope": {"me/threads_insights", plain, "followers_count", [2]int{10, 0}},
		"without a token":           {post + "/insights", "", "views", [2]int{190, 0}},
		"unknown metric":            {post + "/insights", token, "views,impressions", [2]int{100, 0}},
		"no metric":                 {post + "/insights", token, "", [2]int{100, 0}},
		"unknown post":              {"17999/insights", token, "views", [2]int{100, 33}},
		"unknown account metric":    {"me/threads_insights", token, "clicks", [2]int{100, 0}},
	} {
		if a := b.threads(t, http.MethodGet, c.path, c.token, "metric", c.metric); a.status != http.StatusBadRequest ||
			a.graphCode() != c.code {
			t.Errorf("%s: HTTP %d: %s", name, a.status, a.body)
		}
	}
	if a := b.threads(t, http.MethodGet, post+"/insights", token, "metric", "views,likes"); a.status != http.StatusOK {
		t.Errorf("HTTP %d: %s", a.status, a.body)
	}
	_, page, id := b.facebookTokens(t)
	if a := b.facebook(t, http.MethodGet, "graph/v25.0/"+id+"_1/insights", page, "metric", "post_clicks"); a.graphCode() != [2]int{10, 0} {
		t.Errorf("Page without the scope: HTTP %d: %s", a.status, a.body)
	}
}

// The pages of a list have cursors, except the last page.
func TestGraphListPages(t *testing.T) {
	b := start(t, Options{})
	token := b.threadsToken(t)
	for i := range 5 {
		b.publishThread(t, token, strconv.Itoa(i))
	}
	var texts string
	after := ""
	for range 3 {
		var list struct {
			Data   []struct{ Text string }
			Paging struct {
				Next    string
				Cursors struct{ After string }
			}
		}
		values := []string{"fields", "text", "limit", "2"}
		if after != "" {
			values = append(values, "after", after)
		}
		a := b.threads(t, http.MethodGet, "me/threads", token, values...)
		if err := json.Unmarshal(a.body, &list); err != nil {
			t.Fatalf("HTTP %d: %s", a.status, a.body)
		}
		for _, p := range list.Data {
			texts += p.Text
		}
		after = list.Paging.Cursors.After
		if (list.Paging.Next == "") != (len(list.Data) < 2) {
			t.Errorf("%s", a.body)
		}
	}
	if texts != "43210" || after != "" {
		t.Errorf("read %s, then %q", texts, after)
	}
	if a := b.threads(t, http.MethodGet, "me/threads", token, "after", "nowhere"); a.graphCode() != [2]int{100, 0} {
		t.Errorf("HTTP %d: %s", a.status, a.body)
	}
}

// The methods of the app view require a token and an existing account.
func TestBlueskyAppViewErrors(t *testing.T) {
	b := start(t, Options{})
	b.account(t, "alice.test")
	token, _ := b.session(t, "alice.test")
	for name, c := range map[string]struct {
		path, token string
		status      int
	}{
		"profile":                            {"app.bsky.actor.getProfile?actor=alice.test", token, 200},
		"profile without an actor":           {"app.bsky.actor.getProfile", token, 400},
		"profile of an unknown account":      {"app.bsky.actor.getProfile?actor=nobody.test", token, 400},
		"profile without a token":            {"app.bsky.actor.getProfile?actor=alice.test", "", 401},
		"feed":                               {"app.bsky.feed.getAuthorFeed?actor=alice.test", token, 200},
		"feed of an unknown account":         {"app.bsky.feed.getAuthorFeed?actor=nobody.test", token, 400},
		"feed without a token":               {"app.bsky.feed.getAuthorFeed?actor=alice.test", "", 401},
		"feed with a limit that is too high": {"app.bsky.feed.getAuthorFeed?actor=alice.test&limit=101", token, 400},
		"feed with an invalid cursor":        {"app.bsky.feed.getAuthorFeed?actor=alice.test&cursor=x", token, 400},
	} {
		request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, b.url+"/bluesky/xrpc/"+c.path, nil))(t)
		if c.token != "" {
			request.Header.Set("Authorization", "Bearer "+c.token)
		}
		response := must.Get(http.DefaultClient.Do(request))(t)
		response.Body.Close()
		if response.StatusCode != c.status {
			t.Errorf("%s: HTTP %d, want %d", name, response.StatusCode, c.status)
		}
	}
	if texts := b.texts(t, url.Values{"platform": {"bluesky"}}); len(texts) != 0 {
		t.Errorf("stored posts: %q", texts)
	}
}
