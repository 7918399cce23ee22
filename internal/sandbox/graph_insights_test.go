package sandbox

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
)

// threadsInsights returns a token of mira.keller that allows insights.
func (b *fixture) threadsInsights(t *testing.T) string {
	t.Helper()
	code := b.consentRedirect(t, with(consentQuery(), "scope", "threads_basic,threads_manage_insights")).Get("code")
	return b.form(t, http.MethodPost, "/threads/oauth/access_token", exchange(code)).member("access_token")
}

func (b *fixture) thread(t *testing.T, token, text string) string {
	t.Helper()
	made := b.threads(t, http.MethodPost, "me/threads", token, "media_type", "TEXT", "text", text).id(t)
	return b.threads(t, http.MethodPost, "me/threads_publish", token, "creation_id", made).id(t)
}

// Invalid and unauthorized requests for insights are refused in the network's form.
func TestInsightsRefused(t *testing.T) {
	b := start(t, Options{})
	plain, token := b.threadsToken(t), b.threadsInsights(t)
	post := b.thread(t, plain, "hello")
	for name, c := range map[string]struct {
		path, token, metric string
		code                [2]int
	}{
		"without the scope":            {post + "/insights", plain, "views", [2]int{10, 0}},
		"of an account, without":       {"me/threads_insights", plain, "followers_count", [2]int{10, 0}},
		"without a token":              {post + "/insights", "", "views", [2]int{190, 0}},
		"a metric that is not there":   {post + "/insights", token, "views,impressions", [2]int{100, 0}},
		"no metric":                    {post + "/insights", token, "", [2]int{100, 0}},
		"a post that is not there":     {"17999/insights", token, "views", [2]int{100, 33}},
		"another figure of an account": {"me/threads_insights", token, "clicks", [2]int{100, 0}},
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
		t.Errorf("a Page: HTTP %d: %s", a.status, a.body)
	}
}

// A list can be read page by page with its cursors, and its last page has none.
func TestGraphListHasPages(t *testing.T) {
	b := start(t, Options{})
	token := b.threadsToken(t)
	for i := range 5 {
		b.thread(t, token, strconv.Itoa(i))
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

// The network's view needs a token and an existing account.
func TestBlueskyViewRefused(t *testing.T) {
	b := start(t, Options{})
	b.account(t, "alice.test")
	token, _ := b.session(t, "alice.test")
	for name, c := range map[string]struct {
		path, token string
		status      int
	}{
		"a profile":                {"app.bsky.actor.getProfile?actor=alice.test", token, 200},
		"a profile without a name": {"app.bsky.actor.getProfile", token, 400},
		"nobody's profile":         {"app.bsky.actor.getProfile?actor=nobody.test", token, 400},
		"a profile without token":  {"app.bsky.actor.getProfile?actor=alice.test", "", 401},
		"a feed":                   {"app.bsky.feed.getAuthorFeed?actor=alice.test", token, 200},
		"nobody's feed":            {"app.bsky.feed.getAuthorFeed?actor=nobody.test", token, 400},
		"a feed without token":     {"app.bsky.feed.getAuthorFeed?actor=alice.test", "", 401},
		"too much of a feed":       {"app.bsky.feed.getAuthorFeed?actor=alice.test&limit=101", token, 400},
		"a feed from nowhere":      {"app.bsky.feed.getAuthorFeed?actor=alice.test&cursor=x", token, 400},
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
		t.Errorf("held: %q", texts)
	}
}
