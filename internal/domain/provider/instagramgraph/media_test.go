package instagramgraph

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/testkit/must"
)

// mixedMedia returns posts including an album of three and a reel without a file.
func mixedMedia(count int) []map[string]any {
	return media(count, func(i int, post map[string]any) {
		switch i % 4 {
		case 1:
			part := func(n int) map[string]any {
				return map[string]any{"id": fmt.Sprint("part", i, "_", n), "media_type": "IMAGE",
					"media_url": fmt.Sprintf("https://cdn.example/%d_%d.jpg", i, n)}
			}
			video := part(3)
			video["media_type"] = "VIDEO"
			post["media_type"], post["children"] = "CAROUSEL_ALBUM", map[string]any{"data": []any{part(1), part(2),
				video}}
		case 2:
			post["media_type"], post["media_product_type"] = "VIDEO", "REELS"
		case 3:
			post["media_type"], post["media_product_type"] = "VIDEO", "REELS"
			delete(post, "media_url")
		}
	})
}

func walk(tb testing.TB, s *Source, q provider.Query) []string {
	tb.Helper()
	var all []string
	for range 1000 {
		page := must.Get(s.ProfileMedia(context.Background(), q))(tb)
		if len(page.Items) > q.Limit {
			tb.Errorf("%d items, %d were requested", len(page.Items), q.Limit)
		}
		for _, item := range page.Items {
			all = append(all, item.ID)
		}
		if page.Next == "" {
			return all
		}
		q.Cursor = page.Next
	}
	tb.Fatal("paging does not end")
	return nil
}

func TestProfileMedia(t *testing.T) {
	t.Parallel()
	g := newGraph(t)
	g.people["natgeo"] = person(mixedMedia(4))
	page := must.Get(g.source(1, nil).ProfileMedia(t.Context(), provider.Query{Platform: provider.Instagram,
		Type: provider.Profile, Username: "natgeo", Limit: 50}))(t)
	hour := func(i int) provider.Item {
		return provider.Item{TakenAt: began.Add(-time.Duration(i) * time.Hour), Caption: fmt.Sprint("Bread ", i)}
	}
	item := func(i int, id, kind, url string) provider.Item {
		one := hour(i)
		one.ID, one.Kind, one.URL = id, kind, "https://cdn.example/"+url
		return one
	}
	want := provider.Page{Items: []provider.Item{
		{ID: "avatar_178414099", Kind: provider.Image, URL: "https://cdn.example/face.jpg"},
		item(0, "18000000", provider.Image, "0.jpg"),
		item(1, "part1_1", provider.Image, "1_1.jpg"), item(1, "part1_2", provider.Image, "1_2.jpg"),
		item(1, "part1_3", provider.Video, "1_3.jpg"),
		item(2, "18000002", provider.Video, "2.jpg"),
	}}
	if diff := cmp.Diff(want, page); diff != "" {
		t.Error(diff)
	}
}

func TestMediaTypesMapped(t *testing.T) {
	t.Parallel()
	g := newGraph(t)
	g.people["natgeo"] = person(mixedMedia(130))
	g.people["faceless"] = map[string]any{"id": "5", "media": media(0, nil)}
	s := g.source(1, nil)
	for kind, want := range map[string]int{provider.Profile: 1 + 33 + 3*33 + 32, provider.Posts: 33 + 3*33 + 32,
		provider.Reels: 32, provider.Avatar: 1} {
		q := provider.Query{Platform: provider.Instagram, Type: kind, Username: "natgeo", Limit: 50}
		got := walk(t, s, q)
		if slices.Sort(got); len(got) != want || len(slices.Compact(got)) != want {
			t.Errorf("%s: %d items, want %d", kind, len(got), want)
		}
		q.Username = "faceless"
		if got := walk(t, s, q); len(got) != 0 {
			t.Errorf("%s of an empty profile: %v", kind, got)
		}
	}
	for _, q := range []provider.Query{{Platform: provider.Instagram, Type: provider.Stories},
		{Platform: provider.Instagram, Type: provider.Highlights}, {Platform: provider.TikTok, Type: provider.Posts}} {
		if _, err := s.ProfileMedia(t.Context(), q); !errors.Is(err, provider.ErrNotOffered) {
			t.Errorf("%+v: %v", q, err)
		}
	}
	if _, err := s.ProfileMedia(t.Context(), provider.Query{Platform: provider.Instagram, Type: provider.Posts,
		Username: "nobody", Limit: 1}); !errors.Is(err, provider.ErrNotFound) {
		t.Error(err)
	}
}

