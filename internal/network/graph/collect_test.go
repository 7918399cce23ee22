package graph_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/graph"
)

// serve returns a client, and a call to a server that responds with the status and body that answer returns.
func serve(t *testing.T, answer func(url.Values) (int, string)) (*graph.Client, graph.Call) {
	t.Helper()
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, body := answer(r.URL.Query())
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(front.Close)
	call := graph.Call{Method: http.MethodGet, Server: front.URL, Path: "list", Params: url.Values{}}
	return graph.New(network.App{Now: time.Now}), call
}

// Metrics are read in all formats of the networks. A metric in another format is unknown.
func TestInsightForms(t *testing.T) {
	t.Parallel()
	client, call := serve(t, func(url.Values) (int, string) {
		return 200, `{"data":[{"name":"a","values":[{"value":1},{"value":2}]},{"name":"b","total_value":{"value":3}},
			{"name":"c","values":[{"value":{"like":4,"love":1}}]},{"name":"d","values":[]},
			{"name":"e","values":[{"value":"many"}]},{"name":"f","values":[{"value":0}]},{"name":"g"}]}`
	})
	got, err := client.Insights(t.Context(), call, []string{"a"})
	if diff := cmp.Diff(graph.Metrics{"a": 2, "b": 3, "c": 5, "f": 0}, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if got.Get("d") != nil || *got.Get("f") != 0 {
		t.Error("zero and unknown are not distinguished")
	}
}

type item struct {
	ID int64 `json:"id"` // seconds
}

// A list is read up to items older than a time, or up to a limit.
func TestListSince(t *testing.T) {
	t.Parallel()
	calls := 0
	client, call := serve(t, func(query url.Values) (int, string) {
		calls++
		first := 1000
		if after := query.Get("after"); after != "" {
			_, _ = fmt.Sscan(after, &first)
		}
		var items []string
		for i := range 100 {
			items = append(items, fmt.Sprintf(`{"id":%d}`, first-i))
		}
		return 200, fmt.Sprintf(`{"data":[%s],"paging":{"cursors":{"after":"%d"},"next":"https://a.test"}}`,
			strings.Join(items, ","), first-100)
	})
	at := func(i item) time.Time { return time.Unix(i.ID, 0) }
	for _, c := range []struct{ since, limit, found, calls int }{
		{951, 500, 50, 1}, {851, 500, 150, 2}, {1, 120, 120, 2}, {2000, 500, 0, 1},
	} {
		calls = 0
		got, more, err := graph.ListSince(t.Context(), client, call, time.Unix(int64(c.since), 0), c.limit, at)
		if err != nil || len(got) != c.found || calls != c.calls || more != (c.found == c.limit) {
			t.Errorf("since %d, limit %d: %d in %d calls, more %t, %v", c.since, c.limit, len(got), calls, more, err)
		}
	}
}

// Reading a list with very small pages stops after maxCalls calls.
func TestListSinceTinyPages(t *testing.T) {
	t.Parallel()
	calls := 0
	client, call := serve(t, func(query url.Values) (int, string) {
		if calls++; query.Get("limit") != "1" {
			return 400, `{"error":{"code":1,"error_subcode":99,"message":"Please reduce the amount of data"}}`
		}
		return 200, fmt.Sprintf(`{"data":[{"id":9}],"paging":{"cursors":{"after":"%d"},"next":"https://a.test"}}`, calls)
	})
	got, more, err := graph.ListSince(t.Context(), client, call, time.Unix(1, 0), 500, func(i item) time.Time {
		return time.Unix(i.ID, 0)
	})
	if err != nil || len(got) != 60 || !more || calls > 70 {
		t.Errorf("%d in %d calls, more %t, %v", len(got), calls, more, err)
	}
}

// A repeated cursor ends the list.
func TestListSinceRepeatedCursor(t *testing.T) {
	t.Parallel()
	client, call := serve(t, func(url.Values) (int, string) {
		return 200, `{"data":[{"id":9}],"paging":{"cursors":{"after":"same"},"next":"https://a.test"}}`
	})
	got, more, err := graph.ListSince(t.Context(), client, call, time.Unix(1, 0), 500, func(i item) time.Time {
		return time.Unix(i.ID, 0)
	})
	if err != nil || len(got) != 2 || !more {
		t.Errorf("%d, %v", len(got), err)
	}
}

func rejection(class network.ErrorClass, code string) error {
	return &network.Error{Class: class, Code: code, Status: 400, Err: errors.New("refused")}
}

// fetcher returns posts' metrics and records the requests.
type fetcher struct {
	fetch    func(post string, metrics []string) (graph.Metrics, error)
	requests []string
}

func (f *fetcher) reader(names ...string) *graph.MetricsReader {
	return &graph.MetricsReader{Names: names, Fetch: func(_ context.Context, post string, metrics []string) (graph.Metrics, error) {
		f.requests = append(f.requests, post+" "+strings.Join(metrics, ","))
		return f.fetch(post, metrics)
	}}
}

// A removed metric costs extra requests once per kind of post.
func TestRemovedMetric(t *testing.T) {
	t.Parallel()
	f := &fetcher{fetch: func(_ string, metrics []string) (graph.Metrics, error) {
		if slices.Contains(metrics, "gone") {
			return nil, rejection(network.Rejected, "100")
		}
		return graph.Metrics{"views": 7}, nil
	}}
	m := f.reader("views", "gone")
	for _, post := range []string{"1", "2", "3"} {
		got, err := m.Read(t.Context(), "reel", post)
		if diff := cmp.Diff(graph.Metrics{"views": 7}, got); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
	}
	if diff := cmp.Diff([]string{"1 views,gone", "1 views", "1 gone", "2 views", "3 views"}, f.requests); diff != "" {
		t.Error(diff)
	}
}

// Posts whose metrics the network rejects have none. After several such posts, no more metrics are requested.
func TestRejectedMetrics(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		rejection(network.Rejected, "100"), rejection(network.ReconnectRequired, "10"), rejection(network.ReconnectRequired, "200"),
	} {
		f := &fetcher{fetch: func(string, []string) (graph.Metrics, error) { return nil, err }}
		m := f.reader("views")
		for _, post := range []string{"1", "2", "3", "4", "5"} {
			if got, err := m.Read(t.Context(), "", post); len(got) > 0 || err != nil {
				t.Errorf("%v, %v", got, err)
			}
		}
		if len(f.requests) != 6 { // three posts, together and one by one
			t.Errorf("%v: requested %q", err, f.requests)
		}
	}
}

