package pinterest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/network/pinterest"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Reports cover 90 days, so the saves of older pins remain unknown.
func TestCollectOldPins(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	f.Post(f.Grant(), "old", f.Media()...)
	f.Clock.Advance(90 * day)
	g := f.Grant()
	f.Post(g, "new", f.Media()...)
	posts := f.Collect(g, networktest.Start, 10).Posts
	if len(posts) != 2 || posts[0].Saves == nil || posts[1].Saves != nil || posts[1].Views == nil || posts[1].Clicks == nil {
		t.Errorf("%+v", posts)
	}
}

// Collect omits pins of other accounts, and stops at a repeated page.
func TestCollectSharedBoard(t *testing.T) {
	t.Parallel()
	calls := 0
	url := networktest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/boards/8/pins") {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		calls++
		_, _ = fmt.Fprint(w,
			`{"bookmark":"b","items":[{"id":"1","created_at":"2026-11-21T09:30:00","is_owner":true,"title":"t",
			"pin_metrics":null,"media":{"media_type":"story"}},{"id":"2","created_at":"2026-11-21T09:31:00","is_owner":false},
			{"id":"3","created_at":"?"},{"id":"x","created_at":"2026-11-21T09:31:00"}]}`)
	}))
	n := pinterest.New(pinterest.Options{App: network.App{Now: func() time.Time { return networktest.Start.Add(time.Hour) }}})
	collected, err := n.Collect(t.Context(), network.Grant{Server: url, Extra: map[string]string{"board": "8"}}, networktest.Start, 10)
	want := network.Collection{
		Posts: []network.CollectedPost{{ID: "1", URL: "https://www.pinterest.com/pin/1/", Text: "t", PostedAt: networktest.Start}},
	}
	if diff := cmp.Diff(want, collected); diff != "" || err != nil || calls != 2 {
		t.Errorf("%d calls, %v%s", calls, err, diff)
	}
}

var api = networktest.LoadOpenAPI("pinterest.json", "", "/pinterest/v5", func(doc *openapi3.T) {
	for _, path := range []string{"/pins/analytics", "/pins/{pin_id}/analytics"} {
		metric := doc.Paths.Find(path).Get.Parameters.GetByInAndName("query", "metric_types").Schema.Value.Items.Value
		metric.AnyOf, metric.OneOf = metric.OneOf, nil // most metrics are in both lists
	}
})

// checkCall checks that a request and the sandbox's response match the network's description. The description lacks the
// storage for videos and the parameters of the token endpoint.
func checkCall(t *testing.T, r networktest.Request) {
	if isDescribed(r) {
		api.Check(t, r)
	}
}

func isDescribed(r networktest.Request) bool {
	return !strings.HasPrefix(r.URL.Path, "/pinterest/upload/")
}

// The tests send calls of every described kind.
func TestCallsDescribed(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 10*time.Second)
	seen := map[string]bool{}
	f.Transport.OnResponse = func(r networktest.Request) {
		if isDescribed(r) {
			seen[api.Check(t, r)] = true
		}
	}
	f.MakeEveryCall()
	must.Get(prepare(t, f, f.Grant(), optionsOf("x", network.PinterestOptions{BoardSection: "Winter"}, f.Library.Image("png", 9, 9))))(t)
	g := f.Grant()
	f.Clock.Advance(time.Hour)
	f.Collect(g, networktest.Start, 10)
	rejecting := networktest.Interceptor{
		RoundTripper: f.Transport, Part: severalCall, Status: http.StatusForbidden, Body: `{"code":29,"message":"no"}`,
	}
	must.Get(f.CollectThrough(rejecting, g, networktest.Start, 10))(t)
	if len(seen) != 10 {
		t.Errorf("%d calls: %v", len(seen), seen)
	}
}
