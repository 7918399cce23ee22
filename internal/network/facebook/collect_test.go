package facebook_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/network/networktest"
)

func TestCollect(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect("harbour.coffee")
	for text, media := range map[string][]network.Media{"words": nil, "see https://a.test/page": nil, "one": {l.png(t, 9, 9)}, "two": {l.png(t, 8, 8), l.png(t, 7, 7)}, "film": {l.mp4()}} {
		w.publish(g, w.prepared(g, l, text, media...))
	}
	w.clock.Advance(72 * time.Hour)
	got, err := w.network().Collect(t.Context(), g, start.Add(-time.Hour), 500)
	if err != nil || got.Cut || got.Followers == nil || *got.Followers < 1 || len(got.Posts) != 5 {
		t.Fatalf("%+v, %v", got, err)
	}
	formats := map[string]string{"words": "text", "see https://a.test/page": "link", "one": "image", "two": "carousel", "film": "video"}
	for _, p := range got.Posts {
		if p.Format != formats[p.Text] || !strings.Contains(p.URL, "/posts/") && !strings.Contains(p.URL, "/videos/") {
			t.Errorf("post %+v", p)
		}
		for name, n := range map[string]*int64{"reach": p.Reach, "views": p.Views, "likes": p.Likes, "comments": p.Comments, "clicks": p.Clicks} {
			if n == nil {
				t.Errorf("%s: no %s", p.Text, name)
			}
		}
		if p.Saves != nil {
			t.Errorf("%d saves", *p.Saves)
		}
	}
	if few, err := w.network().Collect(t.Context(), g, start.Add(-time.Hour), 2); err != nil || len(few.Posts) != 2 || !few.Cut {
		t.Errorf("%+v, %v", few, err)
	}
}

func TestCollectRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect("harbour.coffee")
	g.Access = "wrong"
	_, err := w.network().Collect(t.Context(), g, start, 500)
	networktest.WantClass(t, err, network.AuthDead, "190")
}

// The fields that are asked for are those of Pages and posts, and posts have insights. The metrics, and what stands below
// a post, are in no description.
func TestCollectIsDescribed(t *testing.T) {
	t.Parallel()
	page, post := described(t, "Page"), described(t, "PagePost")
	if !slices.Contains(page.fields(), "followers_count") {
		t.Error("a Page has no followers_count")
	}
	for _, field := range []string{"id", "message", "created_time", "permalink_url", "shares"} {
		if !slices.Contains(post.fields(), field) {
			t.Errorf("a post has no %s", field)
		}
	}
	if !slices.Contains(post.params("GET", "insights"), "metric") {
		t.Error("a post has no insights")
	}
}
