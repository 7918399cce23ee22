package threads_test

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network/networktest"
)

var anyID = regexp.MustCompile(`\b[0-9]{10,}\b`)

// checkCall checks that a request matches the network's description: methods, paths and parameters.
func checkCall(t *testing.T, r networktest.Request) {
	path := anyID.ReplaceAllString(strings.TrimPrefix(r.TrimBase("/threads/"), "v1.0/"), "ID")
	params, described := networktest.ThreadsSummary().Calls[r.Method+" "+path]
	if !described {
		t.Errorf("%s %s is not described", r.Method, path)
		return
	}
	for name := range r.Params() {
		if !slices.Contains(params, name) && name != "since" && name != "after" { // the collection has no paging
			t.Errorf("%s %s: the parameter %s is not described", r.Method, path, name)
		}
	}
}

// isDescribed reports that all requests are described, because checkCall rejects other requests.
func isDescribed(networktest.Request) bool { return true }

// The requested metrics and fields occur in Meta's samples.
func TestCollectDescribed(t *testing.T) {
	t.Parallel()
	described := networktest.ThreadsSummary().Samples
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	f.Post(g, "text")
	f.Collect(g, networktest.Start.Add(-time.Hour), 500)
	queries := map[string]url.Values{}
	for _, r := range f.Transport.Requests("GET ") {
		queries[strings.TrimPrefix(r.Endpoint(), "GET ")] = r.URL.Query()
	}
	for edge, withChange := range map[string]struct{ param, key string }{
		"threads": {"fields", "fields_threads"}, "insights": {"metric", "metrics_post"},
		"threads_insights": {"metric", "metrics_account"},
	} {
		for name := range strings.SplitSeq(queries[edge].Get(withChange.param), ",") {
			if !slices.Contains(described[withChange.key], name) {
				t.Errorf("%s: %q is not described", edge, name)
			}
		}
	}
	if !slices.Contains(described["scope"], "threads_manage_insights") {
		t.Error("the scope is not described")
	}
}

// The tests send calls of every described kind.
func TestCallsDescribed(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	f.MakeEveryCall()
	for _, part := range []string{"/threads?", "/threads_publish", "/access_token"} {
		if f.Transport.Count(strings.TrimSuffix(part, "?")) == 0 {
			t.Errorf("%s was not called", part)
		}
	}
}
