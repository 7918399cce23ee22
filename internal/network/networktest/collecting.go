package networktest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/network"
)

// CollectFailure is a response that ends a collection.
type CollectFailure struct {
	Interceptor Interceptor
	Class       network.ErrorClass
	RetryAt     time.Time
	Posts       int // number of posts collected before it
}

// WithheldCase has responses that lack some metrics.
type WithheldCase struct {
	Interceptors   []Interceptor
	MissingMetrics []string // names of the missing metrics
}

func testCollecting(t *testing.T, c Case) {
	subtests(t, c,
		map[string]func(*testing.T, Case){
			"Metrics": collectMetrics, "Pages": collectPages, "OldToken": collectWithExpiredToken, "Fails": collectWithFailure,
			"Withheld": collectWithheld,
		})
}

// Collect returns the metrics of an account's posts.
func (f *Fixture) Collect(g network.Grant, since time.Time, limit int) network.Collection {
	f.t.Helper()
	collected, err := f.CollectThrough(f.Transport, g, since, limit)
	if err != nil {
		f.t.Fatal(err)
	}
	return collected
}

// CollectThrough is like Collect, but uses the given HTTP transport and returns the error.
func (f *Fixture) CollectThrough(
	transport http.RoundTripper, g network.Grant, since time.Time, limit int,
) (network.Collection, error) {
	f.t.Helper()
	collector, ok := f.Through(transport).(network.Collector)
	if !ok {
		f.t.Fatal("the network does not provide metrics")
	}
	return collector.Collect(f.t.Context(), g, since, limit)
}

// Metrics returns the metrics of a post by name.
func Metrics(p network.CollectedPost) map[string]*int64 {
	return map[string]*int64{
		"reach": p.Reach, "views": p.Views, "likes": p.Likes, "comments": p.Comments, "shares": p.Shares,
		"saves": p.Saves, "clicks": p.Clicks,
	}
}

// wantMetrics checks that a post has exactly the expected metrics.
func wantMetrics(t *testing.T, c Case, p network.CollectedPost, missing ...string) {
	t.Helper()
	for name, metric := range Metrics(p) {
		if slices.Contains(c.OptionalMetrics, name) {
			continue
		}
		if want := slices.Contains(c.Metrics, name) && !slices.Contains(missing, name); (metric != nil) != want {
			t.Errorf("%s of %q: reported %v, want %v", name, p.Text, metric != nil, want)
		}
	}
	if p.Reach != nil && p.Views != nil && *p.Reach > *p.Views {
		t.Errorf("%d reached, %d views", *p.Reach, *p.Views)
	}
}

// collectedKinds returns the kinds of posts that Collect returns.
func (c Case) collectedKinds() []Content {
	return slices.DeleteFunc(slices.Clone(c.Posts), func(p Content) bool { return p.Uncollected })
}

