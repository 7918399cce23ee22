package mcp_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/api/problem"
	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/testkit/must"
)

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

// reply is a response of the edge.
type reply struct {
	status int
	header http.Header
	body   string
}

// send sends a message. Headers are alternating names and values that replace those of a client; an empty value removes
// the header.
func (e *env) send(t *testing.T, method, body string, headers ...string) reply {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), method, e.url, strings.NewReader(body)))(t)
	r.Header = http.Header{
		"Authorization": {"Bearer full"}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
	}
	for pair := range slices.Chunk(headers, 2) {
		r.Header.Set(pair[0], pair[1])
		if pair[1] == "" {
			r.Header.Del(pair[0])
		}
	}
	return receive(t, r)
}

func receive(t *testing.T, r *http.Request) reply {
	t.Helper()
	resp := must.Get(http.DefaultClient.Do(r))(t)
	defer resp.Body.Close()
	body := must.Get(io.ReadAll(resp.Body))(t)
	return reply{resp.StatusCode, resp.Header, string(body)}
}

func TestCommonHeaders(t *testing.T) {
	e := newEnv(t)
	for _, got := range []reply{
		e.send(t, "POST", ping), e.send(t, "POST", "{"), e.send(t, "GET", ""), e.send(t, "POST", ping, "Authorization", ""),
		e.send(t, "POST", ping, "Accept", "text/html"), e.send(t, "POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`),
	} {
		if got.header.Get("Cache-Control") != "no-store" || len(got.header.Get("X-Request-Id")) != 36 {
			t.Errorf("HTTP %d: headers %v", got.status, got.header)
		}
		for name := range got.header {
			if strings.HasPrefix(name, "Access-Control-") || name == "Mcp-Session-Id" {
				t.Errorf("HTTP %d: header %s", got.status, name)
			}
		}
	}
}

func TestRequestsRequireKey(t *testing.T) {
	e := newEnv(t)
	for name, headers := range map[string][]string{
		"none":              {"Authorization", ""},
		"wrong":             {"Authorization", "Bearer wrong"},
		"of another scheme": {"Authorization", "Basic full"},
		"only a session":    {"Authorization", "", "Mcp-Session-Id", "0123456789"},
	} {
		for _, method := range []string{"POST", "GET", "DELETE", "OPTIONS"} {
			got := e.send(t, method, ping, headers...)
			want := must.Get(json.Marshal(problem.FromError(apierr.New(apierr.Unauthorized,
				"Connect the assistant. If its access has expired or was revoked, connect it again. Or send a valid "+
					"team API key as a bearer token in the Authorization header."), publicURL)))(t)
			if got.status != http.StatusUnauthorized || got.body != string(want)+"\n" {
				t.Errorf("%s, %s: HTTP %d %s, want %s", name, method, got.status, got.body, want)
			}
			if got.header.Get("Www-Authenticate") != `Bearer resource_metadata="`+publicURL+
				`/.well-known/oauth-protected-resource/mcp"` || got.header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("%s, %s: headers %v", name, method, got.header)
			}
		}
	}
}

func TestErrorsBeforeProtocol(t *testing.T) {
	e := newEnv(t)
	for name, c := range map[string]struct {
		method, body string
		headers      []string
		status       int
		code, has    string
	}{
		"slowed":         {"POST", ping, []string{"Authorization", "Bearer many"}, 429, "rate_limited", "failed_authentication"},
		"service down":   {"POST", ping, []string{"Authorization", "Bearer down"}, 500, "internal_error", "internal_error"},
		"another method": {"GET", "", nil, 405, "method_not_allowed", "POST"},
	} {
		got := e.send(t, c.method, c.body, c.headers...)
		var doc problem.Document
		if err := json.Unmarshal([]byte(got.body), &doc); err != nil {
			t.Fatalf("%s: %v in %s", name, err, got.body)
		}
		if got.status != c.status || string(doc.Code) != c.code || !strings.Contains(got.body, c.has) ||
			strings.Contains(got.body, "hidden") {
			t.Errorf("%s: HTTP %d %s", name, got.status, got.body)
		}
		if after := got.header.Get("Retry-After"); (c.status == 429) != (after == "41") {
			t.Errorf("%s: Retry-After %q", name, after)
		}
	}
	if !strings.Contains(e.log.String(), "the hidden text of the database") {
		t.Error("the log lacks the cause")
	}
}

func TestOrigins(t *testing.T) {
	e := newEnv(t)
	for origin, want := range map[string]int{
		"": 200, publicURL: 200, "https://elsewhere.example": 403, "null": 403, "http://127.0.0.1:9": 403,
	} {
		if got := e.send(t, "POST", ping, "Origin", origin); got.status != want {
			t.Errorf("Origin %q: HTTP %d %s, want %d", origin, got.status, got.body, want)
		}
	}
}

// A proxy on the same machine forwards the public Host to a loopback address.
func TestBehindAProxy(t *testing.T) {
	e := newEnv(t)
	r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, e.url, strings.NewReader(ping)))(t)
	r.Host = "pressroom.example"
	r.Header = http.Header{"Authorization": {"Bearer full"}, "Content-Type": {"application/json"}, "Accept": {"*/*"}}
	if got := receive(t, r); got.status != http.StatusOK {
		t.Errorf("HTTP %d %s", got.status, got.body)
	}
}

// In earlier protocol versions, disconnecting does not cancel a call: it finishes and is logged.
func TestDisconnect(t *testing.T) {
	e := newEnv(t)
	ctx, hangUp := context.WithCancel(t.Context())
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait_note","arguments":{"text":"x"}}}`
	r := must.Get(http.NewRequestWithContext(ctx, http.MethodPost, e.url, strings.NewReader(call)))(t)
	r.Header = http.Header{"Authorization": {"Bearer full"}, "Content-Type": {"application/json"}, "Accept": {"*/*"}}
	gone := make(chan error)
	go func() {
		resp, err := http.DefaultClient.Do(r)
		if err == nil {
			resp.Body.Close()
		}
		gone <- err
	}()
	<-e.started
	hangUp()
	if err := <-gone; err == nil {
		t.Error("the client did not disconnect")
	}
	close(e.release)
	if err := <-e.ended; err != nil {
		t.Errorf("the call's context was canceled: %v", err)
	}
	if diff := cmp.Diff("wait_note", <-e.observed); diff != "" {
		t.Errorf("observed (-want +got):\n%s", diff)
	}
}
