package x_test

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom/internal/network"
	"pressroom/internal/network/networktest"
	"pressroom/internal/network/x"
)

const (
	listCall  = "/tweets?"
	clickCall = "/2/tweets?"
)

// through is the network, reached through a transport.
func (w *world) through(transport http.RoundTripper) *x.Network {
	return x.New(x.Options{App: network.App{HTTP: &http.Client{Transport: transport}, Now: w.clock.Now}, WebURL: w.url + "/x/web"})
}

// publish publishes, and moves the clock on.
func (w *world) publish(g network.Grant, l *library, text string, media ...network.Media) network.Receipt {
	w.t.Helper()
	d, err := w.prepare(g, w.plan(text, media...), l)
	if err != nil {
		w.t.Fatal(err)
	}
	receipt, err := w.network().Commit(w.t.Context(), g, d, l)
	if err != nil {
		w.t.Fatal(err)
	}
	w.clock.Advance(time.Minute)
	return receipt
}

// collect collects what has to be told.
func (w *world) collect(g network.Grant, since time.Time, most int) network.Collected {
	w.t.Helper()
	collected, err := w.network().Collect(w.t.Context(), g, since, most)
	if err != nil {
		w.t.Fatal(err)
	}
	return collected
}

// fresh is the grant with a new access token, which lives for two hours.
func (w *world) fresh(g network.Grant) network.Grant {
	w.t.Helper()
	g, err := w.network().Refresh(w.t.Context(), g)
	if err != nil {
		w.t.Fatal(err)
	}
	return g
}

func TestCollect(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), &library{}
	g := w.connect()
	shown := []struct {
		text, format string
		media        []network.Media
	}{
		{"only words & more", network.FormatText, nil},
		{"see https://example.org/a", network.FormatLink, nil},
		{"one", network.FormatImage, []network.Media{l.png(t, 5)}},
		{"moving", network.FormatImage, []network.Media{l.gif()}},
		{"two", network.FormatCarousel, []network.Media{l.png(t, 6), l.png(t, 7)}},
		{"a film", network.FormatVideo, []network.Media{l.mp4()}},
	}
	var want []network.Figures
	for _, s := range shown {
		at := w.clock.Now()
		receipt := w.publish(g, l, s.text, s.media...)
		want = append(want, network.Figures{ID: receipt.ID, URL: receipt.Permalink, Text: s.text, Format: s.format, PostedAt: at})
	}
	slices.Reverse(want)
	w.clock.Advance(72 * time.Hour)
	g = w.fresh(g)
	first := w.collect(g, start, 100)
	if first.Followers == nil || *first.Followers <= 0 {
		t.Errorf("followers: %v", first.Followers)
	}
	bare := slices.Clone(first.Posts)
	for i, p := range bare {
		if p.Reach != nil || p.Views == nil || p.Likes == nil || p.Comments == nil || p.Shares == nil || p.Saves == nil || p.Clicks == nil {
			t.Errorf("figures of %q: %+v", p.Text, p)
		}
		bare[i] = network.Figures{ID: p.ID, URL: p.URL, Text: p.Text, Format: p.Format, PostedAt: p.PostedAt}
	}
	if diff := cmp.Diff(want, bare); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(first, w.collect(g, start, 100)); diff != "" {
		t.Errorf("at the same moment: %s", diff)
	}
	w.clock.Advance(time.Hour)
	for i, p := range w.collect(g, start, 100).Posts {
		if *p.Views < *first.Posts[i].Views {
			t.Errorf("the views of %q fell", p.Text)
		}
	}
}

func TestCollectPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect()
	var ids []string
	for i := range 103 {
		ids = append(ids, w.publish(g, nil, fmt.Sprintf("number %d", i)).ID)
	}
	slices.Reverse(ids)
	for name, c := range map[string]struct {
		since time.Time
		most  int
		want  []string
	}{
		"all":            {start.Add(-time.Hour), 500, ids},
		"ever":           {time.Time{}, 500, ids},
		"at most 101":    {start, 101, ids[:101]},
		"at most 2":      {start, 2, ids[:2]},
		"none":           {start, 0, nil},
		"since a moment": {start.Add(100 * time.Minute), 500, ids[:3]},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, p := range w.collect(g, c.since, c.most).Posts {
				got = append(got, p.ID)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What came before a page that is refused is told all the same.
func TestCollectKeepsPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect()
	for i := range 101 {
		w.publish(g, nil, fmt.Sprintf("number %d", i))
	}
	collected, err := w.through(networktest.Answering{RoundTripper: http.DefaultTransport, Part: "pagination_token", Status: http.StatusTooManyRequests}).Collect(t.Context(), g, start, 500)
	if networktest.WantClass(t, err, network.Rate, ""); len(collected.Posts) != 100 || collected.Posts[0].Views == nil {
		t.Errorf("%d posts", len(collected.Posts))
	}
}

// Of posts that are older than 30 days the network tells nobody what was clicked, and it is not asked for.
func TestCollectOldPosts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect()
	w.publish(g, nil, "old")
	w.clock.Advance(30 * 24 * time.Hour)
	g = w.fresh(g)
	w.publish(g, nil, "new")
	posts := w.collect(g, start, 10).Posts
	if len(posts) != 2 || posts[0].Clicks == nil || posts[1].Clicks != nil || posts[1].Views == nil {
		t.Errorf("%+v", posts)
	}
	w.clock.Advance(30 * 24 * time.Hour)
	g = w.fresh(g)
	asked := w.wire.count("/2/tweets")
	w.collect(g, start, 10)
	if again := w.wire.count("/2/tweets"); again != asked {
		t.Error("the clicks on old posts were asked for")
	}
}

