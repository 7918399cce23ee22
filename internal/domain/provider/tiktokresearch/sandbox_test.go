package tiktokresearch

import (
	"errors"
	"net/http/httptest"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/sandbox"
	"pressroom.example/pressroom/internal/testkit/must"
)

func TestSandbox(t *testing.T) {
	t.Parallel()
	over := func(time.Duration) <-chan time.Time {
		c := make(chan time.Time)
		close(c)
		return c
	}
	box := must.Get(sandbox.Open(t.TempDir(), sandbox.Options{After: over}))(t)
	front := httptest.NewServer(box.Handler())
	t.Cleanup(func() {
		front.Close()
		box.Close()
	})
	s := must.Get(New(Options{Eligible: true, URL: front.URL + "/tiktok", ClientKey: "key", ClientSecret: secret}))(t)
	metrics := must.Get(s.Profile(t.Context(), provider.ProfileQuery{Platform: provider.TikTok, Username: "slow.bread",
		PostLimit: 30}))(t)
	if metrics.Account.Followers == nil || metrics.Account.DisplayName == "" || len(metrics.Posts) != 30 {
		t.Errorf("%+v with %d posts", metrics.Account, len(metrics.Posts))
	}
	for i, post := range metrics.Posts {
		if post.TakenAt.IsZero() || post.Views == nil || post.Shares == nil || i > 0 &&
			post.TakenAt.After(metrics.Posts[i-1].TakenAt) {
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