// collectMetrics collects a post of each kind.
func collectMetrics(t *testing.T, c Case) {
	for _, kind := range c.kinds() {
		f := New(t, c, 0)
		g := f.Connect(kind, Account)
		var want []network.CollectedPost
		for _, p := range c.collectedKinds() {
			want = append(want, f.publishCollected(g, p))
		}
		slices.Reverse(want)
		f.Clock.Advance(72 * time.Hour)
		g = f.Connect(kind, Account)
		first := f.Collect(g, Start, 100)
		if (first.Followers != nil) == c.NoFollowers || first.Followers != nil && *first.Followers <= 0 || first.Truncated {
			t.Errorf("followers %v, cut %v", first.Followers, first.Truncated)
		}
		if strings.Contains(first.Picture, "/pictures/") == c.NoPicture {
			t.Errorf("the picture is at %q", first.Picture)
		}
		if diff := cmp.Diff(want, withoutMetrics(t, c, first.Posts)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(first, f.Collect(g, Start, 100)); diff != "" {
			t.Errorf("at the same moment: %s", diff)
		}
		f.Clock.Advance(time.Hour)
		g = f.Connect(kind, Account)
		for i, p := range f.Collect(g, Start, 100).Posts {
			if p.Views != nil && *p.Views < *first.Posts[i].Views {
				t.Errorf("the views of %q fell", p.Text)
			}
		}
	}
}

// publishCollected publishes a post and returns the expected result of Collect, without metrics.
func (f *Fixture) publishCollected(g network.Grant, p Content) network.CollectedPost {
	f.t.Helper()
	at := f.Clock.Now().Truncate(time.Minute)
	r := f.Post(g, "a form: "+p.Name, f.useContent(p)...)
	collected := network.CollectedPost{
		ID: r.ID, URL: f.WantPermalink(g, r), Text: "a form: " + p.Name, Format: p.Format, PostedAt: at,
	}
	if p.ListedElsewhere {
		collected.ID, collected.URL = "", ""
	}
	return collected
}

// withoutMetrics checks the metrics of posts, newest first, and returns the posts without metrics.
func withoutMetrics(t *testing.T, c Case, posts []network.CollectedPost) []network.CollectedPost {
	t.Helper()
	var out []network.CollectedPost
	for i, p := range posts {
		wantMetrics(t, c, p)
		post := network.CollectedPost{
			ID: p.ID, URL: p.URL, Text: p.Text, Format: p.Format, PostedAt: p.PostedAt.Truncate(time.Minute),
		}
		if kinds := c.collectedKinds(); p.ID != "" && p.URL != "" && i < len(kinds) && kinds[len(kinds)-1-i].ListedElsewhere {
			post.ID, post.URL = "", ""
		}
		out = append(out, post)
	}
	return out
}

// collectPages collects more posts than fit on a page.
func collectPages(t *testing.T, c Case) {
	f := New(t, c, 0)
	g := f.Grant()
	media := f.Media()
	count := max(c.PageSize, 2) + 3
	var ids []string
	for i := range count {
		ids = append(ids, f.Post(g, fmt.Sprintf("number %d", i), media...).ID)
	}
	slices.Reverse(ids)
	moment := f.Clock.Now().Add(-3*time.Minute - 30*time.Second)
	f.Clock.Advance(c.MetricsAfter)
	runEach(t, map[string]struct {
		since time.Time
		limit int
		want  []string
	}{
		"all":            {Start.Add(-time.Hour), 500, ids},
		"ever":           {time.Time{}, 500, ids},
		"two pages":      {Start, count - 2, ids[:count-2]},
		"at most 2":      {Start, 2, ids[:2]},
		"none":           {Start, 0, nil},
		"since a moment": {moment, 500, ids[:3]},
	}, func(t *testing.T, w struct {
		since time.Time
		limit int
		want  []string
	},
	) {
		var got []string
		for _, p := range f.Collect(g, w.since, w.limit).Posts {
			wantMetrics(t, c, p)
			got = append(got, p.ID)
		}
		if diff := cmp.Diff(w.want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// collectWithExpiredToken checks that an expired token fails to collect, and that a refreshed token collects.
func collectWithExpiredToken(t *testing.T, c Case) {
	f := New(t, c, 0)
	g := f.Grant()
	if c.TokenNeverExpires {
		return
	}
	if c.ExpiredTokenError.Class == "" {
		f.Clock.Advance(c.TokenLifetime + time.Hour)
		_, err := f.CollectThrough(f.Transport, g, Start, 10)
		_ = WantClass(t, err, network.ReconnectRequired, c.ExpiredRefresh)
		return
	}
	f.Clock.Advance(c.RefreshAge)
	_, err := f.CollectThrough(f.Transport, g, Start, 10)
	_ = WantClass(t, err, c.ExpiredTokenError.Class, c.ExpiredTokenError.Code)
	if collected := f.Collect(f.Renew(g), Start, 10); (collected.Followers != nil) == c.NoFollowers ||
		len(collected.Posts) != 0 {
		t.Errorf("%+v", collected)
	}
}

func collectWithFailure(t *testing.T, c Case) {
	if c.CollectFailures == nil {
		return
	}
	f := New(t, c, 0)
	g := f.Grant()
	f.Post(g, "words", f.Media()...)
	runEach(t, c.CollectFailures(f.Clock.Now()), func(t *testing.T, failure CollectFailure) {
		failure.Interceptor.RoundTripper = Transport
		collected, err := f.CollectThrough(failure.Interceptor, g, Start, 10)
		if netErr := WantClass(t, err, failure.Class, ""); !netErr.RetryAt.Equal(failure.RetryAt) ||
			len(collected.Posts) != failure.Posts {
			t.Errorf("not before %v, %+v", netErr.RetryAt, collected)
		}
	})
}

// collectWithheld collects posts while the network withholds some metrics, and checks the other metrics.
func collectWithheld(t *testing.T, c Case) {
	f := New(t, c, 0)
	g := f.Grant()
	for i := range max(c.WithheldPosts, 2) {
		f.Post(g, fmt.Sprintf("words %d", i), f.Media()...)
	}
	f.Clock.Advance(c.MetricsAfter)
	runEach(t, c.Withheld, func(t *testing.T, w WithheldCase) {
		transport := Transport
		for _, interceptor := range w.Interceptors {
			interceptor.RoundTripper = transport
			transport = interceptor
		}
		collected, err := f.CollectThrough(transport, g, Start, 100)
		if err != nil || len(collected.Posts) != max(c.WithheldPosts, 2) ||
			(collected.Followers == nil) != slices.Contains(w.MissingMetrics, "followers") {
			t.Fatalf("%+v, %v", collected, err)
		}
		for _, p := range collected.Posts {
			wantMetrics(t, c, p, w.MissingMetrics...)
		}
	})
}

// NewCollectFailure returns a CollectFailure.
func NewCollectFailure(interceptor Interceptor, class network.ErrorClass, retryAt time.Time, posts int) CollectFailure {
	return CollectFailure{Interceptor: interceptor, Class: class, RetryAt: retryAt, Posts: posts}
}

// NewWithheldCase returns a Withheld. The parameter lacks has names of metrics, separated by spaces.
func NewWithheldCase(metrics string, interceptors ...Interceptor) WithheldCase {
	return WithheldCase{Interceptors: interceptors, MissingMetrics: strings.Fields(metrics)}
}