// What is withheld is absent; everything else is there.
func TestCollectWithheld(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect()
	w.publish(g, nil, "words")
	const forbidden = `{"type":"https://api.x.com/2/problems/client-forbidden","title":"Client Forbidden","detail":"not for this app","status":403}`
	for name, c := range map[string]struct {
		answer    networktest.Answering
		followers bool
		views     bool
		clicks    bool
	}{
		"followers": {networktest.Answering{Part: "/users/me", Status: 403, Body: forbidden}, false, true, true},
		"views":     {networktest.Answering{Part: "%2Cpublic_metrics", Status: 400, Body: `{"title":"Invalid Request","type":"https://api.x.com/2/problems/invalid-request"}`}, true, false, true},
		"clicks":    {networktest.Answering{Part: clickCall, Status: 403, Body: forbidden}, true, true, false},
		"a scope":   {networktest.Answering{Part: clickCall, Status: 403, Body: `{"title":"Forbidden","detail":"scope"}`}, true, true, false},
		"in part": {networktest.Answering{Part: clickCall, Status: 200, Body: `{"errors":[{"title":"Field Authorization Error","field":"non_public_metrics","detail":"no",` +
			`"type":"https://api.x.com/2/problems/not-authorized-for-field"}]}`}, true, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.answer.RoundTripper = http.DefaultTransport
			collected, err := w.through(c.answer).Collect(t.Context(), g, start, 10)
			if err != nil || len(collected.Posts) != 1 {
				t.Fatalf("%+v, %v", collected, err)
			}
			p := collected.Posts[0]
			if (collected.Followers != nil) != c.followers || (p.Views != nil) != c.views || (p.Clicks != nil) != c.clicks || p.Text != "words" {
				t.Errorf("%+v", collected)
			}
		})
	}
}

func TestCollectFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect()
	w.publish(g, nil, "words")
	reset := w.clock.Now().Add(9 * time.Minute).Truncate(time.Second)
	late := map[string]string{"x-rate-limit-reset": strconv.FormatInt(reset.Unix(), 10)}
	for name, c := range map[string]struct {
		answer networktest.Answering
		class  network.Class
		after  time.Time
		posts  int // that were told before
	}{
		"too often, the account": {networktest.Answering{Part: "/users/me", Status: 429, Header: late}, network.Rate, reset, 0},
		"too often, the list":    {networktest.Answering{Part: listCall, Status: 429, Header: late}, network.Rate, reset, 0},
		"too often, the clicks":  {networktest.Answering{Part: clickCall, Status: 429, Header: late}, network.Rate, reset, 1},
		"no credit left":         {networktest.Answering{Part: listCall, Status: 402}, network.Quota, w.clock.Now().Add(24 * time.Hour), 0},
		"a dead token":           {networktest.Answering{Part: "/users/me", Status: 401}, network.AuthRefresh, time.Time{}, 0},
		"posts may not be read":  {networktest.Answering{Part: listCall, Status: 403}, network.Unapproved, time.Time{}, 0},
		"nothing is told":        {networktest.Answering{Part: "/2/", Status: 403}, network.Unapproved, time.Time{}, 0},
		"a failure":              {networktest.Answering{Part: clickCall, Status: 503}, network.Transient, time.Time{}, 1},
		"nonsense":               {networktest.Answering{Part: listCall, Status: 200, Body: "["}, network.Transient, time.Time{}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.answer.RoundTripper = http.DefaultTransport
			collected, err := w.through(c.answer).Collect(t.Context(), g, start, 10)
			if said := networktest.WantClass(t, err, c.class, ""); !said.After.Equal(c.after) || len(collected.Posts) != c.posts {
				t.Errorf("not before %v, %+v", said.After, collected)
			}
		})
	}
}

// A token that has run out is renewed by whoever asks; one whose consent is over is told by the renewal.
func TestCollectWithOldToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect()
	w.clock.Advance(3 * time.Hour)
	_, err := w.network().Collect(t.Context(), g, start, 10)
	networktest.WantClass(t, err, network.AuthRefresh, "")
	if collected := w.collect(w.fresh(g), start, 10); collected.Followers == nil || len(collected.Posts) != 0 {
		t.Errorf("%+v", collected)
	}
}

// What is sent to collect, and what the sandbox answers, fits what the network describes.
func TestCollectIsDescribed(t *testing.T) {
	t.Parallel()
	doc := description(t)
	w, l := newWorld(t, 0), &library{}
	g := w.connect()
	w.publish(g, l, "a film", l.mp4())
	for i := range 6 {
		w.publish(g, l, fmt.Sprintf("words %d https://example.org", i))
	}
	w.clock.Advance(time.Hour)
	seen := map[string]int{}
	w.wire.look = func(r *http.Request, response *http.Response) { seen[fits(t, doc, r, response)]++ }
	w.collect(g, start, 6)
	w.collect(g, time.Time{}, 100)
	if want := map[string]int{"/2/users/me": 2, "/2/users/{id}/tweets": 2, "/2/tweets": 2}; !cmp.Equal(want, seen) {
		t.Errorf("calls: %v", seen)
	}
}
