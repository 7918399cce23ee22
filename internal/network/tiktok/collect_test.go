package tiktok_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/network/tiktok"
)

// The follower count is not requested without its scope.
func TestCollectWithoutStats(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	f.Post(g, "words", f.Media()...)
	g.Scopes = slices.DeleteFunc(g.Scopes, func(scope string) bool { return scope == "user.info.stats" })
	if collected := f.Collect(g, networktest.Start, 10); collected.Followers != nil || len(collected.Posts) != 1 ||
		f.Transport.Count("follower_count") != 0 {
		t.Errorf("%+v", collected)
	}
}

// Collect stops reading a list that repeats or never ends.
func TestCollectEnds(t *testing.T) {
	t.Parallel()
	for name, cursor := range map[string]func(page int) int64{
		"the same page": func(int) int64 { return networktest.Start.UnixMilli() },
		"towards now":   func(page int) int64 { return networktest.Start.UnixMilli() + int64(page) },
		"endless pages": func(page int) int64 { return networktest.Start.UnixMilli() - int64(page) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := 0
			front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				page++
				_, _ = fmt.Fprintf(w, success(`{"videos":[{"id":"1","create_time":%d,"like_count":-1}],"has_more":true,"cursor":%d}`),
					networktest.Start.Unix(), cursor(page))
			}))
			t.Cleanup(front.Close)
			g := network.Grant{Server: front.URL, Username: "u"}
			collected, err := tiktok.New(tiktok.Options{}).Collect(t.Context(), g, time.Time{}, 1000)
			if err != nil || len(collected.Posts) != 1 || collected.Posts[0].Likes != nil || page > 100 {
				t.Errorf("%d pages, %+v, %v", page, collected, err)
			}
		})
	}
}

// Plan returns the same draft for the same submission, with any text.
func TestPlanIsStable(t *testing.T) {
	t.Parallel()
	n := tiktok.New(tiktok.Options{})
	rapid.Check(t, func(t *rapid.T) {
		intent := network.Submission{
			Seed: "s", FirstSubmittedAt: networktest.Start, At: networktest.Start,
			Content: network.Content{Text: string(rapid.SliceOf(rapid.Byte()).Draw(t, "text"))},
		}
		first, err := n.Plan(intent)
		intent.At = networktest.Start.Add(time.Hour)
		second, again := n.Plan(intent)
		if err != nil || again != nil || string(first) != string(second) {
			t.Fatalf("%s and %s, %v, %v", first, second, err, again)
		}
	})
}

func TestPermalinkWithoutID(t *testing.T) {
	t.Parallel()
	g := network.Grant{Username: "a/b"}
	for _, id := range []string{"", "x", "../me", strings.Repeat("1", 41)} {
		_, err := networkAt(networktest.Start).Permalink(t.Context(), g, network.Receipt{ID: id})
		networktest.WantClass(t, err, network.Rejected, "")
	}
	link, err := networkAt(networktest.Start).Permalink(t.Context(), g, network.Receipt{ID: "75"})
	if err != nil || link != "https://www.tiktok.com/@a%2Fb/video/75" {
		t.Errorf("permalink %q, %v", link, err)
	}
}
