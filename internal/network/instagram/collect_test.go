package instagram_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/network/instagram"
	"pressroom/internal/network/networktest"
)

// consentAt is the code that comes back from a consent page where somebody allowed all that it asks for.
func (w *world) consentAt(page, account string) string {
	w.t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Get(page + "&account=" + account + "&decision=allow")
	if err != nil {
		w.t.Fatal(err)
	}
	defer response.Body.Close()
	back, err := response.Location()
	if err != nil {
		w.t.Fatal(err)
	}
	return back.Query().Get("code")
}

// published are posts of several forms, the oldest first, a day apart.
func (w *world) published(g network.Grant, l *library) {
	w.t.Helper()
	for _, media := range [][]network.Media{{l.jpeg(w.t, 9, 9)}, {l.mp4()}, {l.jpeg(w.t, 9, 9), l.mp4()}} {
		w.publish(g, w.plan("text", media...), l)
		w.clock.Advance(24 * time.Hour)
	}
}

// Both ways of signing in tell every figure, of every form of post.
func TestCollect(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w, l := newWorld(t, 0), newLibrary(t)
			g := w.connect(kind, "harbour.coffee")
			w.published(g, l)
			got, err := w.network().Collect(t.Context(), g, start.Add(-time.Hour), 500)
			if err != nil || got.Followers == nil || *got.Followers < 1 || len(got.Posts) != 3 {
				t.Fatalf("%+v, %v", got, err)
			}
			for i, format := range []string{"carousel", "reel", "image"} {
				wantFigures(t, got.Posts[i], format)
			}
			if recent, err := w.network().Collect(t.Context(), g, w.clock.Now().Add(-30*time.Hour), 500); err != nil || len(recent.Posts) != 1 {
				t.Errorf("of the last 30 hours: %+v, %v", recent.Posts, err)
			}
			if few, err := w.network().Collect(t.Context(), g, start, 2); err != nil || len(few.Posts) != 2 {
				t.Errorf("at most two: %+v, %v", few.Posts, err)
			}
		})
	}
}

// wantFigures checks that a post of a format has every figure.
func wantFigures(t *testing.T, p network.Figures, format string) {
	t.Helper()
	if p.Format != format || p.Text != "text" || !strings.Contains(p.URL, "/web/p/"+p.ID) || p.PostedAt.Before(start) {
		t.Errorf("post %+v", p)
	}
	for name, n := range map[string]*int64{"reach": p.Reach, "views": p.Views, "likes": p.Likes, "comments": p.Comments, "shares": p.Shares, "saves": p.Saves} {
		if n == nil {
			t.Fatalf("%s: no %s", format, name)
		}
	}
	if *p.Reach > *p.Views || *p.Likes > *p.Reach {
		t.Errorf("%d reached, %d views, %d likes", *p.Reach, *p.Views, *p.Likes)
	}
}

// An account whose person withheld the insights tells what stands below its posts.
func TestCollectWithoutInsights(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	opts := w.options()
	opts.Scopes = []string{"instagram_business_basic", "instagram_business_content_publish"}
	n := instagram.New(opts)
	a := network.Authorization{Kind: "instagram", State: "s", Redirect: redirect}
	back := w.consentAt(n.Authorize(a), "harbour.coffee")
	found, err := n.Exchange(t.Context(), a, back)
	if err != nil {
		t.Fatal(err)
	}
	w.published(found[0].Grant, l)
	got, err := n.Collect(t.Context(), found[0].Grant, start, 500)
	if err != nil || len(got.Posts) != 3 || got.Posts[0].Likes == nil || got.Posts[0].Reach != nil || got.Posts[0].Saves != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestCollectRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.harbour()
	w.clock.Advance(61 * 24 * time.Hour)
	_, err := w.network().Collect(t.Context(), g, start, 500)
	networktest.WantClass(t, err, network.AuthDead, "190/463")
}

// What is asked of posts and of accounts is described by the network, with every metric.
func TestCollectIsDescribed(t *testing.T) {
	t.Parallel()
	account, media := description(t, "meta-IGUser.json"), description(t, "meta-IGMedia.json")
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.harbour()
	w.published(g, l)
	before := len(w.wire.sent)
	if _, err := w.network().Collect(t.Context(), g, start, 500); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, s := range w.wire.sent[before:] {
		of, fields := account, s.params.Get("fields")
		switch edge := s.path[strings.LastIndex(s.path, "/")+1:]; edge {
		case "media", "insights":
			of, seen[edge] = media, true
			params, known := account.params(s.method, edge)
			if edge == "insights" {
				params, known = []string{"metric", "access_token"}, true
			}
			for name := range s.params {
				if !known || name != "after" && !slices.Contains(params, name) {
					t.Errorf("%s: the parameter %s is not described", s.path, name)
				}
			}
		}
		for field := range strings.SplitSeq(fields, ",") {
			if field != "" && !of.has(field) {
				t.Errorf("%s: the field %s is not described", s.path, field)
			}
		}
	}
	if !seen["media"] || !seen["insights"] {
		t.Errorf("seen %v", seen)
	}
	if !slices.ContainsFunc(apis(t, "meta-IGMedia.json"), func(e string) bool { return e == "GET insights" }) {
		t.Error("posts have no insights")
	}
}

// apis are the edges of a kind of object, whichever way the description names them.
func apis(t *testing.T, name string) []string {
	t.Helper()
	file, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "api-descriptions", name))
	if err != nil {
		t.Skip("the network's description is not here")
	}
	var d struct {
		APIs []struct{ Method, Endpoint, Name string } `json:"apis"`
	}
	if err := json.Unmarshal(file, &d); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, a := range d.APIs {
		out = append(out, a.Method+" "+strings.TrimPrefix(a.Endpoint, "/"))
	}
	return out
}
