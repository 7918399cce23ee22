package pinterest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom/internal/network"
	"pressroom/internal/network/networktest"
	"pressroom/internal/network/pinterest"
)

const (
	userCall    = "/v5/user_account"
	listCall    = "/pins?"
	severalCall = "/v5/pins/analytics?"
	aloneCall   = "/analytics?"
)

// through is the network, reached through a transport.
func (w *world) through(transport http.RoundTripper) *pinterest.Network {
	return pinterest.New(pinterest.Options{App: network.App{HTTP: &http.Client{Transport: transport}, Now: w.clock.Now}})
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

// wantWhole checks that a pin has all figures that there are here.
func wantWhole(t *testing.T, p network.Figures) {
	t.Helper()
	if p.Reach != nil || p.Shares != nil || p.Views == nil || p.Likes == nil || p.Comments == nil || p.Saves == nil || p.Clicks == nil {
		t.Errorf("figures of %q: %+v", p.Text, p)
	}
}

func TestCollect(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect()
	shown := []struct {
		text, format string
		media        []network.Media
	}{
		{"one", network.FormatImage, []network.Media{l.png(t, 5)}},
		{"two\n\nof them", network.FormatCarousel, []network.Media{l.png(t, 6), l.png(t, 7)}},
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
	first := w.collect(g, start, 100)
	if first.Followers == nil || *first.Followers <= 0 {
		t.Errorf("followers: %v", first.Followers)
	}
	bare := slices.Clone(first.Posts)
	for i, p := range bare {
		wantWhole(t, p)
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
	g := w.connect()
	medium := l.png(t, 7)
	var ids []string
	for i := range 103 {
		ids = append(ids, w.publish(g, l, fmt.Sprintf("number %d", i), medium).ID)
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
				wantWhole(t, p)
				got = append(got, p.ID)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Reports reach back 90 days: of older pins it stays unknown how often they were saved.
func TestCollectOldPins(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect()
	w.publish(g, l, "old", l.png(t, 7))
	w.clock.Advance(90 * 24 * time.Hour)
	g, err := w.network().Refresh(t.Context(), w.connect())
	if err != nil {
		t.Fatal(err)
	}
	w.publish(g, l, "new", l.png(t, 7))
	posts := w.collect(g, start, 10).Posts
	if len(posts) != 2 || posts[0].Saves == nil || posts[1].Saves != nil || posts[1].Views == nil || posts[1].Clicks == nil {
		t.Errorf("%+v", posts)
	}
}

// What is withheld is absent or read elsewhere; everything else is there.
func TestCollectWithheld(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect()
	w.publish(g, l, "words", l.png(t, 7))
	w.publish(g, l, "more", l.png(t, 7))
	const trial, invalid = `{"code":29,"message":"You are on trial access"}`, `{"code":1,"message":"Invalid pins analytics parameters."}`
	for name, c := range map[string]struct {
		answers   []networktest.Answering
		followers bool
		views     bool
		saves     bool
	}{
		"followers":              {[]networktest.Answering{{Part: userCall, Status: 403, Body: trial}}, false, true, true},
		"figures with the list":  {[]networktest.Answering{{Part: "pin_metrics", Status: 400, Body: invalid}}, true, true, true},
		"reports on several":     {[]networktest.Answering{{Part: severalCall, Status: 403, Body: trial}}, true, true, true},
		"not for this token":     {[]networktest.Answering{{Part: severalCall, Status: 401, Body: `{"code":7,"message":"Not authorized to access board or Pin."}`}}, true, true, true},
		"all reports":            {[]networktest.Answering{{Part: aloneCall, Status: 403, Body: trial}}, true, true, false},
		"one figure":             {[]networktest.Answering{{Part: "TOTAL_REACTIONS", Status: 400, Body: invalid}}, true, true, true},
		"saves":                  {[]networktest.Answering{{Part: "SAVE", Status: 400, Body: invalid}}, true, true, false},
		"one figure, one by one": {[]networktest.Answering{{Part: severalCall, Status: 404, Body: invalid}, {Part: "TOTAL_REACTIONS", Status: 400, Body: invalid}}, true, true, true},
		"everything but pins":    {[]networktest.Answering{{Part: "pin_metrics", Status: 400, Body: invalid}, {Part: aloneCall, Status: 403, Body: trial}}, true, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			transport := http.DefaultTransport
			for _, answer := range c.answers {
				answer.RoundTripper = transport
				transport = answer
			}
			collected, err := w.through(transport).Collect(t.Context(), g, start, 10)
			if err != nil || len(collected.Posts) != 2 || (collected.Followers != nil) != c.followers {
				t.Fatalf("%+v, %v", collected, err)
			}
			for _, p := range collected.Posts {
				if (p.Views != nil) != c.views || (p.Clicks != nil) != c.views || (p.Saves != nil) != c.saves {
					t.Errorf("%+v", p)
				}
			}
		})
	}
}

func TestCollectFails(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect()
	w.publish(g, l, "words", l.png(t, 7))
	now := w.clock.Now()
	late := map[string]string{"x-ratelimit-reset": "7"}
	const dead = `{"code":2,"message":"Authentication failed."}`
	for name, c := range map[string]struct {
		answer networktest.Answering
		class  network.Class
		after  time.Time
		posts  int // that were told before
	}{
		"too often, the account": {networktest.Answering{Part: userCall, Status: 429, Header: late, Body: `{"code":8}`}, network.Rate, now.Add(7 * time.Second), 0},
		"too often, the list":    {networktest.Answering{Part: listCall, Status: 429, Header: late, Body: `{"code":8}`}, network.Rate, now.Add(7 * time.Second), 0},
		"too often, the reports": {networktest.Answering{Part: aloneCall, Status: 429, Header: late, Body: `{"code":8}`}, network.Rate, now.Add(7 * time.Second), 1},
		"a dead token":           {networktest.Answering{Part: userCall, Status: 401, Body: dead}, network.AuthRefresh, time.Time{}, 0},
		"a token that died":      {networktest.Answering{Part: severalCall, Status: 401, Body: dead}, network.AuthRefresh, time.Time{}, 1},
		"pins may not be read":   {networktest.Answering{Part: listCall, Status: 403, Body: `{"code":7,"message":"no"}`}, network.Unapproved, time.Time{}, 0},
		"the board is gone":      {networktest.Answering{Part: listCall, Status: 404, Body: `{"code":40,"message":"Board not found."}`}, network.Rejected, time.Time{}, 0},
		"a failure":              {networktest.Answering{Part: severalCall, Status: 503}, network.Transient, time.Time{}, 1},
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
	_, err := w.network().Collect(t.Context(), network.Grant{Server: g.Server, Access: g.Access}, start, 10)
	networktest.WantClass(t, err, network.Rejected, "") // a grant without a board
}

// A token that has run out is renewed by whoever asks.
func TestCollectWithOldToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect()
	w.clock.Advance(31 * 24 * time.Hour)
	_, err := w.network().Collect(t.Context(), g, start, 10)
	networktest.WantClass(t, err, network.AuthRefresh, "2")
	fresh, err := w.network().Refresh(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	if collected := w.collect(fresh, start, 10); collected.Followers == nil || len(collected.Posts) != 0 {
		t.Errorf("%+v", collected)
	}
}

// What is sent to collect, and what the sandbox answers, fits what the network describes.
func TestCollectIsDescribed(t *testing.T) {
	t.Parallel()
	doc := description(t)
	for _, path := range []string{"/pins/analytics", "/pins/{pin_id}/analytics"} {
		figure := doc.Paths.Find(path).Get.Parameters.GetByInAndName("query", "metric_types").Schema.Value.Items.Value
		figure.AnyOf, figure.OneOf = figure.OneOf, nil // most figures are in both of its lists
	}
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect()
	w.publish(g, l, "words", l.png(t, 7), l.png(t, 8))
	w.publish(g, l, "film", l.mp4())
	w.clock.Advance(time.Hour)
	seen := map[string]int{}
	w.wire.look = func(r *http.Request, response *http.Response) { seen[fits(t, doc, r, response)]++ }
	w.collect(g, start, 10)
	w.wire.look = nil
	looking := looking{w.wire, func(r *http.Request, response *http.Response) { seen[fits(t, doc, r, response)]++ }}
	refusing := networktest.Answering{RoundTripper: looking, Part: severalCall, Status: http.StatusForbidden, Body: `{"code":29,"message":"no"}`}
	if _, err := w.through(refusing).Collect(t.Context(), g, start, 10); err != nil {
		t.Fatal(err)
	}
	if want := map[string]int{"/user_account": 2, "/boards/{board_id}/pins": 2, "/pins/analytics": 1, "/pins/{pin_id}/analytics": 2}; !cmp.Equal(want, seen) {
		t.Errorf("calls: %v", seen)
	}
}

// looking shows what passes.
type looking struct {
	http.RoundTripper

	look func(*http.Request, *http.Response)
}

func (l looking) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := l.RoundTripper.RoundTrip(r)
	if err == nil {
		l.look(r, response)
	}
	return response, err
}

// Pins of others on the same board are none of the account's, and a list that goes round in circles ends.
func TestCollectSharedBoard(t *testing.T) {
	t.Parallel()
	calls := 0
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/boards/8/pins") {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		calls++
		_, _ = fmt.Fprint(w, `{"bookmark":"b","items":[{"id":"1","created_at":"2026-11-21T09:30:00","is_owner":true,"title":"t","pin_metrics":null,"media":{"media_type":"story"}},
			{"id":"2","created_at":"2026-11-21T09:31:00","is_owner":false},{"id":"3","created_at":"?"},{"id":"x","created_at":"2026-11-21T09:31:00"}]}`)
	}))
	t.Cleanup(front.Close)
	n := pinterest.New(pinterest.Options{App: network.App{Now: func() time.Time { return start.Add(time.Hour) }}})
	collected, err := n.Collect(t.Context(), network.Grant{Server: front.URL, Extra: map[string]string{"board": "8"}}, start, 10)
	want := network.Collected{Posts: []network.Figures{{ID: "1", URL: "https://www.pinterest.com/pin/1/", Text: "t", PostedAt: start}}}
	if diff := cmp.Diff(want, collected); diff != "" || err != nil || calls != 2 {
		t.Errorf("%d calls, %v%s", calls, err, diff)
	}
}
