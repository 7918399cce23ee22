package tiktok_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom/internal/network"
	"pressroom/internal/network/networktest"
	"pressroom/internal/network/tiktok"
)

const (
	userCall = "/user/info/"
	listCall = "/video/list/"
)

// through is the network, reached through a transport.
func (w *world) through(transport http.RoundTripper) *tiktok.Network {
	return tiktok.New(tiktok.Options{App: network.App{HTTP: &http.Client{Transport: transport}, Now: w.clock.Now}})
}

// publish publishes, and moves the clock on.
func (w *world) publish(g network.Grant, l *library, text string, media ...network.Media) network.Receipt {
	w.t.Helper()
	receipt, err := w.network().Commit(w.t.Context(), g, w.prepared(g, l, text, media...), l)
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
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect("harbour.coffee")
	var want []network.Figures
	for format, media := range map[string]network.Media{network.FormatVideo: l.mp4(small), network.FormatImage: l.jpeg(t, 40, 30)} {
		at := w.clock.Now()
		receipt := w.publish(g, l, "shown as "+format, media)
		want = append([]network.Figures{{ID: receipt.ID, URL: receipt.Permalink, Text: "shown as " + format, Format: format, PostedAt: at}}, want...)
	}
	w.clock.Advance(72 * time.Hour)
	g = w.fresh(g)
	first := w.collect(g, start, 100)
	if first.Followers == nil || *first.Followers <= 0 {
		t.Errorf("followers: %v", first.Followers)
	}
	bare := slices.Clone(first.Posts)
	for i, p := range bare {
		if p.Reach != nil || p.Saves != nil || p.Clicks != nil || p.Views == nil || p.Likes == nil || p.Comments == nil || p.Shares == nil {
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
}

func TestCollectPages(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect("harbour.coffee")
	var ids []string
	for i := range 43 {
		ids = append(ids, w.publish(g, l, fmt.Sprintf("number %d", i), l.mp4(small)).ID)
	}
	slices.Reverse(ids)
	for name, c := range map[string]struct {
		since time.Time
		most  int
		want  []string
	}{
		"all":            {start.Add(-time.Hour), 500, ids},
		"ever":           {time.Time{}, 500, ids},
		"at most 21":     {start, 21, ids[:21]},
		"at most 2":      {start, 2, ids[:2]},
		"none":           {start, 0, nil},
		"since a moment": {start.Add(40 * time.Minute), 500, ids[:3]},
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

// A person may leave out the scope for the followers; they are not asked for then.
func TestCollectWithoutStats(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect("harbour.coffee")
	w.publish(g, l, "words", l.mp4(small))
	g.Scopes = slices.DeleteFunc(g.Scopes, func(scope string) bool { return scope == "user.info.stats" })
	asked := w.wire.count(userCall)
	if collected := w.collect(g, start, 10); collected.Followers != nil || len(collected.Posts) != 1 || w.wire.count(userCall) != asked {
		t.Errorf("%+v", collected)
	}
}

func TestCollectFails(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect("harbour.coffee")
	w.publish(g, l, "words", l.mp4(small))
	now := w.clock.Now()
	for name, c := range map[string]struct {
		answer networktest.Answering
		class  network.Class
		after  time.Time
		posts  int // that were told before
	}{
		"too often, the account":   {networktest.Answering{Part: userCall, Status: 429, Body: refused("rate_limit_exceeded")}, network.Rate, now.Add(time.Minute), 0},
		"too often, with a time":   {networktest.Answering{Part: listCall, Status: 429, Header: map[string]string{"Retry-After": "7"}}, network.Rate, now.Add(7 * time.Second), 0},
		"a dead token":             {networktest.Answering{Part: userCall, Status: 401, Body: refused("access_token_invalid")}, network.AuthRefresh, time.Time{}, 0},
		"a dead token at the list": {networktest.Answering{Part: listCall, Status: 200, Body: refused("access_token_invalid")}, network.AuthRefresh, time.Time{}, 0},
		"a scope is missing":       {networktest.Answering{Part: listCall, Status: 401, Body: refused("scope_not_authorized")}, network.Unapproved, time.Time{}, 0},
		"a scope is gone":          {networktest.Answering{Part: listCall, Status: 401, Body: refused("scope_permission_missed")}, network.Unapproved, time.Time{}, 0},
		"a failure":                {networktest.Answering{Part: listCall, Status: 500, Body: refused("internal_error")}, network.Transient, time.Time{}, 0},
		"nonsense":                 {networktest.Answering{Part: listCall, Status: 200, Body: "["}, network.Transient, time.Time{}, 0},
		"nothing is taken":         {networktest.Answering{Part: listCall, Status: 400, Body: refused("invalid_params")}, network.Rejected, time.Time{}, 0},
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

// What is withheld is absent; everything else is there.
func TestCollectWithheld(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect("harbour.coffee")
	for i := range 23 {
		w.publish(g, l, fmt.Sprintf("number %d", i), l.mp4(small))
	}
	for name, c := range map[string]struct {
		answer           networktest.Answering
		followers, views bool
	}{
		"followers": {networktest.Answering{Part: userCall, Status: 401, Body: refused("scope_not_authorized")}, false, true},
		"no more":   {networktest.Answering{Part: "view_count", Status: 400, Body: refused("invalid_params")}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.answer.RoundTripper = http.DefaultTransport
			collected, err := w.through(c.answer).Collect(t.Context(), g, start, 100)
			if err != nil || len(collected.Posts) != 23 || (collected.Followers != nil) != c.followers {
				t.Fatalf("%+v, %v", collected, err)
			}
			for _, p := range collected.Posts {
				if (p.Views != nil) != c.views || p.Likes == nil || p.Comments == nil || p.Shares == nil || p.URL == "" {
					t.Errorf("%+v", p)
				}
			}
		})
	}
}

// A token that has run out is renewed by whoever asks.
func TestCollectWithOldToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect("harbour.coffee")
	w.clock.Advance(3 * time.Hour)
	_, err := w.network().Collect(t.Context(), g, start, 10)
	networktest.WantClass(t, err, network.AuthRefresh, "access_token_invalid")
	if collected := w.collect(w.fresh(g), start, 10); collected.Followers == nil || len(collected.Posts) != 0 {
		t.Errorf("%+v", collected)
	}
}

// A list that never ends, or goes round in circles, does.
func TestCollectEnds(t *testing.T) {
	t.Parallel()
	for name, cursor := range map[string]func(page int) int64{
		"the same page":   func(int) int64 { return start.UnixMilli() },
		"towards now":     func(page int) int64 { return start.UnixMilli() + int64(page) },
		"always one more": func(page int) int64 { return start.UnixMilli() - int64(page) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := 0
			front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				page++
				_, _ = fmt.Fprint(w, well(fmt.Sprintf(`{"videos":[{"id":"1","create_time":%d,"like_count":-1}],"has_more":true,"cursor":%d}`, start.Unix(), cursor(page))))
			}))
			t.Cleanup(front.Close)
			collected, err := tiktok.New(tiktok.Options{}).Collect(t.Context(), network.Grant{Server: front.URL, Username: "u"}, time.Time{}, 1000)
			if err != nil || len(collected.Posts) != 1 || collected.Posts[0].Likes != nil || page > 100 {
				t.Errorf("%d pages, %+v, %v", page, collected, err)
			}
		})
	}
}
