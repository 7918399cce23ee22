package bridge

import (
	"bytes"
	"errors"
	"image/jpeg"
	"net/http/httptest"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/sandbox"
	"pressroom.example/pressroom/internal/testkit/must"
)

// vendor returns a client for the sandbox's vendor without delays.
func vendor(t *testing.T) *Client {
	t.Helper()
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
	client := must.Get(New(Options{URL: front.URL + "/vendor", FetchPublic: rejectFetch}))(t)
	return client
}

// Every media type is read from the sandbox's vendor page by page, with a file of each.
func TestSandboxVendor(t *testing.T) {
	t.Parallel()
	client := vendor(t)
	for _, platform := range []string{provider.Instagram, provider.TikTok} {
		for _, kind := range provider.MediaTypes(platform) {
			items := walk(t, client, provider.Query{Platform: platform, Type: kind, Username: "slow.bread", Limit: 20})
			if provider.HasPages(kind) != (len(items) > 20) {
				t.Errorf("%s %s: %d items", platform, kind, len(items))
			}
			for _, item := range items[:min(1, len(items))] {
				fetch(t, client, item)
			}
		}
	}
}

func walk(t *testing.T, client *Client, q provider.Query) []provider.Item {
	t.Helper()
	var all []provider.Item
	seen := map[string]bool{}
	for {
		page, err := client.ProfileMedia(t.Context(), q)
		if err != nil {
			t.Fatalf("%+v: %v", q, err)
		}
		for _, item := range page.Items {
			if seen[item.ID] || item.Width == 0 || item.Height == 0 || (item.Kind == provider.Video) != (item.Duration > 0) {
				t.Errorf("%+v: %+v", q, item)
			}
			seen[item.ID] = true
		}
		all = append(all, page.Items...)
		if page.Next == "" {
			return all
		}
		q.Cursor = page.Next
	}
}

func fetch(t *testing.T, client *Client, item provider.Item) {
	t.Helper()
	var file bytes.Buffer
	must.NoError(t, client.Fetch(t.Context(), item.URL, 200_000, &file))
	if item.Kind == provider.Video {
		if !bytes.Equal(file.Bytes()[4:8], []byte("ftyp")) {
			t.Errorf("%s is not an MP4 file", item.URL)
		}
		return
	}
	if config, err := jpeg.DecodeConfig(&file); err != nil || config.Width != item.Width ||
		config.Height != item.Height {
		t.Errorf("%s: %+v, %v", item.URL, config, err)
	}
}

func TestSandboxVendorRejects(t *testing.T) {
	t.Parallel()
	client := vendor(t)
	ask := func(name string) error {
		_, err := client.ProfileMedia(t.Context(), provider.Query{Platform: provider.TikTok, Type: provider.Posts,
			Username: name, Limit: 5})
		return err
	}
	if err := ask("missing.you"); !errors.Is(err, provider.ErrNotFound) {
		t.Error(err)
	}
	if err := ask("private.me"); !errors.Is(err, provider.ErrPrivate) {
		t.Error(err)
	}
	checkFailure(t, ask("error.me"), nil, 0)
	if err := ask("empty.room"); err != nil {
		t.Error(err)
	}
}

// Figures are read from the sandbox's vendor page by page.
func TestSandboxVendorMetrics(t *testing.T) {
	t.Parallel()
	client := vendor(t)
	for _, platform := range []string{provider.Instagram, provider.TikTok} {
		metrics := must.Get(client.Profile(t.Context(), provider.ProfileQuery{Platform: platform, Username: "slow.bread",
			PostLimit: 1000}))(t)
		a := metrics.Account
		if a.Followers == nil || a.Posts == nil || int64(len(metrics.Posts)) != *a.Posts || a.DisplayName == "" {
			t.Errorf("%s: %+v with %d posts", platform, a, len(metrics.Posts))
		}
		since, err := client.Profile(t.Context(), provider.ProfileQuery{Platform: platform, Username: "slow.bread",
			PostLimit: 1000, Since: metrics.Posts[10].TakenAt})
		if err != nil || len(since.Posts) != 11 {
			t.Errorf("%s: %d posts since the 11th, %v", platform, len(since.Posts), err)
		}
		tagged, err := client.Hashtag(t.Context(), provider.HashtagQuery{Platform: platform, Hashtag: "bread",
			PostLimit: 100})
		if err != nil || tagged.Size == nil || tagged.From.IsZero() || len(tagged.Top) == 0 {
			t.Errorf("%s: %d top posts, %v, %v", platform, len(tagged.Top), tagged.Size, err)
		}
	}
}

func TestSandboxVendorRejectsMetrics(t *testing.T) {
	t.Parallel()
	client := vendor(t)
	for name, want := range map[string]error{"missing.you": provider.ErrNotFound, "private.me": provider.ErrPrivate,
		"empty.room": nil} {
		metrics, err := client.Profile(t.Context(), provider.ProfileQuery{Platform: provider.TikTok, Username: name,
			PostLimit: 10})
		if !errors.Is(err, want) || len(metrics.Posts) != 0 {
			t.Errorf("%s: %v, %v", name, metrics, err)
		}
	}
	if _, err := client.Profile(t.Context(), provider.ProfileQuery{Platform: "youtube", Username: "bread",
		PostLimit: 10}); !errors.Is(err, provider.ErrNotOffered) {
		t.Error(err)
	}
	if _, err := client.Hashtag(t.Context(), provider.HashtagQuery{Platform: provider.TikTok, Hashtag: "missingbread",
		PostLimit: 10}); !errors.Is(err, provider.ErrNotFound) {
		t.Error(err)
	}
	_, err := client.Hashtag(t.Context(), provider.HashtagQuery{Platform: provider.TikTok, Hashtag: "errorbread",
		PostLimit: 10})
	checkFailure(t, err, nil, 0)
}
