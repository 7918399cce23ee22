package tracing_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/platform/tracing"
	"pressroom.example/pressroom/internal/testkit/collector"
)

func open(t *testing.T) (*tracing.Tracer, *collector.Collector) {
	t.Helper()
	received := collector.Start(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", received.URL)
	tracer, err := tracing.Open(t.Context(), tracing.Options{Version: "test", Role: "all"})
	if err != nil {
		t.Fatal(err)
	}
	return tracer, received
}

const (
	parent  = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	traceID = "0af7651916cd43dd8448eb211c80319c"
)

// TestRequest checks that a request continues the trace of its traceparent, and that its spans belong to this trace. A
// later job is a new trace with a link.
func TestRequest(t *testing.T) { //nolint:paralleltest // sets environment variables
	tracer, received := open(t)
	var link string
	handler := tracer.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, span := tracing.Start(r.Context(), "get_me")
		link = tracing.Link(ctx)
		span.SetID("pressroom.team_id", 7)
		span.End(errors.New("user input of Ada"))
		w.WriteHeader(http.StatusBadGateway)
	}), func(*http.Request) string { return "api" })
	request := httptest.NewRequest(http.MethodGet, "/api/v1/me?token=hidden", nil)
	request.Header.Set("Traceparent", parent)
	handler.ServeHTTP(httptest.NewRecorder(), request)
	_, linked := tracing.StartLinked(tracer.NewContext(t.Context()), "job", link)
	linked.End(nil)
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	api, call, job := received.Span("api"), received.Span("get_me"), received.Span("job")
	if api.Trace != traceID || api.Parent != "b7ad6b7169203331" || api.Attributes["http.response.status_code"] != "502" || !api.Failed {
		t.Errorf("%+v", api)
	}
	if call.Trace != traceID || call.Parent != api.ID || call.Attributes["pressroom.team_id"] != "7" || !call.Failed {
		t.Errorf("%+v", call)
	}
	if job.Trace == traceID || job.Parent != "" || len(job.Links) != 1 || job.Links[0] != traceID+"/"+call.ID {
		t.Errorf("%+v", job)
	}
	for _, hidden := range []string{"Ada", "hidden", "/api/v1/me"} {
		if strings.Contains(received.Text(), hidden) {
			t.Errorf("%q was sent", hidden)
		}
	}
}

// TestInvalidParent checks that an invalid traceparent starts a new trace, and that outgoing requests propagate the new
// trace.
func TestInvalidParent(t *testing.T) { //nolint:paralleltest // sets environment variables
	tracer, received := open(t)
	var propagated string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { propagated = r.Header.Get("Traceparent") }))
	defer other.Close()
	handler := tracer.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		outgoing, err := http.NewRequestWithContext(r.Context(), http.MethodGet, other.URL, nil)
		if err != nil {
			t.Error(err)
			return
		}
		response, err := tracing.Transport(http.DefaultTransport).RoundTrip(outgoing)
		if err != nil {
			t.Error(err)
			return
		}
		response.Body.Close()
		if _, err := io.WriteString(w, "a part"); err != nil {
			t.Error(err)
		}
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
	}), func(*http.Request) string { return "app" })
	request := httptest.NewRequest("BREW", "/", nil)
	request.Header.Set("Traceparent", "00-zz-zz-01")
	response := httptest.NewRecorder()
	handler.ServeHTTP(response, request)
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	app := received.Span("app")
	if app.Parent != "" || app.Attributes["http.request.method"] != "_OTHER" ||
		app.Attributes["http.response.status_code"] != "200" || app.Failed || !response.Flushed {
		t.Errorf("%+v", app)
	}
	if propagated != "00-"+app.Trace+"-"+app.ID+"-01" {
		t.Errorf("propagated: %q", propagated)
	}
}

// TestDisabledTracing checks that nothing is done or allocated without a collector.
func TestDisabledTracing(t *testing.T) { //nolint:paralleltest // sets environment variables
	for _, env := range []map[string]string{
		{}, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER": "none"},
	} {
		for _, name := range []string{
			"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_SDK_DISABLED", "OTEL_TRACES_EXPORTER",
		} {
			t.Setenv(name, env[name])
		}
		tracer, err := tracing.Open(t.Context(), tracing.Options{})
		if tracer != nil || err != nil {
			t.Fatalf("%v: %v %v", env, tracer, err)
		}
		next := http.NotFoundHandler()
		if h := tracer.Handler(next, nil); h == nil || tracer.Close(t.Context()) != nil {
			t.Error("a nil tracer does not work")
		}
		ctx := t.Context()
		if n := testing.AllocsPerRun(100, func() { trace(tracer.NewContext(ctx)) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
	}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	t.Setenv("OTEL_SDK_DISABLED", "")
	t.Setenv("OTEL_TRACES_EXPORTER", "")
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
	if _, err := tracing.Open(t.Context(), tracing.Options{}); err == nil || !strings.Contains(err.Error(), "http/protobuf") {
		t.Errorf("unsupported protocol: %v", err)
	}
}

func trace(ctx context.Context) {
	ctx, span := tracing.StartLinked(ctx, "job", "")
	ctx, part := tracing.Start(ctx, "job.claim")
	part.Set("pressroom.job_id", "x")
	part.SetID("pressroom.team_id", 1)
	_ = tracing.Link(ctx)
	part.End(nil)
	span.End(nil)
}

func BenchmarkDisabledTracing(b *testing.B) {
	b.ReportAllocs()
	ctx := b.Context()
	for b.Loop() {
		trace(ctx)
	}
}
