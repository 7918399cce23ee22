package threads_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/network/threads"
)

func TestCollect(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect("harbour.coffee")
	for _, text := range []string{"first", "second", "third"} {
		if _, err := w.network().Commit(t.Context(), g, w.prepared(g, text), nil); err != nil {
			t.Fatal(err)
		}
		w.clock.Advance(24 * time.Hour)
	}
	got, err := w.network().Collect(t.Context(), g, start.Add(-time.Hour), 500)
	if err != nil || got.Followers == nil || *got.Followers < 1 || len(got.Posts) != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	for i, text := range []string{"third", "second", "first"} {
		p := got.Posts[i]
		if p.Text != text || p.Format != "text" || p.Views == nil || p.Likes == nil || p.Comments == nil || p.Shares == nil || p.Reach != nil || p.Saves != nil || p.URL == "" {
			t.Errorf("post %+v", p)
		}
	}
	if few, err := w.network().Collect(t.Context(), g, start.Add(12*time.Hour), 1); err != nil || len(few.Posts) != 1 {
		t.Errorf("%+v, %v", few, err)
	}
}

// An account whose person withheld the insights tells its posts alone.
func TestCollectWithoutInsights(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	n := threads.New(threads.Options{
		App:           network.App{HTTP: &http.Client{Transport: w.wire}, Now: w.clock.Now, ClientID: "app", ClientSecret: "app-secret", Scopes: []string{"threads_basic", "threads_content_publish"}},
		AuthorizeHost: w.url + "/threads", GraphHost: w.url + "/threads",
	})
	a := network.Authorization{State: "s", Redirect: redirect}
	found, err := n.Exchange(t.Context(), a, codeAt(t, n.Authorize(a)+"&account=harbour.coffee&decision=allow"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Commit(t.Context(), found[0].Grant, w.prepared(found[0].Grant, "text"), nil); err != nil {
		t.Fatal(err)
	}
	got, err := n.Collect(t.Context(), found[0].Grant, start.Add(-time.Hour), 500)
	if err != nil || len(got.Posts) != 1 || got.Posts[0].Likes != nil || got.Followers != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

// codeAt is the code with which a consent page sends a browser back.
func codeAt(t *testing.T, address string) string {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	back, err := response.Location()
	if err != nil {
		t.Fatal(err)
	}
	return back.Query().Get("code")
}

// The metrics and fields are those of the network's own samples.
func TestCollectIsDescribed(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "api-descriptions", "threads-postman-collection.json"))
	if err != nil {
		t.Skip("the network's description is not here")
	}
	var d struct {
		Variable []struct{ Key, Value string }
	}
	if err := json.Unmarshal(file, &d); err != nil {
		t.Fatal(err)
	}
	described := map[string][]string{}
	for _, v := range d.Variable {
		described[v.Key] = strings.Split(v.Value, ",")
	}
	w := newWorld(t, 0)
	g := w.connect("harbour.coffee")
	if _, err := w.network().Commit(t.Context(), g, w.prepared(g, "text"), nil); err != nil {
		t.Fatal(err)
	}
	asked := map[string]url.Values{}
	n := threads.New(threads.Options{App: network.App{HTTP: &http.Client{Transport: noting(func(r *http.Request) {
		asked[r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]] = r.URL.Query()
	})}, Now: w.clock.Now}, GraphHost: w.url + "/threads"})
	if _, err := n.Collect(t.Context(), g, start.Add(-time.Hour), 500); err != nil {
		t.Fatal(err)
	}
	for edge, of := range map[string]struct{ param, key string }{
		"threads": {"fields", "fields_threads"}, "insights": {"metric", "metrics_post"}, "threads_insights": {"metric", "metrics_account"},
	} {
		for name := range strings.SplitSeq(asked[edge].Get(of.param), ",") {
			if !slices.Contains(described[of.key], name) {
				t.Errorf("%s: %q is not described", edge, name)
			}
		}
	}
	if !slices.Contains(strings.Split(strings.Join(described["scope"], ","), ","), "threads_manage_insights") {
		t.Error("the scope is not described")
	}
}

type noting func(*http.Request)

func (n noting) RoundTrip(r *http.Request) (*http.Response, error) {
	n(r)
	return http.DefaultTransport.RoundTrip(r)
}
