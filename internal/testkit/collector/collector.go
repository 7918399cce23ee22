// Package collector implements an OpenTelemetry collector for tests. It receives traces by OTLP over HTTP.
package collector

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	traces "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Collector stores the spans that it receives.
type Collector struct {
	URL string

	t        *testing.T
	mu       sync.Mutex
	spans    []Span
	received strings.Builder
}

// Span is a received span.
type Span struct {
	Name, Trace, ID, Parent string
	Links                   []string // TRACE/ID
	Attributes              map[string]string
	Failed                  bool
}

// Start runs a collector until the test ends.
func Start(t *testing.T) *Collector {
	t.Helper()
	c := &Collector{t: t}
	server := httptest.NewServer(http.HandlerFunc(c.receive))
	t.Cleanup(server.Close)
	c.URL = server.URL
	return c
}

func (c *Collector) receive(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	var request traces.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(raw, &request)
	}
	if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
		c.t.Errorf("%s %s: %v", r.URL.Path, r.Header.Get("Content-Type"), err)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.received.WriteString(request.String())
	for _, resourceSpans := range request.GetResourceSpans() {
		for _, scopeSpans := range resourceSpans.GetScopeSpans() {
			for _, s := range scopeSpans.GetSpans() {
				c.spans = append(c.spans, read(s))
			}
		}
	}
}

func read(s *spans.Span) Span {
	out := Span{Name: s.GetName(), Trace: hex.EncodeToString(s.GetTraceId()), ID: hex.EncodeToString(s.GetSpanId()),
		Parent:     hex.EncodeToString(s.GetParentSpanId()),
		Attributes: map[string]string{}, Failed: s.GetStatus().GetCode() == spans.Status_STATUS_CODE_ERROR}
	for _, l := range s.GetLinks() {
		out.Links = append(out.Links, hex.EncodeToString(l.GetTraceId())+"/"+hex.EncodeToString(l.GetSpanId()))
	}
	for _, a := range s.GetAttributes() {
		text := a.GetValue().String()
		_, value, _ := strings.Cut(text, ":")
		out.Attributes[a.GetKey()] = strings.Trim(value, `"`)
	}
	return out
}

// Spans returns the received spans with a name.
func (c *Collector) Spans(name string) []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := []Span{}
	for _, s := range c.spans {
		if s.Name == name {
			out = append(out, s)
		}
	}
	return out
}

// Span returns the only received span with a name.
func (c *Collector) Span(name string) Span {
	c.t.Helper()
	found := c.Spans(name)
	if len(found) != 1 {
		c.t.Fatalf("%d spans have the name %s", len(found), name)
	}
	return found[0]
}

// Text returns everything that was received, as text.
func (c *Collector) Text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.received.String()
}
