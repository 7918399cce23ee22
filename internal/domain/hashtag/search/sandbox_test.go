package search

import (
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/provider/bridge"
	"pressroom.example/pressroom/internal/domain/provider/instagramgraph"
	"pressroom.example/pressroom/internal/domain/provider/joined"
	"pressroom.example/pressroom/internal/domain/report/hashtaganalysis"
	"pressroom.example/pressroom/internal/sandbox"
	"pressroom.example/pressroom/internal/testkit/must"
)

// runSandbox runs searches against the sandbox.
func (w env) runSandbox(t *testing.T) {
	t.Helper()
	over := func(time.Duration) <-chan time.Time {
		c := make(chan time.Time)
		close(c)
		return c
	}
	box := must.Get(sandbox.Open(t.TempDir(), sandbox.Options{Now: w.clock.Now, After: over}))(t)
	front := httptest.NewServer(box.Handler())
	t.Cleanup(func() {
		front.Close()
		box.Close()
	})
	operated := must.Get(box.Operators(t.Context(), 3))(t)
	public := func(context.Context, string, int64, io.Writer) error { return errors.New("no file is fetched") }
	opts := instagramgraph.Options{URL: front.URL + "/instagram/facebook", Hashtags: true,
		HashtagStore: instagramgraph.NewDBHashtagStore(w.db), Now: w.clock.Now, FetchPublic: public}
	for _, one := range operated {
		opts.Accounts = append(opts.Accounts, instagramgraph.Account{ID: one.ID, Token: one.Token})
	}
	official := must.Get(instagramgraph.New(opts))(t)
	vendor := must.Get(bridge.New(bridge.Options{URL: front.URL + "/vendor", FetchPublic: public, Now: w.clock.Now}))(t)
	w.Source = must.Get(joined.New(joined.NamedProvider{Name: "instagram_graph", Source: official}, joined.NamedProvider{Name: "bridge",
		Source: vendor}))(t)
}

// A search through the networks' protocols finds what the documentation describes.
func TestSandbox(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w env) {
		w.runSandbox(t)
		for _, c := range []struct {
			in    Input
			costs int64
			code  string
			least int // hashtags
		}{
			{Input{Query: "summer beach travel"}, price, "", 5},
			{Input{Query: "travel BEACH summer"}, 0, "", 5},
			{Input{Query: "summer beach travel", Platform: provider.TikTok}, price, "", 5},
			{Input{Query: "#harbourlife"}, price, "", 2},
			{Input{Query: "qz"}, price, "", 1},
			{Input{Query: "旅行 #東京"}, price, "", 3},
			{Input{Query: "missinglife"}, 0, "nothing_found", 0},
			{Input{Query: "errorlife"}, 0, "source_unavailable", 0},
		} {
			r, _, paid := w.runSearch(t, c.in)
			result, _, _ := w.page(t, r.ID, 50, nil)
			if paid != c.costs || result.CreditsCharged != paid || r.ErrorCode != c.code ||
				len(result.Hashtags) < c.least || (r.State == job.Failed) != (c.code != "") {
				t.Errorf("%+v: %d credits, %s %q, %q", c.in, paid, r.State, r.ErrorCode, names(result.Hashtags))
			}
			for _, h := range result.Hashtags {
				if h.Posts == nil || h.Tier != hashtaganalysis.Tier(h.Posts.Count) || h.PostsPerDay == nil ||
					h.Score == nil || *h.Score < 0 || *h.Score > 100 || h.MeasuredAt == nil {
					t.Errorf("%+v: %+v", c.in, h)
				}
			}
		}
	})
}
