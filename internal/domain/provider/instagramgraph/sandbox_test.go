package instagramgraph

import (
	"errors"
	"net/http/httptest"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/sandbox"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// newSandboxSource returns a source for the sandbox with a number of accounts.
func newSandboxSource(t *testing.T, clock *testkit.Clock, accounts int) *Source {
	t.Helper()
	over := func(time.Duration) <-chan time.Time {
		c := make(chan time.Time)
		close(c)
		return c
	}
	box := must.Get(sandbox.Open(t.TempDir(), sandbox.Options{Now: clock.Now, After: over}))(t)
	front := httptest.NewServer(describedOnly(t, box.Handler()))
	t.Cleanup(func() {
		front.Close()
		box.Close()
	})
	operated := must.Get(box.Operators(t.Context(), accounts))(t)
	opts := Options{
		URL: front.URL + "/instagram/facebook", Hashtags: true, HashtagStore: NewDBHashtagStore(testkit.Open(t,
			testkit.SQLite(t), clock)), Now: clock.Now, FetchPublic: rejectFetch,
	}
	for _, one := range operated {
		opts.Accounts = append(opts.Accounts, Account{ID: one.ID, Token: one.Token})
	}
	s := must.Get(New(opts))(t)
	return s
}

func TestSandboxProfiles(t *testing.T) {
	t.Parallel()
	s := newSandboxSource(t, testkit.NewClock(began), 1)
	for _, name := range []string{"natgeo", "slow.bread", "bakery"} {
		q := provider.ProfileQuery{Platform: provider.Instagram, Username: name, PostLimit: 1000}
		metrics := must.Get(s.Profile(t.Context(), q))(t)
		a := metrics.Account
		if a.Followers == nil || a.Follows == nil || a.Posts == nil || a.DisplayName == "" ||
			int64(len(metrics.Posts)) != *a.Posts {
			t.Errorf("%s: %+v with %d posts", name, a, len(metrics.Posts))
		}
		for i, post := range metrics.Posts {
			if post.Format == "" || post.TakenAt.IsZero() || post.URL == "" || post.Comments == nil || i > 0 &&
				post.TakenAt.After(metrics.Posts[i-1].TakenAt) {
				t.Errorf("%s: post %d: %+v", name, i, post)
			}
		}
		q.Since = metrics.Posts[20].TakenAt
		if since, err := s.Profile(t.Context(), q); err != nil || len(since.Posts) != 21 {
			t.Errorf("%s: %d posts since the 21st, %v", name, len(since.Posts), err)
		}
	}
	for name, want := range map[string]error{"missing.you": provider.ErrNotFound, "private.me": provider.ErrNotFound,
		"empty.room": nil} {
		metrics, err := s.Profile(t.Context(), provider.ProfileQuery{Platform: provider.Instagram, Username: name,
			PostLimit: 10})
		if !errors.Is(err, want) || len(metrics.Posts) != 0 {
			t.Errorf("%s: %v, %v", name, metrics, err)
		}
	}
	_, err := s.Profile(t.Context(), provider.ProfileQuery{Platform: provider.Instagram, Username: "error.me",
		PostLimit: 10})
	checkUnavailable(t, err, 0)
}

func TestSandboxHashtags(t *testing.T) {
	t.Parallel()
	clock := testkit.NewClock(began)
	s := newSandboxSource(t, clock, 2)
	metrics, err := s.Hashtag(t.Context(), hashtagQuery("bread", 5000))
	must.NoError(t, err)
	if len(metrics.Top) == 0 || metrics.Size != nil || metrics.MeasuredAt.IsZero() {
		t.Errorf("%d top posts, %v", len(metrics.Top), metrics.Size)
	}
	for _, post := range metrics.Recent {
		if post.TakenAt.Before(began.Add(-24*time.Hour)) || post.TakenAt.After(began) {
			t.Errorf("recent: %+v", post)
		}
	}
	if _, err := s.Hashtag(t.Context(), hashtagQuery("missingbread", 10)); !errors.Is(err, provider.ErrNotFound) {
		t.Error(err)
	}
	_, err = s.Hashtag(t.Context(), hashtagQuery("errorbread", 10))
	checkUnavailable(t, err, 0)
}

// The sandbox counts slots as Instagram does, and no query exceeds them.
func TestSandboxSlots(t *testing.T) {
	t.Parallel()
	clock := testkit.NewClock(began)
	s := newSandboxSource(t, clock, 1)
	for i := range maxSlots {
		if _, err := s.Hashtag(t.Context(), hashtagQuery("bread"+string(rune('a'+i%26))+string(rune('a'+i/26)),
			1)); err != nil {
			t.Fatal(i, err)
		}
		clock.Advance(time.Minute)
	}
	_, err := s.Hashtag(t.Context(), hashtagQuery("late", 1))
	checkUnavailable(t, err, slotDuration+slotMargin-maxSlots*time.Minute)
	clock.Advance(slotDuration + slotMargin - maxSlots*time.Minute)
	if _, err := s.Hashtag(t.Context(), hashtagQuery("late", 1)); err != nil || s.accounts.untilNextAvailable(
		clock.Now(), true) != 0 {
		t.Errorf("an expired slot is not granted again: %v", err)
	}
}

func TestSandboxMedia(t *testing.T) {
	t.Parallel()
	s := newSandboxSource(t, testkit.NewClock(began), 1)
	q := provider.Query{Platform: provider.Instagram, Type: provider.Profile, Username: "bakery", Limit: 20}
	seen := map[string]bool{}
	for _, id := range walk(t, s, q) {
		if seen[id] {
			t.Errorf("%s was returned twice", id)
		}
		seen[id] = true
	}
	if len(seen) < 30 {
		t.Errorf("%d items", len(seen))
	}
}
