package youtube_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom/internal/network"
	"pressroom/internal/network/networktest"
	"pressroom/internal/network/youtube"
)

const (
	channelCall = "/channels?"
	listCall    = "/playlistItems?"
	videoCall   = "/v3/videos?"
	reportCall  = "/v2/reports?"
)

// through is the network, reached through a transport.
func (w *world) through(transport http.RoundTripper) *youtube.Network {
	return youtube.New(youtube.Options{App: network.App{HTTP: &http.Client{Transport: transport}, Now: w.clock.Now}, WebURL: w.url + "/youtube/web"})
}

// publish publishes a small film, and moves the clock on.
func (w *world) publish(g network.Grant, l *library, text string) network.Receipt {
	w.t.Helper()
	d, err := w.prepare(g, w.plan(text, l.film(100)), l)
	if err != nil {
		w.t.Fatal(err)
	}
	receipt := w.commit(g, d, l)
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

// fresh is the grant with a new access token, which lives for an hour.
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
	w, l := newWorld(t), newLibrary()
	g := w.connect("harbour.coffee")
	var want []network.Figures
	for _, text := range []string{"A film\n\nabout #coffee", "Another"} {
		at := w.clock.Now()
		receipt := w.publish(g, l, text)
		want = append(want, network.Figures{ID: receipt.ID, URL: receipt.Permalink, Text: text, Format: network.FormatVideo, PostedAt: at})
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

// Nothing was uploaded yet.
func TestCollectNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if collected := w.collect(w.connect("mira.keller"), start, 10); collected.Followers == nil || len(collected.Posts) != 0 {
		t.Errorf("%+v", collected)
	}
}

func TestCollectPages(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t), newLibrary()
	g := w.connect("harbour.coffee")
	var ids []string
	for i := range 53 {
		ids = append(ids, w.publish(g, l, fmt.Sprintf("number %d", i)).ID)
	}
	slices.Reverse(ids)
	for name, c := range map[string]struct {
		since time.Time
		most  int
		want  []string
	}{
		"all":            {start.Add(-time.Hour), 500, ids},
		"ever":           {time.Time{}, 500, ids},
		"at most 51":     {start, 51, ids[:51]},
		"at most 2":      {start, 2, ids[:2]},
		"none":           {start, 0, nil},
		"since a moment": {start.Add(50 * time.Minute), 500, ids[:3]},
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

// Where the person did not allow to read reports, nobody asks for one.
func TestCollectWithoutReports(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t), newLibrary()
	g := w.connect("harbour.coffee")
	w.publish(g, l, "a film")
	g.Scopes = g.Scopes[:2]
	collected := w.collect(g, start, 10)
	if len(collected.Posts) != 1 || collected.Posts[0].Shares != nil || collected.Posts[0].Views == nil || w.wire.count(http.MethodGet, "/youtube/v2/reports") != 0 {
		t.Errorf("%+v", collected)
	}
}

func reason(status int, reason string) string {
	return fmt.Sprintf(`{"error":{"code":%d,"message":"said","errors":[{"reason":%q}]}}`, status, reason)
}

func TestCollectFails(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t), newLibrary()
	g := w.connect("harbour.coffee")
	w.publish(g, l, "a film")
	now := w.clock.Now()
	soon := map[string]string{"Retry-After": "30"}
	midnight := time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC) // of the network's zone
	for name, c := range map[string]struct {
		answer networktest.Answering
		class  network.Class
		after  time.Time
		posts  int // that were told before
	}{
		"too often, the channel": {networktest.Answering{Part: channelCall, Status: 403, Header: soon, Body: reason(403, "rateLimitExceeded")}, network.Rate, now.Add(30 * time.Second), 0},
		"too often, the videos":  {networktest.Answering{Part: videoCall, Status: 429, Header: soon}, network.Rate, now.Add(30 * time.Second), 0},
		"too often, the reports": {networktest.Answering{Part: reportCall, Status: 429, Header: soon}, network.Rate, now.Add(30 * time.Second), 1},
		"the day's quota":        {networktest.Answering{Part: listCall, Status: 403, Body: reason(403, "quotaExceeded")}, network.Quota, midnight, 0},
		"a dead token":           {networktest.Answering{Part: channelCall, Status: 401, Body: reason(401, "authError")}, network.AuthRefresh, time.Time{}, 0},
		"a scope is missing":     {networktest.Answering{Part: channelCall, Status: 403, Body: reason(403, "insufficientPermissions")}, network.Unapproved, time.Time{}, 0},
		"a failure":              {networktest.Answering{Part: videoCall, Status: 503}, network.Transient, time.Time{}, 0},
		"nonsense":               {networktest.Answering{Part: videoCall, Status: 200, Body: "["}, network.Transient, time.Time{}, 0},
		"no list":                {networktest.Answering{Part: channelCall, Status: 200, Body: "{}"}, network.Transient, time.Time{}, 0},
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

// A report that is refused takes nothing else with it.
func TestCollectWithheld(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t), newLibrary()
	g := w.connect("harbour.coffee")
	w.publish(g, l, "a film")
	for name, answer := range map[string]networktest.Answering{
		"a metric that is no more": {Part: reportCall, Status: 400, Body: reason(400, "badRequest")},
		"not for this app":         {Part: reportCall, Status: 403, Body: reason(403, "accessNotConfigured")},
		"not allowed":              {Part: reportCall, Status: 403, Body: reason(403, "insufficientPermissions")},
		"no rows":                  {Part: reportCall, Status: 200, Body: `{}`},
		"rows of another form":     {Part: reportCall, Status: 200, Body: `{"rows":[["x"],[1,"x"],["x",-1]]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer.RoundTripper = http.DefaultTransport
			collected, err := w.through(answer).Collect(t.Context(), g, start, 10)
			if err != nil || len(collected.Posts) != 1 || collected.Posts[0].Shares != nil || collected.Posts[0].Views == nil || collected.Followers == nil {
				t.Errorf("%+v, %v", collected, err)
			}
		})
	}
}

// What a channel hides is not told, and what nobody else can see is no post.
func TestCollectHidden(t *testing.T) {
	t.Parallel()
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		video := `{"id":%q,"snippet":{"publishedAt":"2026-11-21T09:30:00Z","title":"t"},"status":{"privacyStatus":%q,"uploadStatus":%q},"statistics":{"viewCount":"7"}}`
		item := `{"snippet":{"publishedAt":"2026-11-21T09:30:00Z","resourceId":{"videoId":%q}}}`
		switch {
		case strings.HasSuffix(r.URL.Path, "/channels"):
			_, _ = fmt.Fprint(w, `{"items":[{"contentDetails":{"relatedPlaylists":{"uploads":"UU1a"}},"statistics":{"subscriberCount":"0","hiddenSubscriberCount":true}}]}`)
		case strings.HasSuffix(r.URL.Path, "/playlistItems"):
			_, _ = fmt.Fprintf(w, `{"items":[`+item+`,`+item+`,`+item+`]}`, "aaaaaaaaaaa", "bbbbbbbbbbb", "ccccccccccc")
		default:
			_, _ = fmt.Fprintf(w, `{"items":[`+video+`,`+video+`,`+video+`]}`, "aaaaaaaaaaa", "unlisted", "processed", "bbbbbbbbbbb", "private", "processed", "ccccccccccc", "public", "rejected")
		}
	}))
	t.Cleanup(front.Close)
	collected, err := youtube.New(youtube.Options{}).Collect(t.Context(), network.Grant{Server: front.URL, Account: "UC1a"}, start, 10)
	want := network.Collected{Posts: []network.Figures{{
		ID: "aaaaaaaaaaa", URL: "https://www.youtube.com/watch?v=aaaaaaaaaaa", Text: "t", Format: network.FormatVideo, PostedAt: start, Views: new(int64(7)),
	}}}
	if diff := cmp.Diff(want, collected); diff != "" || err != nil {
		t.Errorf("%v%s", err, diff)
	}
}

// The Analytics API has a host of its own.
func TestCollectReportsElsewhere(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 10)
	n := youtube.New(youtube.Options{App: network.App{HTTP: &http.Client{Transport: transport(func(r *http.Request) string {
		asked <- r.URL.Scheme + "://" + r.URL.Host + r.URL.Path
		switch {
		case strings.HasSuffix(r.URL.Path, "/channels"):
			return `{"items":[{"contentDetails":{"relatedPlaylists":{"uploads":"UU1a"}}}]}`
		case strings.HasSuffix(r.URL.Path, "/playlistItems"):
			return `{"items":[{"snippet":{"publishedAt":"2026-11-21T09:30:00Z","resourceId":{"videoId":"aaaaaaaaaaa"}}}]}`
		case strings.HasSuffix(r.URL.Path, "/videos"):
			return `{"items":[{"id":"aaaaaaaaaaa","snippet":{"publishedAt":"2026-11-21T09:30:00Z"}}]}`
		}
		return `{"rows":[["aaaaaaaaaaa",3]]}`
	})}}})
	g := network.Grant{Server: "https://www.googleapis.com", Account: "UC1a", Scopes: []string{"https://www.googleapis.com/auth/yt-analytics.readonly"}}
	collected, err := n.Collect(t.Context(), g, start, 10)
	if err != nil || len(collected.Posts) != 1 || *collected.Posts[0].Shares != 3 {
		t.Errorf("%+v, %v", collected, err)
	}
	close(asked)
	var last string
	for last = range asked {
	}
	if last != "https://youtubeanalytics.googleapis.com/v2/reports" {
		t.Errorf("the report was asked for at %s", last)
	}
}

// transport answers every request.
type transport func(*http.Request) string

func (answer transport) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(answer(r))), Request: r}, nil
}

// Private videos are not listed, so that what is missing proves nothing.
func TestReticent(t *testing.T) {
	t.Parallel()
	var n any = youtube.New(youtube.Options{})
	if _, reticent := n.(network.Reticent); !reticent {
		t.Error("its list is taken for whole")
	}
}