// One post with too few viewers does not affect the other posts.
func TestOnePostWithoutMetrics(t *testing.T) {
	t.Parallel()
	f := &fetcher{fetch: func(post string, _ []string) (graph.Metrics, error) {
		if post == "2" {
			return nil, rejection(network.ReconnectRequired, "10")
		}
		return graph.Metrics{"views": 1}, nil
	}}
	m := f.reader("views")
	for post, want := range map[string]bool{"1": true, "2": false, "3": true} {
		if got, err := m.Read(t.Context(), "", post); err != nil || (len(got) > 0) != want {
			t.Errorf("%s: %v, %v", post, got, err)
		}
	}
}

// An invalid token, a rate limit and repeated failures end the collection.
func TestEndOfCollection(t *testing.T) {
	t.Parallel()
	for _, want := range []error{rejection(network.ReconnectRequired, "190/463"), rejection(network.RateLimited, "4")} {
		f := &fetcher{fetch: func(string, []string) (graph.Metrics, error) { return nil, want }}
		if _, err := f.reader("views").Read(t.Context(), "", "1"); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	f := &fetcher{fetch: func(string, []string) (graph.Metrics, error) { return nil, rejection(network.Transient, "2") }}
	m := f.reader("views")
	for range 5 {
		if _, err := m.Read(t.Context(), "", "1"); err != nil {
			t.Error(err)
		}
	}
	if _, err := m.Read(t.Context(), "", "1"); err == nil {
		t.Error("repeated failures return no error")
	}
}

// A missing permission does not disconnect an account. An invalid token disconnects it.
func TestDowngradeMissingPermission(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]network.ErrorClass{
		"10": network.AppNotApproved, "200": network.AppNotApproved, "190/463": network.ReconnectRequired,
		"102": network.ReconnectRequired,
		"":    network.ReconnectRequired,
	} {
		netErr, _ := errors.AsType[*network.Error](graph.DowngradeMissingPermission(rejection(network.ReconnectRequired, code)))
		if netErr.Class != want {
			t.Errorf("%q: %s, want %s", code, netErr.Class, want)
		}
	}
	if err := errors.New("other"); !errors.Is(graph.DowngradeMissingPermission(err), err) || graph.DowngradeMissingPermission(nil) != nil {
		t.Error("an error of another type is changed")
	}
}

// A negative metric is unknown.
func TestNegativeMetrics(t *testing.T) {
	t.Parallel()
	var f graph.Metrics
	if err := json.Unmarshal([]byte(`{"views":-1}`), &f); err != nil || f.Get("views") != nil {
		t.Errorf("%v, %v", f, err)
	}
}
