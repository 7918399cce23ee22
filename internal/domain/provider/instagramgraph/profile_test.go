package instagramgraph

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/testkit/must"
)

func TestProfile(t *testing.T) {
	t.Parallel()
	g := newGraph(t)
	g.people["natgeo"] = person(media(5, func(i int, post map[string]any) {
		switch i {
		case 0:
			delete(post, "like_count") // hidden by the owner
			delete(post, "view_count")
			post["media_type"] = "CAROUSEL_ALBUM"
		case 1:
			post["media_type"], post["media_product_type"] = "VIDEO", "REELS"
		case 2:
			post["media_type"], post["comments_count"], post["view_count"] = "VIDEO", -1, "many"
		case 3:
			delete(post, "timestamp")
			delete(post, "caption")
			post["media_type"], post["permalink"] = "HOLOGRAM", "javascript:alert(1)"
		case 4:
			post["timestamp"] = "2036-01-01T00:00:00+0000"
		}
	}))
	metrics := must.Get(g.source(1, nil).Profile(t.Context(), profileQuery(100)))(t)
	want := provider.ProfileMetrics{
		Account: provider.Account{
			Username: "natgeo", DisplayName: "National Geographic", Biography: "We 🌍\nare here",
			Website:   "https://example.com/",
			Followers: new(int64(280_000_000)), Follows: new(int64(130)), Posts: new(int64(30_000)), MeasuredAt: began,
		},
		Posts: []provider.Post{
			{ID: "18000000", Format: provider.FormatCarousel, TakenAt: began, Caption: "Bread 0",
				URL: "https://www.instagram.com/p/0/", Comments: new(int64(0))},
			{ID: "18000001", Format: provider.FormatReel, TakenAt: began.Add(-time.Hour), Caption: "Bread 1",
				URL: "https://www.instagram.com/p/1/", Likes: new(int64(101)), Comments: new(int64(1)),
				Views: new(int64(1001))},
			{ID: "18000002", Format: provider.FormatVideo, TakenAt: began.Add(-2 * time.Hour), Caption: "Bread 2",
				URL: "https://www.instagram.com/p/2/", Likes: new(int64(102))},
			{ID: "18000003", Likes: new(int64(103)), Comments: new(int64(3)), Views: new(int64(1003))},
			{ID: "18000004", Format: provider.FormatImage, Caption: "Bread 4", URL: "https://www.instagram.com/p/4/",
				Likes: new(int64(104)), Comments: new(int64(4)), Views: new(int64(1004))},
		},
	}
	if diff := cmp.Diff(want, metrics); diff != "" {
		t.Error(diff)
	}
}

func TestProfilePages(t *testing.T) {
	t.Parallel()
	g := newGraph(t)
	g.people["natgeo"] = person(media(130, nil))
	s := g.source(1, nil)
	for _, c := range []struct {
		most  int
		since time.Duration // ago
		posts int
		calls int
	}{
		{0, 0, 0, 1}, {3, 0, 3, 1}, {50, 0, 50, 1}, {51, 0, 51, 2}, {1000, 0, 130, 3}, {1000, 60 * time.Hour, 61, 2},
		{1000, 49 * time.Hour, 50, 2}, {10, 60 * time.Hour, 10, 1},
	} {
		g.requests = nil
		q := profileQuery(c.most)
		if c.since > 0 {
			q.Since = began.Add(-c.since)
		}
		metrics := must.Get(s.Profile(t.Context(), q))(t)
		if len(metrics.Posts) != c.posts || len(g.requests) != c.calls || metrics.Account.Followers == nil {
			t.Errorf("%+v: %d posts in %d calls, %+v", c, len(metrics.Posts), len(g.requests), metrics.Account)
		}
		for i, post := range metrics.Posts {
			if want := began.Add(-time.Duration(i) * time.Hour); !post.TakenAt.Equal(want) {
				t.Fatalf("post %d was published at %s", i, post.TakenAt)
			}
		}
	}
}

