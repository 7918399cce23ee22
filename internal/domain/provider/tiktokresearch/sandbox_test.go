package tiktokresearch

import (
	"errors"
	"net/http/httptest"
	"testing"
	"time"

	"pressroom/internal/domain/provider"
	"pressroom/internal/sandbox"
)

func TestSandbox(t *testing.T) {
	t.Parallel()
	over := func(time.Duration) <-chan time.Time {
		c := make(chan time.Time)
		close(c)
		return c
	}
	box, err := sandbox.Open(t.TempDir(), sandbox.Options{After: over})
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(box.Handler())
	t.Cleanup(func() {
		front.Close()
		box.Close()
	})
	s, err := New(Options{Eligible: true, URL: front.URL + "/tiktok", ClientKey: "key", ClientSecret: secret})
	if err != nil {
		t.Fatal(err)
	}
	figures, err := s.Profile(t.Context(), provider.ProfileQuery{Platform: provider.TikTok, Username: "slow.bread",
		PostLimit: 30})
	if err != nil {
		t.Fatal(err)
	}
	if figures.Account.Followers == nil || figures.Account.DisplayName == "" || len(figures.Posts) != 30 {
		t.Errorf("%+v with %d posts", figures.Account, len(figures.Posts))
	}
	for i, post := range figures.Posts {
		if post.TakenAt.IsZero() || post.Views == nil || post.Shares == nil || i > 0 &&
			post.TakenAt.After(figures.Posts[i-1].TakenAt) {
			t.Errorf("post %d: %+v", i, post)
		}
	}
	ask := func(name string) error {
		_, err := s.Profile(t.Context(), provider.ProfileQuery{Platform: provider.TikTok, Username: name, PostLimit: 5})
		return err
	}
	for name, want := range map[string]error{"missing.you": provider.ErrNotFound, "private.me": provider.ErrPrivate,
		"empty.room": nil} {
		if err := ask(name); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	checkUnavailable(t, ask("error.me"), 0)
}
