package tracing_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pressroom/internal/platform/tracing"
	"pressroom/internal/testkit/collector"
	"pressroom/internal/testkit/must"
)

func open(t *testing.T) (*tracing.Tracer, *collector.Collector) {
	t.Helper()
	taker := collector.Start(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", taker.URL)
	tracer := must.Get(tracing.Open(t.Context(), tracing.Options{Version: "test", Role: "all"}))(t)
	return tracer, taker
}

const (
	parent  = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	traceID = "0af7651916cd43dd8448eb211c80319c"
)

// A request goes on with the way that it names, its parts belong to it, and what follows from it later is another way
// that leads back to it.
func TestTheWayOfARequest(t *testing.T) { //nolint:paralleltest // it sets variables
	tracer, taker := open(t)
	var link string
	handler := tracer.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, span := tracing.Start(r.Context(), "get_me")
		link = tracing.Link(ctx)
		span.SetID("pressroom.team_id", 7)
		span.End(errors.New("what Ada wrote"))
		w.WriteHeader(http.StatusBadGateway)
	}), func(*http.Request) string { return "api" })
	request := httptest.NewRequest(http.MethodGet, "/api/v1/me?token=hidden", nil)
	request.Header.Set("Traceparent", parent)
	handler.ServeHTTP(httptest.NewRecorder(), request)
	_, later := tracing.Follow(tracer.Into(t.Context()), "job", link)
	later.End(nil)
	must.NoError(t, tracer.Close(t.Context()))
	api, call, job := taker.Span("api"), taker.Span("get_me"), taker.Span("job")
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
		if strings.Contains(taker.Everything(), hidden) {
			t.Errorf("%q was told", hidden)
		}
	}
}

// A way that names nothing, or something wrong, begins anew; and what it asks others is told where it comes from.
func TestWhatIsNoWay(t *testing.T) { //nolint:paralleltest // it sets variables
	tracer, taker := open(t)
	var given string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { given = r.Header.Get("Traceparent") }))
	defer other.Close()
	handler := tracer.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ask, err := http.NewRequestWithContext(r.Context(), http.MethodGet, other.URL, nil)
		if err != nil {
			t.Error(err)
			return
		}
		answer, err := tracing.Transport(http.DefaultTransport).RoundTrip(ask)
		if err != nil {
			t.Error(err)
			return
		}
		answer.Body.Close()
		if _, err := io.WriteString(w, "a part"); err != nil {
			t.Error(err)
		}
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
	}), func(*http.Request) string { return "app" })
	request := httptest.NewRequest("BREW", "/", nil)
	request.Header.Set("Traceparent", "00-zz-zz-01")
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	must.NoError(t, tracer.Close(t.Context()))
	app := taker.Span("app")
	if app.Parent != "" || app.Attributes["http.request.method"] != "_OTHER" ||
		app.Attributes["http.response.status_code"] != "200" || app.Failed || !answer.Flushed {
		t.Errorf("%+v", app)
	}
	if given != "00-"+app.Trace+"-"+app.ID+"-01" {
		t.Errorf("given on: %q", given)
	}
}

// Where nobody takes traces nothing is done, and nothing allocated.
func TestNothingWithoutACollector(t *testing.T) { //nolint:paralleltest // it sets variables
	for _, off := range []map[string]string{
		{}, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER": "none"},
	} {
		for _, name := range []string{
			"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_SDK_DISABLED", "OTEL_TRACES_EXPORTER",
		} {
			t.Setenv(name, off[name])
		}
		tracer, err := tracing.Open(t.Context(), tracing.Options{})
		if tracer != nil || err != nil {
			t.Fatalf("%v: %v %v", off, tracer, err)
		}
		next := http.NotFoundHandler()
		if h := tracer.Handler(next, nil); h == nil || tracer.Close(t.Context()) != nil {
			t.Error("a tracer that is none does something")
		}
		ctx := t.Context()
		if n := testing.AllocsPerRun(100, func() { way(tracer.Into(ctx)) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
	}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	t.Setenv("OTEL_SDK_DISABLED", "")
	t.Setenv("OTEL_TRACES_EXPORTER", "")
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
	if _, err := tracing.Open(t.Context(), tracing.Options{}); err == nil || !strings.Contains(err.Error(), "http/protobuf") {
		t.Errorf("by another protocol: %v", err)
	}
}

func way(ctx context.Context) {
	ctx, span := tracing.Follow(ctx, "job", "")
	ctx, part := tracing.Start(ctx, "job.claim")
	part.Set("pressroom.job_id", "x")
	part.SetID("pressroom.team_id", 1)
	_ = tracing.Link(ctx)
	part.End(nil)
	span.End(nil)
}

func BenchmarkWithoutACollector(b *testing.B) {
	b.ReportAllocs()
	ctx := b.Context()
	for b.Loop() {
		way(ctx)
	}
}