// If the API version has no view counts, they are requested only once.
func TestNoViews(t *testing.T) {
	t.Parallel()
	g := newGraph(t)
	g.people["natgeo"] = person(media(1, func(_ int, post map[string]any) { delete(post, "view_count") }))
	g.reject = func(_ string, r *http.Request) (int, string) {
		if strings.Contains(r.FormValue("fields"), "view_count") {
			return http.StatusBadRequest,
				`{"error":{"message":"(#100) Tried accessing nonexisting field (view_count)","code":100}}`
		}
		return 0, ""
	}
	s := g.source(1, nil)
	for calls, want := range []int{2, 3} {
		metrics, err := s.Profile(t.Context(), profileQuery(10))
		if err != nil || len(metrics.Posts) != 1 || metrics.Posts[0].Views != nil || len(g.requests) != want {
			t.Errorf("%d: %v, %v after %d calls", calls, metrics, err, len(g.requests))
		}
	}
}

func TestProfileErrors(t *testing.T) {
	t.Parallel()
	g := newGraph(t)
	s := g.source(1, nil)
	for name, want := range map[string]error{"nobody": provider.ErrNotFound, "a){id}": provider.ErrNotFound,
		"": provider.ErrNotFound} {
		q := profileQuery(1)
		q.Username = name
		if _, err := s.Profile(t.Context(), q); !errors.Is(err, want) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if len(g.requests) != 1 {
		t.Errorf("invalid names were requested: %v", g.queries)
	}
	if _, err := s.Profile(t.Context(), provider.ProfileQuery{Platform: provider.TikTok,
		Username: "natgeo"}); !errors.Is(err, provider.ErrNotOffered) {
		t.Error(err)
	}
}

// An invalid response is an error. No metrics are invented.
func TestInvalidResponses(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		``, `<html>natgeo`, `null`, `{}`, `[]`, `{"business_discovery":null}`, `{"error":{}}`,
		`{"error":{"code":1e300}}`, errorText(1, 0), errorText(2, 99), errorText(100, 33),
		`{"business_discovery":{}}` + strings.Repeat(" ", maxResponseBytes),
	} {
		g := newGraph(t)
		g.reject = func(string, *http.Request) (int, string) { return http.StatusOK, body }
		metrics, err := g.source(1, nil).Profile(t.Context(), profileQuery(1))
		checkUnavailable(t, err, 0)
		if metrics.Account.Username != "" {
			t.Errorf("metrics are returned with the error: %v", metrics)
		}
	}
}

// An endless list is no longer read after some pages.
func TestEndlessList(t *testing.T) {
	t.Parallel()
	g := newGraph(t)
	posts := media(2, nil)
	g.people["natgeo"] = person(posts)
	g.reject = func(string, *http.Request) (int, string) {
		return http.StatusOK,
			`{"business_discovery":{"id":"1","media":{"data":[{"id":"7"}],"paging":{"cursors":{"after":"again"}}}}}`
	}
	metrics, err := g.source(1, nil).Profile(t.Context(), profileQuery(1000))
	if err != nil || len(metrics.Posts) != 1 || len(g.requests) != 2 {
		t.Errorf("%v, %v after %d calls", metrics, err, len(g.requests))
	}
}

// A cursor that could alter the query is not sent.
func TestInvalidCursors(t *testing.T) {
	t.Parallel()
	g := newGraph(t)
	g.reject = func(string, *http.Request) (int, string) {
		return http.StatusOK,
			`{"business_discovery":{"id":"1","media":{"data":[{"id":"7"}],"paging":{"cursors":{"after":"a){id}"}}}}}`
	}
	_, err := g.source(1, nil).Profile(t.Context(), profileQuery(1000))
	checkUnavailable(t, err, 0)
	if len(g.requests) != 1 {
		t.Errorf("%v", g.queries)
	}
}
