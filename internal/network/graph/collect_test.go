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

	"pressroom/internal/network"
	"pressroom/internal/network/graph"
)

// serve is a client, and a call of a server that answers as a test says.
func serve(t *testing.T, answer func(url.Values) (int, string)) (*graph.Client, graph.Call) {
	t.Helper()
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, body := answer(r.URL.Query())
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(front.Close)
	return graph.New(network.App{Now: time.Now}), graph.Call{Method: http.MethodGet, Server: front.URL, Path: "list", Params: url.Values{}}
}

// Every form in which figures come is read, and what is none is not told.
func TestInsightForms(t *testing.T) {
	t.Parallel()
	client, call := serve(t, func(url.Values) (int, string) {
		return 200, `{"data":[{"name":"a","values":[{"value":1},{"value":2}]},{"name":"b","total_value":{"value":3}},
			{"name":"c","values":[{"value":{"like":4,"love":1}}]},{"name":"d","values":[]},{"name":"e","values":[{"value":"many"}]},{"name":"f","values":[{"value":0}]},{"name":"g"}]}`
	})
	got, err := client.Insights(t.Context(), call, []string{"a"})
	if diff := cmp.Diff(graph.Figures{"a": 2, "b": 3, "c": 5, "f": 0}, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if got.Told("d") != nil || *got.Told("f") != 0 {
		t.Error("what was told is not told apart from what was not")
	}
}

type item struct {
	ID int64 `json:"id"` // seconds
}

// A list is read to what is older than a time, or to so many.
func TestListed(t *testing.T) {
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
	for _, c := range []struct{ since, most, found, calls int }{
		{951, 500, 50, 1}, {851, 500, 150, 2}, {1, 120, 120, 2}, {2000, 500, 0, 1},
	} {
		calls = 0
		got, cut, err := graph.Listed(t.Context(), client, call, time.Unix(int64(c.since), 0), c.most, at)
		if err != nil || len(got) != c.found || calls != c.calls || cut != (c.found == c.most) {
			t.Errorf("since %d at most %d: %d in %d calls, cut off %t, %v", c.since, c.most, len(got), calls, cut, err)
		}
	}
}

// A cursor that leads nowhere ends the list.
func TestListedWithoutEnd(t *testing.T) {
	t.Parallel()
	client, call := serve(t, func(url.Values) (int, string) {
		return 200, `{"data":[{"id":9}],"paging":{"cursors":{"after":"same"},"next":"https://a.test"}}`
	})
	got, cut, err := graph.Listed(t.Context(), client, call, time.Unix(1, 0), 500, func(i item) time.Time { return time.Unix(i.ID, 0) })
	if err != nil || len(got) != 2 || !cut {
		t.Errorf("%d, %v", len(got), err)
	}
}

func refusal(class network.Class, code string) error {
	return &network.Error{Class: class, Code: code, Status: 400, Err: errors.New("refused")}
}

// asker answers for posts by their ids and notes what it was asked.
type asker struct {
	answer func(post string, metrics []string) (graph.Figures, error)
	asked  []string
}

func (a *asker) metrics(names ...string) *graph.Metrics {
	return &graph.Metrics{Names: names, Ask: func(_ context.Context, post string, metrics []string) (graph.Figures, error) {
		a.asked = append(a.asked, post+" "+strings.Join(metrics, ","))
		return a.answer(post, metrics)
	}}
}

// A metric that was removed costs the others once alone, for each kind of post.
func TestRemovedMetric(t *testing.T) {
	t.Parallel()
	a := &asker{answer: func(_ string, metrics []string) (graph.Figures, error) {
		if slices.Contains(metrics, "gone") {
			return nil, refusal(network.Rejected, "100")
		}
		return graph.Figures{"views": 7}, nil
	}}
	m := a.metrics("views", "gone")
	for _, post := range []string{"1", "2", "3"} {
		got, err := m.Of(t.Context(), "reel", post)
		if diff := cmp.Diff(graph.Figures{"views": 7}, got); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
	}
	if diff := cmp.Diff([]string{"1 views,gone", "1 views", "1 gone", "2 views", "3 views"}, a.asked); diff != "" {
		t.Error(diff)
	}
}

// Posts that tell nothing are posts without figures. After some no further one is asked.
func TestNothingTold(t *testing.T) {
	t.Parallel()
	for _, err := range []error{refusal(network.Rejected, "100"), refusal(network.AuthDead, "10"), refusal(network.AuthDead, "200")} {
		a := &asker{answer: func(string, []string) (graph.Figures, error) { return nil, err }}
		m := a.metrics("views")
		for _, post := range []string{"1", "2", "3", "4", "5"} {
			if got, err := m.Of(t.Context(), "", post); len(got) > 0 || err != nil {
				t.Errorf("%v, %v", got, err)
			}
		}
		if len(a.asked) != 6 { // three posts, together and one by one
			t.Errorf("%v: asked %q", err, a.asked)
		}
	}
}

// One post with too few viewers says nothing of the others.
func TestOnePostWithoutFigures(t *testing.T) {
	t.Parallel()
	a := &asker{answer: func(post string, _ []string) (graph.Figures, error) {
		if post == "2" {
			return nil, refusal(network.AuthDead, "10")
		}
		return graph.Figures{"views": 1}, nil
	}}
	m := a.metrics("views")
	for post, want := range map[string]bool{"1": true, "2": false, "3": true} {
		if got, err := m.Of(t.Context(), "", post); err != nil || (len(got) > 0) != want {
			t.Errorf("%s: %v, %v", post, got, err)
		}
	}
}

// A dead token, a limit and a network that fails for long end the collection.
func TestEndOfCollection(t *testing.T) {
	t.Parallel()
	for _, want := range []error{refusal(network.AuthDead, "190/463"), refusal(network.Rate, "4")} {
		a := &asker{answer: func(string, []string) (graph.Figures, error) { return nil, want }}
		if _, err := a.metrics("views").Of(t.Context(), "", "1"); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	a := &asker{answer: func(string, []string) (graph.Figures, error) { return nil, refusal(network.Transient, "2") }}
	m := a.metrics("views")
	for range 5 {
		if _, err := m.Of(t.Context(), "", "1"); err != nil {
			t.Error(err)
		}
	}
	if _, err := m.Of(t.Context(), "", "1"); err == nil {
		t.Error("a network that fails goes unnoticed")
	}
}

// A permission that is missing does not cost a connection, a dead token does.
func TestSpare(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]network.Class{
		"10": network.Unapproved, "200": network.Unapproved, "190/463": network.AuthDead, "102": network.AuthDead, "": network.AuthDead,
	} {
		said, _ := errors.AsType[*network.Error](graph.Spare(refusal(network.AuthDead, code)))
		if said.Class != want {
			t.Errorf("%q: %s, want %s", code, said.Class, want)
		}
	}
	if err := errors.New("ours"); !errors.Is(graph.Spare(err), err) || graph.Spare(nil) != nil {
		t.Error("another error is changed")
	}
}

// The counts below a post are numbers or nothing.
func TestFiguresAreNumbers(t *testing.T) {
	t.Parallel()
	var f graph.Figures
	if err := json.Unmarshal([]byte(`{"views":-1}`), &f); err != nil || f.Told("views") != nil {
		t.Errorf("%v, %v", f, err)
	}
}