// For any page size, paging returns every item once and in order.
func TestPageSizes(t *testing.T) {
	t.Parallel()
	g := newGraph(t)
	g.people["natgeo"] = person(mixedMedia(60))
	s := g.source(1, nil)
	q := provider.Query{Platform: provider.Instagram, Type: provider.Profile, Username: "natgeo", Limit: 1000}
	want := walk(t, s, q)
	for _, q.Limit = range []int{1, 2, 3, 7, 12, 49, 50} {
		if diff := cmp.Diff(want, walk(t, s, q)); diff != "" {
			t.Errorf("by %d: %s", q.Limit, diff)
		}
	}
}

// Posts published while paging affect only the first page.
func TestPostsWhilePaging(t *testing.T) {
	t.Parallel()
	g := newGraph(t)
	posts := media(20, nil)
	g.people["natgeo"] = person(posts[3:])
	s := g.source(1, nil)
	q := provider.Query{Platform: provider.Instagram, Type: provider.Posts, Username: "natgeo", Limit: 5}
	page, err := s.ProfileMedia(t.Context(), q)
	must.NoError(t, err)
	g.people["natgeo"] = person(posts)
	q.Cursor = page.Next
	if page, err = s.ProfileMedia(t.Context(), q); err != nil || page.Items[0].ID != "18000008" {
		t.Errorf("%v, %v", page, err)
	}
}

func TestCursorsOfOthers(t *testing.T) {
	t.Parallel()
	g := newGraph(t)
	g.people["natgeo"] = person(nil)
	s := g.source(1, nil)
	for _, cursor := range []string{"a){id}", "a~b)", "a~b~c", " ", "ä", strings.Repeat("a", 1001)} {
		_, err := s.ProfileMedia(t.Context(), provider.Query{Platform: provider.Instagram, Type: provider.Posts,
			Username: "natgeo", Limit: 1, Cursor: cursor})
		checkUnavailable(t, err, 0)
	}
	if len(g.requests) != 0 {
		t.Errorf("%v", g.queries)
	}
}

func TestFetch(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	s := newGraph(t).source(1, func(o *Options) {
		o.FetchPublic = func(_ context.Context, address string, most int64, into io.Writer) error {
			_, _ = fmt.Fprint(into, address, most)
			return provider.ErrTooLarge
		}
	})
	if err := s.Fetch(t.Context(), "https://cdn.example/", 7, &file); !errors.Is(err, provider.ErrTooLarge) ||
		file.String() != "https://cdn.example/7" {
		t.Errorf("%s, %v", file.String(), err)
	}
}

// FuzzAnswer checks that the results of any response satisfy the guarantees of provider.Account, provider.Post and
// provider.Item.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(
		`{"business_discovery":{"id":"1","name":"\ud800","website":"x","followers_count":-1,` +
			`"media":{"data":[{"id":"7","media_type":"VIDEO","like_count":1e99,` +
			`"timestamp":"2026-11-21T09:30:00+0000","children":{"data":[null,{"id":"8"}]}}],"paging":{"cursors":{"after":"x"}}}}}`))
	f.Add([]byte(`{"data":[{"id":"7"}]}`))
	f.Add([]byte(`{"error":{"code":4}}`))
	var body []byte
	s, err := New(Options{
		Accounts: []Account{{ID: "1", Token: "x"}}, FetchPublic: rejectFetch, Now: func() time.Time { return began },
		HTTP: &http.Client{Transport: fixedResponse(func() []byte { return body })},
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		body = said
		s.accounts = newAccountPool([]Account{{ID: "1", Token: "x"}})
		metrics, err := s.Profile(t.Context(), profileQuery(100))
		if err != nil && metrics.Posts != nil {
			t.Error("posts were returned with an error")
		}
		for _, post := range metrics.Posts {
			if len(post.ID) > 100 || post.ID == "" || post.TakenAt.After(began) || len([]rune(post.Caption)) > 10_000 ||
				post.Likes != nil && *post.Likes < 0 {
				t.Errorf("taken: %+v", post)
			}
		}
		page, _ := s.ProfileMedia(t.Context(), provider.Query{Platform: provider.Instagram, Type: provider.Profile,
			Username: "natgeo", Limit: 20})
		for _, item := range page.Items {
			if item.ID == "" || !strings.HasPrefix(item.URL, "http") || item.Kind != provider.Image &&
				item.Kind != provider.Video {
				t.Errorf("taken: %+v", item)
			}
		}
		_, _, _ = s.fetchPosts(t.Context(), s.accounts.list[0], "1/top_media", 10)
	})
}

// fixedResponse answers every request with the same bytes.
type fixedResponse func() []byte

func (a fixedResponse) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(a()))},
		nil
}
