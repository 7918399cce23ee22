package joined

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/testkit/must"
)

// fakeMetrics returns fixed metrics or an error.
type fakeMetrics struct {
	name     string
	err      error
	requests []string
}

func (t *fakeMetrics) Profile(context.Context, provider.ProfileQuery) (provider.ProfileMetrics, error) {
	t.requests = append(t.requests, "profile")
	return provider.ProfileMetrics{Account: provider.Account{DisplayName: t.name}}, t.err
}

func (t *fakeMetrics) Hashtag(context.Context, provider.HashtagQuery) (provider.HashtagMetrics, error) {
	t.requests = append(t.requests, "hashtag")
	return provider.HashtagMetrics{Hashtag: t.name}, t.err
}

// fakeMedia also has media.
type fakeMedia struct {
	fakeMetrics

	mediaErr error
}

func (h *fakeMedia) ProfileMedia(_ context.Context, q provider.Query) (provider.Page, error) {
	h.requests = append(h.requests, "media "+q.Cursor)
	return provider.Page{Items: []provider.Item{{ID: "1", URL: "https://cdn.example/" + h.name + "?a=b:c"}},
		Next: "after:" + q.Cursor}, h.mediaErr
}

func (h *fakeMedia) Fetch(_ context.Context, address string, _ int64, into io.Writer) error {
	_, err := io.WriteString(into, h.name+" "+address)
	return err
}

func join(t *testing.T, all ...NamedProvider) *Source {
	t.Helper()
	s := must.Get(New(all...))(t)
	return s
}

func TestFallback(t *testing.T) {
	t.Parallel()
	broken := &provider.UnavailableError{Err: errors.New("broken")}
	for _, c := range []struct {
		first, second error
		want          string
		err           error
	}{
		{nil, nil, "first", nil},
		{provider.ErrNotOffered, nil, "second", nil},
		{provider.ErrNotFound, nil, "", provider.ErrNotFound},
		{provider.ErrPrivate, nil, "", provider.ErrPrivate},
		{broken, nil, "", broken},
		{provider.ErrNotOffered, broken, "", broken},
		{provider.ErrNotOffered, provider.ErrNotOffered, "", provider.ErrNotOffered},
	} {
		first, second := &fakeMetrics{name: "first", err: c.first}, &fakeMetrics{name: "second", err: c.second}
		s := join(t, NamedProvider{"a", first}, NamedProvider{"b", second})
		profile, err := s.Profile(t.Context(), provider.ProfileQuery{})
		if !errors.Is(err, c.err) || err == nil && profile.Account.DisplayName != c.want {
			t.Errorf("%v, %v: %v, %v", c.first, c.second, profile, err)
		}
		hashtag, err := s.Hashtag(t.Context(), provider.HashtagQuery{})
		if !errors.Is(err, c.err) || err == nil && hashtag.Hashtag != c.want {
			t.Errorf("%v, %v: %v, %v", c.first, c.second, hashtag, err)
		}
		if asked := len(second.requests) > 0; asked != errors.Is(c.first, provider.ErrNotOffered) {
			t.Errorf("%v: the second provider was used: %t", c.first, asked)
		}
		if _, err := s.ProfileMedia(t.Context(), provider.Query{}); !errors.Is(err, provider.ErrNotOffered) {
			t.Errorf("without media: %v", err)
		}
	}
}

// All pages and files of a query come from one provider, even if the order changes.
func TestPagesFromOneProvider(t *testing.T) {
	t.Parallel()
	metrics := &fakeMetrics{name: "metrics"}
	stories, posts := &fakeMedia{fakeMetrics: fakeMetrics{name: "stories"}, mediaErr: provider.ErrNotOffered},
		&fakeMedia{fakeMetrics: fakeMetrics{name: "posts"}}
	s := join(t, NamedProvider{"metrics", metrics}, NamedProvider{"stories", stories}, NamedProvider{"posts", posts})
	page := must.Get(s.ProfileMedia(t.Context(), provider.Query{}))(t)
	if diff := cmp.Diff(provider.Page{Items: []provider.Item{{ID: "1", URL: "posts:https://cdn.example/posts?a=b:c"}},
		Next: "posts:after:"}, page); diff != "" {
		t.Error(diff)
	}
	other := &fakeMedia{fakeMetrics: fakeMetrics{name: "other"}}
	s = join(t, NamedProvider{"other", other}, NamedProvider{"posts", posts})
	if _, err := s.ProfileMedia(t.Context(), provider.Query{Cursor: page.Next}); err != nil || len(other.requests) != 0 {
		t.Errorf("%v; requests to the other provider: %v", err, other.requests)
	}
	if diff := cmp.Diff([]string{"media ", "media after:"}, posts.requests); diff != "" {
		t.Error(diff)
	}
	var file bytes.Buffer
	if err := s.Fetch(t.Context(), page.Items[0].URL, 9, &file); err != nil ||
		file.String() != "posts https://cdn.example/posts?a=b:c" {
		t.Errorf("%q, %v", file.String(), err)
	}
}

// URLs and cursors from releases with a single provider still work.
func TestUnprefixedAddresses(t *testing.T) {
	t.Parallel()
	one, two := &fakeMedia{fakeMetrics: fakeMetrics{name: "one"}}, &fakeMedia{fakeMetrics: fakeMetrics{name: "two"}}
	s := join(t, NamedProvider{"metrics", &fakeMetrics{}}, NamedProvider{"one", one})
	var file bytes.Buffer
	if err := s.Fetch(t.Context(), "https://cdn.example/x", 9, &file); err != nil ||
		file.String() != "one https://cdn.example/x" {
		t.Errorf("%q, %v", file.String(), err)
	}
	if _, err := s.ProfileMedia(t.Context(), provider.Query{Cursor: "Y3Vyc29y"}); err != nil ||
		one.requests[0] != "media Y3Vyc29y" {
		t.Errorf("%v, %v", err, one.requests)
	}
	s = join(t, NamedProvider{"one", one}, NamedProvider{"two", two})
	for _, kept := range []string{"https://cdn.example/x", "gone:https://cdn.example/x", ""} {
		if _, ok := errors.AsType[*provider.UnavailableError](s.Fetch(t.Context(), kept, 9, &file)); !ok {
			t.Errorf("%q was fetched", kept)
		}
	}
	_, err := s.ProfileMedia(t.Context(), provider.Query{Cursor: "gone:x"})
	if _, ok := errors.AsType[*provider.UnavailableError](err); !ok {
		t.Errorf("a page of a removed provider: %v", err)
	}
}

func TestInvalidNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "http", "https", "a:b", "A", "1", "twice"} {
		if _, err := New(NamedProvider{"twice", &fakeMetrics{}}, NamedProvider{name, &fakeMetrics{}}); err == nil {
			t.Errorf("the invalid name %q was accepted", name)
		}
	}
	if _, err := New(NamedProvider{"a", nil}); err == nil {
		t.Error("a nil provider was accepted")
	}
}
