package threads_test

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom/internal/network/networktest"
	"pressroom/internal/testkit/must"
)

// collection is the network's own description of its API, a Postman collection.
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
func (c collectionItem) addParams(into map[string][]string) {
	for _, item := range c.Item {
		item.addParams(into)
	}
	if c.Request == nil {
		return
	}
	key := c.Request.Method + " " + generic(strings.Join(c.Request.URL.Path, "/"))
	into[key] = append(into[key], "access_token") // the collection's authorization adds it to every query
	for _, q := range c.Request.URL.Query {
		into[key] = append(into[key], q.Key)
	}
}

var anyID = regexp.MustCompile(`\{\{[a-z_]+\}\}|\b[0-9]{10,}\b`)

func generic(path string) string { return strings.Trim(anyID.ReplaceAllString(path, "ID"), "/") }

// Requests match the network's description: methods, paths and parameters.
func TestRequestsAreDescribed(t *testing.T) {
	t.Parallel()
	var all collection
	must.NoError(t, json.Unmarshal(networktest.Description(t, "threads-postman-collection.json"), &all))
	known := map[string][]string{}
	collectionItem{Item: all.Item}.addParams(known)
	f := networktest.New(t, adapter, 0)
	f.MakeEveryCall()
	for _, s := range f.Wire.Requests("") {
		path := strings.TrimPrefix(strings.TrimPrefix(s.URL.Path, "/threads/"), "v1.0/")
		params, described := known[s.Method+" "+generic(path)]
		if !described {
			t.Errorf("%s %s is not described", s.Method, path)
			continue
		}
		for name := range s.Params() {
			if !slices.Contains(params, name) && name != "since" { // the collection has no paging
				t.Errorf("%s %s: the parameter %s is not described", s.Method, path, name)
			}
		}
	}
}

// The metrics and fields are those of the network's own samples.
func TestCollectIsDescribed(t *testing.T) {
	t.Parallel()
	var d struct {
		Variable []struct{ Key, Value string }
	}
	must.NoError(t, json.Unmarshal(networktest.Description(t, "threads-postman-collection.json"), &d))
	// addParams adds the parameters of each request by method and path.
	described := map[string][]string{}
	for _, v := range d.Variable {
		described[v.Key] = strings.Split(v.Value, ",")
	}
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	f.Post(g, "text")
	f.Collect(g, networktest.Start.Add(-time.Hour), 500)
	queries := map[string]url.Values{}
	for _, r := range f.Wire.Requests("GET ") {
		queries[strings.TrimPrefix(r.Endpoint(), "GET ")] = r.URL.Query()
	}
	for edge, of := range map[string]struct{ param, key string }{
		"threads": {"fields", "fields_threads"}, "insights": {"metric", "metrics_post"},
		"threads_insights": {"metric", "metrics_account"},
	} {
		for name := range strings.SplitSeq(queries[edge].Get(of.param), ",") {
			if !slices.Contains(described[of.key], name) {
				t.Errorf("%s: %q is not described", edge, name)
			}
		}
	}
	if !slices.Contains(strings.Split(strings.Join(described["scope"], ","), ","), "threads_manage_insights") {
		t.Error("the scope is not described")
	}
}
