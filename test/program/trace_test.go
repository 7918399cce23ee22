package program

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit/collector"
	"pressroom.example/pressroom/internal/testkit/must"
)

// A published post can be traced from its request to the network call. Traces contain no secrets, names or texts of
// users.
func TestTraces(t *testing.T) {
	t.Parallel()
	taker := collector.Start(t)
	p := start(t, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + taker.URL, "OTEL_BSP_SCHEDULE_DELAY=50"}, "quickstart",
		"--data", filepath.Join(t.TempDir(), "data"), "--addr", "127.0.0.1:0", "--json")
	var g greeting
	must.NoError(t, json.Unmarshal([]byte(p.line()), &g))
	key := g.Keys["full"]
	const traceID = "0af7651916cd43dd8448eb211c80319c"
	send := func(path, body string) map[string]any { return sendTraced(t, g.BaseURL+path, key, traceID, body) }
	made := send("/posts", `{"caption":"Nobody else is to read this sentence","account_ids":[1]}`)
	id, _ := made["id"].(string)
	if id == "" {
		post, _ := made["post"].(map[string]any)
		id, _ = post["id"].(string)
	}
	send("/posts/"+id+"/publish", "")
	var delivery collector.Span
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for delivery.Name == "" {
		for _, s := range taker.Spans("delivery") {
			if s.Attributes["pressroom.post_id"] == id && len(taker.Spans("publish_post")) > 0 {
				delivery = s
			}
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("no span for the delivery of post %s", id)
		}
	}
	if status := p.end(); status != 0 { // stopping sends the remaining spans
		t.Fatalf("ended with %d: %s", status, p.log)
	}
	publish := taker.Span("publish_post")
	if publish.Trace != traceID || publish.Attributes["pressroom.team_id"] == "" {
		t.Errorf("%+v", publish)
	}
	if len(delivery.Links) != 1 || !strings.HasPrefix(delivery.Links[0], traceID+"/") {
		t.Errorf("the delivery is not linked to its request: %+v", delivery)
	}
	committed := false
	for _, s := range taker.Spans("network.commit") {
		committed = committed || s.Trace == delivery.Trace && s.Attributes["pressroom.platform"] == "bluesky"
	}
	if !committed {
		t.Error("no span for the call of the network")
	}
	if len(taker.Spans("delivery.prepared")) == 0 {
		t.Error("no span for a transaction")
	}
	told := taker.Text()
	for _, secret := range []string{
		key, g.Owner["password"], g.Owner["email"], "Nobody else", "harbour", "Harbour", "Ada", "Bearer", g.Keys["drafts"],
	} {
		if strings.Contains(told, secret) {
			t.Errorf("a span contains %q", secret)
		}
	}
}

// sendTraced sends a POST with a trace ID, and returns the data of its answer.
func sendTraced(t *testing.T, url, key, traceID, body string) map[string]any {
	t.Helper()
	req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body)))(t)
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Traceparent", "00-"+traceID+"-b7ad6b7169203331-01")
	resp := must.Get(http.DefaultClient.Do(req))(t)
	defer resp.Body.Close()
	var out struct {
		Data map[string]any `json:"data"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil || resp.StatusCode >= http.StatusBadRequest {
		t.Fatalf("%s: %s %v %v", url, resp.Status, err, out)
	}
	return out.Data
}
