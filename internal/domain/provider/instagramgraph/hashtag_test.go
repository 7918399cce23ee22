package instagramgraph

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/testkit/must"
)

func TestHashtag(t *testing.T) {
	t.Parallel()
	g := newGraph(t)
	g.tags["bread"] = map[string][]map[string]any{
		"top_media": media(2, func(i int, post map[string]any) {
			delete(post, "timestamp")
			post["media_type"], post["permalink"] = "VIDEO", fmt.Sprintf("https://www.instagram.com/reel/%d/", i)
			if i == 1 {
				delete(post, "like_count")
			}
		}),
		"recent_media": media(2, nil),
	}
	metrics := must.Get(g.source(1, nil).Hashtag(t.Context(), hashtagQuery("bread", 100)))(t)
	want := provider.HashtagMetrics{
		Hashtag: "bread", MeasuredAt: began, From: began.Add(-24 * time.Hour),
		Top: []provider.Post{
			{ID: "18000000", Format: provider.FormatReel, Caption: "Bread 0", URL: "https://www.instagram.com/reel/0/",
				Likes: new(int64(100)), Comments: new(int64(0))},
			{ID: "18000001", Format: provider.FormatReel, Caption: "Bread 1", URL: "https://www.instagram.com/reel/1/",
				Comments: new(int64(1))},
		},
		Recent: []provider.Post{
			{ID: "18000000", Format: provider.FormatImage, TakenAt: began, Caption: "Bread 0",
				URL: "https://www.instagram.com/p/0/", Likes: new(int64(100)), Comments: new(int64(0))},
			{ID: "18000001", Format: provider.FormatImage, TakenAt: began.Add(-time.Hour), Caption: "Bread 1",
				URL: "https://www.instagram.com/p/1/", Likes: new(int64(101)), Comments: new(int64(1))},
		},
	}
	if diff := cmp.Diff(want, metrics); diff != "" {
		t.Error(diff)
	}
	for _, fields := range g.queries {
		if strings.Contains(fields, "username") || strings.Contains(fields, "view_count") {
			t.Errorf("it requests fields that are not available for others' posts: %s", fields)
		}
	}
}

// From is set only if the posts of the day are complete.
func TestHashtagPages(t *testing.T) {
	t.Parallel()
	g := newGraph(t)
	g.tags["bread"] = map[string][]map[string]any{"top_media": media(9, nil), "recent_media": media(120, nil)}
	s := g.source(1, nil)
	for _, c := range []struct {
		most, top, recent int
		whole             bool
	}{{1000, 9, 120, true}, {121, 9, 120, true}, {120, 9, 120, true}, {119, 9, 119, false}, {100, 9, 100, false},
		{5, 5, 5, false}, {0, 0, 0, false}} {
		metrics := must.Get(s.Hashtag(t.Context(), hashtagQuery("bread", c.most)))(t)
		if len(metrics.Top) != c.top || len(metrics.Recent) != c.recent || metrics.From.IsZero() == c.whole {
			t.Errorf("%+v: %d and %d posts since %s", c, len(metrics.Top), len(metrics.Recent), metrics.From)
		}
	}
}

func TestHashtagErrors(t *testing.T) {
	t.Parallel()
	g := newGraph(t)
	g.tags["bread"] = map[string][]map[string]any{}
	s := g.source(1, nil)
	if _, err := s.Hashtag(t.Context(), hashtagQuery("nothing", 1)); !errors.Is(err, provider.ErrNotFound) {
		t.Error(err)
	}
	g.reject = func(string, *http.Request) (int, string) { return http.StatusOK, `{"data":[]}` }
	if _, err := s.Hashtag(t.Context(), hashtagQuery("empty", 1)); !errors.Is(err, provider.ErrNotFound) {
		t.Error(err)
	}
	for _, body := range []string{`{"data":[{"id":"../me"}]}`, `{"data":[{}]}`, errorText(2, 0), `[]`} {
		g.reject = func(string, *http.Request) (int, string) { return http.StatusOK, body }
		_, err := s.Hashtag(t.Context(), hashtagQuery("broken", 1))
		if _, ok := errors.AsType[*provider.UnavailableError](err); !ok && !errors.Is(err, provider.ErrNotFound) {
			t.Errorf("%s: %v", body, err)
		}
	}
	if _, err := s.Hashtag(t.Context(), provider.HashtagQuery{Platform: provider.TikTok, Hashtag: "bread"}); !errors.Is(
		err, provider.ErrNotOffered) {
		t.Error(err)
	}
	without := g.source(1, func(o *Options) { o.Hashtags, o.HashtagStore = false, nil })
	if _, err := without.Hashtag(t.Context(), hashtagQuery("bread", 1)); !errors.Is(err, provider.ErrNotOffered) {
		t.Error(err)
	}
}

// A list with only invalid posts is an error, not an empty list.
func TestHashtagOfUnusablePosts(t *testing.T) {
	t.Parallel()
	g := newGraph(t)
	g.tags["bread"] = map[string][]map[string]any{"top_media": nil, "recent_media": {{"id": 7}}}
	_, err := g.source(1, nil).Hashtag(t.Context(), hashtagQuery("bread", 9))
	checkUnavailable(t, err, 0)
}

