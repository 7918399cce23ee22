package threads_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom/internal/network"
)

// collection is the network's own description of its requests, a Postman collection.
type collection struct {
	Item []collectionItem `json:"item"`
}

type collectionItem struct {
	Item    []collectionItem
	Request *struct {
		Method string
		URL    struct {
			Path  []string
			Query []struct{ Key string }
		}
	}
}

// described is what is known of each request: by method and path, the parameters that it may have.
func (c collectionItem) described(into map[string][]string) {
	for _, item := range c.Item {
		item.described(into)
	}
	if c.Request == nil {
		return
	}
	key := c.Request.Method + " " + generic(strings.Join(c.Request.URL.Path, "/"))
	into[key] = append(into[key], "access_token") // the collection's authorisation adds it to every query
	for _, q := range c.Request.URL.Query {
		into[key] = append(into[key], q.Key)
	}
}

var anyID = regexp.MustCompile(`\{\{[a-z_]+\}\}|\b[0-9]{10,}\b`)

func generic(path string) string { return strings.Trim(anyID.ReplaceAllString(path, "ID"), "/") }

// What is sent fits what the network describes: methods, paths and the names of parameters.
func TestRequestsAreDescribed(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "api-descriptions", "threads-postman-collection.json"))
	if err != nil {
		t.Skip("the network's description is not here")
	}
	var all collection
	if err := json.Unmarshal(file, &all); err != nil {
		t.Fatal(err)
	}
	known := map[string][]string{}
	collectionItem{Item: all.Item}.described(known)
	w := everyCall(t)
	for _, s := range w.wire.sent {
		path := strings.TrimPrefix(strings.TrimPrefix(s.path, "/threads/"), "v1.0/")
		params, described := known[s.method+" "+generic(path)]
		if !described {
			t.Errorf("%s %s is not described", s.method, path)
			continue
		}
		for name := range s.params {
			if !slices.Contains(params, name) && name != "since" { // the collection shows no paging
				t.Errorf("%s %s: the parameter %s is not described", s.method, path, name)
			}
		}
	}
}

// everyCall makes each call that there is at least once.
func everyCall(t *testing.T) *world {
	t.Helper()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect("harbour.coffee")
	for _, media := range [][]network.Media{nil, {l.png(t, 9, 9)}, {l.mp4()}, {l.png(t, 9, 9), l.mp4()}} {
		d, err := w.prepare(g, w.plan("text", media...), l)
		if err != nil {
			t.Fatal(err)
		}
		receipt, err := w.network().Commit(t.Context(), g, d, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := w.network().Resolve(t.Context(), g, d, network.Tried{}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.network().Permalink(t.Context(), g, receipt); err != nil {
			t.Fatal(err)
		}
	}
	w.clock.Advance(48 * time.Hour)
	if _, err := w.network().Refresh(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	w.wantHeld(4)
	return w
}
