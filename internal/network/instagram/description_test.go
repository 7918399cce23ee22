package instagram_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom/internal/network"
)

// described is what the network's own description says of a kind of object: its fields, and its edges with their
// parameters.
type described struct {
	Fields []struct{ Name string }
	APIs   []struct {
		Method, Endpoint string
		Params           []struct{ Name string }
	}
}

func description(t *testing.T, name string) described {
	t.Helper()
	file, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "api-descriptions", name))
	if err != nil {
		t.Skip("the network's description is not here")
	}
	var d described
	if err := json.Unmarshal(file, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// params are the names that a call of an edge may have; false for an edge that is none.
func (d described) params(method, edge string) ([]string, bool) {
	for _, api := range d.APIs {
		if api.Method == method && api.Endpoint == edge {
			names := []string{"access_token", "fields", "limit"} // every call may have these
			for _, p := range api.Params {
				names = append(names, p.Name)
			}
			return names, true
		}
	}
	return nil, false
}

func (d described) has(field string) bool {
	return slices.ContainsFunc(d.Fields, func(f struct{ Name string }) bool { return f.Name == field })
}

var accountEdge = regexp.MustCompile(`^/instagram/(?:graph|facebook)/v25\.0/[0-9]+/([a-z_]+)$`)

// What is sent to an account fits what the network describes: methods, edges and the names of parameters; and so do the
// fields that are asked for of posts.
func TestRequestsAreDescribed(t *testing.T) {
	t.Parallel()
	account, media := description(t, "meta-IGUser.json"), description(t, "meta-IGMedia.json")
	w, answers := everyCall(t)
	seen := 0
	for _, s := range w.wire.sent {
		match := accountEdge.FindStringSubmatch(s.path)
		if match == nil {
			continue
		}
		seen++
		params, known := account.params(s.method, match[1])
		if !known {
			t.Errorf("%s %s is not described", s.method, s.path)
			continue
		}
		for name := range s.params {
			if !slices.Contains(params, name) {
				t.Errorf("%s %s: the parameter %s is not described", s.method, s.path, name)
			}
		}
		for field := range strings.SplitSeq(s.params.Get("fields"), ",") {
			if field != "" && !media.has(field) {
				t.Errorf("%s %s: the field %s is not described", s.method, s.path, field)
			}
		}
	}
	if seen < 20 {
		t.Errorf("%d calls", seen)
	}
	for _, post := range answers {
		for field := range post {
			if !media.has(field) {
				t.Errorf("the answered field %s is not described", field)
			}
		}
	}
}

// What is read of accounts and of Pages are fields that they have. The app's own person has another form of its own.
func TestReadFieldsAreDescribed(t *testing.T) {
	t.Parallel()
	account, page := description(t, "meta-IGUser.json"), description(t, "meta-Page.json")
	for _, field := range []string{"id", "username", "name"} {
		if !account.has(field) {
			t.Errorf("an account has no %s", field)
		}
	}
	for _, field := range []string{"id", "access_token", "instagram_business_account"} {
		if !page.has(field) {
			t.Errorf("a Page has no %s", field)
		}
	}
}

// everyCall makes each call that there is at least once, and reads the posts as the sandbox lists them.
func everyCall(t *testing.T) (*world, []map[string]any) {
	t.Helper()
	w, l := newWorld(t, 0), newLibrary(t)
	var posts []map[string]any
	for _, kind := range kinds {
		g := w.connect(kind, "harbour.coffee")
		for _, media := range [][]network.Media{{l.jpeg(t, 9, 9)}, {l.mp4()}, {l.jpeg(t, 9, 9), l.mp4()}} {
			w.publish(g, w.plan("text", media...), l)
		}
		w.clock.Advance(48 * time.Hour)
		if _, err := w.network().Refresh(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		posts = append(posts, w.listed(g)...)
	}
	w.wantHeld(6)
	return w, posts
}

// publish takes a publication through every call.
func (w *world) publish(g network.Grant, d network.Draft, l *library) {
	w.t.Helper()
	d, err := w.prepare(g, d, l)
	if err != nil {
		w.t.Fatal(err)
	}
	receipt, err := w.network().Commit(w.t.Context(), g, d, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, _, err := w.network().Resolve(w.t.Context(), g, d, network.Tried{}); err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.network().Permalink(w.t.Context(), g, receipt); err != nil {
		w.t.Fatal(err)
	}
}

// listed are the account's posts with all their fields.
func (w *world) listed(g network.Grant) []map[string]any {
	w.t.Helper()
	response, err := http.Get(g.Server + "/v25.0/" + g.Account + "/media?fields=id,caption,media_type,permalink,timestamp,username&access_token=" + g.Access)
	if err != nil {
		w.t.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct{ Data []map[string]any }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || len(answer.Data) == 0 {
		w.t.Fatalf("listing the posts: %+v, %v", answer, err)
	}
	return answer.Data
}
