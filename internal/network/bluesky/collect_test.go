package bluesky_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/bluesky"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/pds"
)

// publishTexts publishes texts.
func publishTexts(t *testing.T, g network.Grant, texts ...string) {
	t.Helper()
	for _, text := range texts {
		must.Get(newNetwork().Commit(t.Context(), g, prepare(t, g, "collect "+text, text), nil))(t)
	}
}

// A server without an app view returns posts but no counts.
func TestCollectFromGenuineServer(t *testing.T) {
	t.Parallel()
	server := pds.Start(t)
	w := env{url: server.URL}
	w.handle, w.did, w.password = server.NewAccount(t)
	g := w.connect(t)
	publishTexts(t, g, "one", "two")
	got, err := newNetwork().Collect(t.Context(), g, planTime.Add(-time.Hour), 500)
	if err != nil || len(got.Posts) != 2 || got.Followers != nil {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, p := range got.Posts {
		if p.Likes != nil || p.Format != "text" || p.Text == "" || !p.PostedAt.Equal(planTime) {
			t.Errorf("post %+v", p)
		}
	}
}

// answers maps methods and cursors to a server's responses.
type answers map[string]string

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	name := r.URL.Path[len("/xrpc/"):]
	body, known := a[name+"?"+r.URL.Query().Get("cursor")]
	if !known {
		return response(r, http.StatusNotImplemented, `{"error":"MethodNotImplemented","message":"No"}`), nil
	}
	return response(r, http.StatusOK, body), nil
}

// Posts of others, replies and reposts are not the account's own posts.
func TestCollectSkipsOtherPosts(t *testing.T) {
	t.Parallel()
	entry := func(did, rkey, at, more string) string {
		return fmt.Sprintf(
			`{"post":{"uri":"at://%s/app.bsky.feed.post/%s","author":{"did":"%s"},"indexedAt":"2026-11-20T10:00:00Z",
			"likeCount":3,"repostCount":1,"quoteCount":1,"replyCount":0,
			"record":{"text":"text","createdAt":"%s"%s}}}`, did, rkey, did, at, more)
	}
	const me, other = "did:plc:me", "did:plc:other"
	const early, late, future = "2026-11-19T10:00:00Z", "2026-11-20T09:00:00Z", "2030-01-01T00:00:00Z"
	page := func(cursor string, entries ...string) string {
		out := `{"cursor":"` + cursor + `","feed":[`
		for i, e := range entries {
			if i > 0 {
				out += ","
			}
			out += e
		}
		return out + "]}"
	}
	reposted := entry(me, "reposted", "2020-01-01T00:00:00Z", "")
	reposted = reposted[:len(reposted)-1] + `,"reason":{"by":{}}}`
	n := bluesky.New(bluesky.Options{App: network.App{HTTP: &http.Client{Transport: answers{
		"app.bsky.actor.getProfile?": `{"followersCount":12}`,
		"app.bsky.feed.getAuthorFeed?": page("next",
			entry(me, "future", future, `,"embed":{"$type":"app.bsky.embed.images","images":[{},{}]}`),
			entry(other, "theirs", late, ""), reposted,
			entry(me, "answer", late, `,"reply":{}`),
			entry(me, "film", late, `,"embed":{"$type":"app.bsky.embed.recordWithMedia","media":{"$type":"app.bsky.embed.video"}}`)),
		"app.bsky.feed.getAuthorFeed?next": page("more",
			entry(me, "card", late, `,"embed":{"$type":"app.bsky.embed.external"}`), entry(me, "old", early, ""),
			entry(me, "older", late, "")),
	}}}})
	got, err := n.Collect(t.Context(), network.Grant{Server: "https://a.test", Account: me, Username: "me.test"},
		planTime.Add(-30*time.Hour), 500)
	if err != nil || len(got.Posts) != 3 || *got.Followers != 12 {
		t.Fatalf("%+v, %v", got, err)
	}
	for i, want := range []struct{ rkey, format, at string }{
		{"future", "carousel", "2026-11-20T10:00:00Z"}, {"film", "video", late}, {"card", "link", late},
	} {
		p := got.Posts[i]
		if p.URL != "https://bsky.app/profile/me.test/post/"+want.rkey || p.Format != want.format ||
			p.PostedAt.Format(time.RFC3339) != want.at || *p.Shares != 2 || *p.Comments != 0 || p.Saves != nil {
			t.Errorf("post %+v, want %+v", p, want)
		}
	}
}

func response(r *http.Request, status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}
}