// Two accounts have sixty slots. Repeated queries need no slot, and further queries wait until the first slot expires.
func TestWeeklySlots(t *testing.T) {
	t.Parallel()
	g := newGraph(t)
	s := g.source(2, nil)
	hashtag := func(i int) string { return fmt.Sprintf("%d%c", i, 'a'+i) }
	for i := range 61 {
		g.tags[hashtag(i)] = map[string][]map[string]any{"top_media": media(1, nil)}
	}
	ask := func(i int) error {
		_, err := s.Hashtag(t.Context(), hashtagQuery(hashtag(i), 1))
		return err
	}
	for range 2 {
		for i := range 60 {
			if err := ask(i); err != nil {
				t.Fatal(i, err)
			}
		}
		g.clock.Advance(time.Hour)
	}
	if len(g.unique["17841400"]) != 30 || len(g.unique["17841401"]) != 30 {
		t.Errorf("the slots are not distributed: %d and %d", len(g.unique["17841400"]), len(g.unique["17841401"]))
	}
	searches := 0
	for _, asked := range g.requests {
		if strings.HasSuffix(asked, "ig_hashtag_search") {
			searches++
		}
	}
	if searches != 60 {
		t.Errorf("a constant ID was requested again: %d requests", searches)
	}
	calls := len(g.requests)
	checkUnavailable(t, ask(60), slotDuration+slotMargin-2*time.Hour)
	if len(g.requests) != calls {
		t.Errorf("requests were sent without a slot: %v", g.requests[calls:])
	}
	if err := ask(7); err != nil {
		t.Error(err)
	}
	g.clock.Advance(slotDuration + slotMargin - 2*time.Hour)
	g.unique = map[string][]string{}
	if err := ask(60); err != nil {
		t.Error(err)
	}
}

// Background queries get a third of the slots.
func TestBackgroundSlots(t *testing.T) {
	t.Parallel()
	g := newGraph(t)
	s := g.source(1, nil)
	ask := func(i int, background bool) error {
		hashtag := fmt.Sprintf("%d%c", i, 'a'+i)
		g.tags[hashtag] = map[string][]map[string]any{"top_media": media(1, nil)}
		q := hashtagQuery(hashtag, 1)
		q.Background = background
		_, err := s.Hashtag(t.Context(), q)
		return err
	}
	for i := range backgroundSlots {
		if err := ask(i, true); err != nil {
			t.Fatal(i, err)
		}
	}
	checkUnavailable(t, ask(backgroundSlots, true), slotDuration+slotMargin)
	if err := ask(0, true); err != nil {
		t.Errorf("the repeated query was rejected: %v", err)
	}
	for i := backgroundSlots; i < maxSlots; i++ {
		if err := ask(i, false); err != nil {
			t.Fatal(i, err)
		}
	}
	checkUnavailable(t, ask(maxSlots, false), slotDuration+slotMargin)
}

// If Instagram rejects a hashtag because of other queries, the account is paused and the slot is released.
func TestRejectedSlots(t *testing.T) {
	t.Parallel()
	g := newGraph(t)
	g.tags["bread"] = map[string][]map[string]any{"top_media": media(1, nil)}
	s := g.source(2, nil)
	for i := range 30 {
		g.unique["17841400"] = append(g.unique["17841400"], fmt.Sprint("other", i))
	}
	for range 2 {
		must.Get(s.Hashtag(t.Context(), hashtagQuery("bread", 1)))(t)
	}
	if !slices.Contains(g.unique["17841401"], "bread") {
		t.Error("the other account was not used")
	}
	g.unique["17841401"] = g.unique["17841400"]
	g.tags["cake"] = map[string][]map[string]any{}
	_, err := s.Hashtag(t.Context(), hashtagQuery("cake", 1))
	checkUnavailable(t, err, quotaPause)
	if _, err := s.Profile(t.Context(), profileQuery(1)); !errors.Is(err, provider.ErrNotFound) {
		t.Errorf("profile queries fail, too: %v", err)
	}
	g.clock.Advance(quotaPause)
	g.unique = map[string][]string{}
	if _, err := s.Hashtag(t.Context(), hashtagQuery("cake", 1)); err != nil {
		t.Error(err)
	}
}

// An account without permission for hashtags is tried once per query, before other accounts.
func TestForbiddenAccounts(t *testing.T) {
	t.Parallel()
	g := newGraph(t)
	g.tags["bread"] = map[string][]map[string]any{"top_media": media(1, nil)}
	s := g.source(3, nil)
	g.reject = func(account string, _ *http.Request) (int, string) {
		if account != "17841402" {
			return http.StatusForbidden, errorText(200, 0)
		}
		return 0, ""
	}
	must.Get(s.Hashtag(t.Context(), hashtagQuery("bread", 1)))(t)
	g.requests = nil
	g.reject = func(string, *http.Request) (int, string) { return http.StatusForbidden, errorText(10, 0) }
	_, err := s.Hashtag(t.Context(), hashtagQuery("bread", 1))
	checkUnavailable(t, err, 0)
	if len(g.requests) != 3 {
		t.Errorf("%v", g.requests)
	}
}
