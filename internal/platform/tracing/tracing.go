// Package tracing sends traces of requests, transactions, jobs and deliveries to an OpenTelemetry collector. Spans
// contain IDs, states and names of operations. They never contain user input, names of people or secrets. If no
// collector is configured, the package does nothing.
package tracing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync/atomic"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	api "go.opentelemetry.io/otel/trace"
)

// Options configure a tracer.
type Options struct {
	Version, Role string
	Log           *slog.Logger // for errors about traces that could not be sent; may be nil
}

// Tracer sends spans to a collector. A nil Tracer sends nothing.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   api.Tracer
}

// openTracers is the number of open tracers. While it is 0, Start and StartLinked do not look for spans in contexts.
var openTracers atomic.Int32

const library = "pressroom"

// Open returns a tracer that OpenTelemetry's environment variables configure, such as OTEL_EXPORTER_OTLP_ENDPOINT and
// OTEL_TRACES_SAMPLER. It returns nil if the variables do not name a collector.
func Open(ctx context.Context, o Options) (*Tracer, error) {
	if !hasCollector() {
		return nil, nil //nolint:nilnil // a nil tracer does nothing
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		if protocol := os.Getenv(name); protocol != "" && protocol != "http/protobuf" {
			return nil, errors.New(name + " must be http/protobuf, the only supported protocol")
		}
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("preparing to send traces: %w", err)
	}
	process, err := resource.New(ctx, resource.WithAttributes(
		attribute.String("service.name", library),
		attribute.String("service.version", o.Version),
		attribute.String("pressroom.role", o.Role),
	), resource.WithFromEnv(), resource.WithTelemetrySDK())
	if err != nil {
		return nil, fmt.Errorf("describing this node: %w", err)
	}
	if o.Log != nil { // The library has one error handler per process.
		otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
			o.Log.Warn("Sending traces failed", "error", err)
		}))
	}
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(process))
	openTracers.Add(1)
	return &Tracer{provider, provider.Tracer(library)}, nil
}

func hasCollector() bool {
	if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") || os.Getenv("OTEL_TRACES_EXPORTER") == "none" {
		return false
	}
	return os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
}

// Close sends the remaining spans.
func (t *Tracer) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	openTracers.Add(-1)
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("sending the remaining traces: %w", err)
	}
	return nil
}

type tracerKey struct{}

// NewContext returns a context for StartLinked, which starts traces only in such a context.
func (t *Tracer) NewContext(ctx context.Context) context.Context {
	if t == nil {
		return ctx
	}
	return context.WithValue(ctx, tracerKey{}, t)
}

// Span is a unit of work in a trace. The zero Span records nothing.
type Span struct{ span api.Span }

// Start starts a child of the context's span. If the context has no span, Start returns the zero Span.
func Start(ctx context.Context, name string) (context.Context, Span) {
	if openTracers.Load() == 0 {
		return ctx, Span{}
	}
	parent := api.SpanFromContext(ctx)
	if !parent.SpanContext().IsValid() {
		return ctx, Span{}
	}
	ctx, span := parent.TracerProvider().Tracer(library).Start(ctx, name) //nolint:spancheck // the caller ends it
	return ctx, Span{span}                                                //nolint:spancheck // as above
}

// StartLinked starts a new trace that is linked to an earlier trace, which may be from another node. link is the result
// of Link in the earlier trace.
func StartLinked(ctx context.Context, name, link string) (context.Context, Span) {
	if openTracers.Load() == 0 {
		return ctx, Span{}
	}
	t, _ := ctx.Value(tracerKey{}).(*Tracer)
	if t == nil {
		return ctx, Span{}
	}
	opts := []api.SpanStartOption{api.WithNewRoot(), api.WithSpanKind(api.SpanKindConsumer)}
	linkCtx := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{parentHeader: link})
	if earlier := api.SpanContextFromContext(linkCtx); earlier.IsValid() {
		opts = append(opts, api.WithLinks(api.Link{SpanContext: earlier}))
	}
	ctx, span := t.tracer.Start(ctx, name, opts...) //nolint:spancheck // the caller ends it
	return ctx, Span{span}                          //nolint:spancheck // as above
}

const parentHeader = "traceparent" // W3C Trace Context

// Link returns the context's span as a W3C traceparent, for StartLinked. It returns "" if the context has no traced
// span.
func Link(ctx context.Context) string {
	if openTracers.Load() == 0 {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier[parentHeader]
}

// Set sets an attribute: an ID, a state or the name of an operation.
func (s Span) Set(key, value string) {
	if s.span != nil {
		s.span.SetAttributes(attribute.String(key, value))
	}
}

// SetID sets a numeric ID.
func (s Span) SetID(key string, id int64) {
	if s.span != nil {
		s.span.SetAttributes(attribute.Int64(key, id))
	}
}

// End ends the span, and marks it as failed if err is not nil. It does not record the error's text, because the text
// may contain user input.
func (s Span) End(err error) {
	if s.span == nil {
		return
	}
	if err != nil {
		s.span.SetStatus(codes.Error, "")
	}
	s.span.End()
}

// Handler returns a handler that starts a span for each request. If the request has a traceparent header, the span
// continues that trace. spanName returns the name of the span. It must not return the request's path, because the path
// may contain secrets.
func (t *Tracer) Handler(next http.Handler, spanName func(*http.Request) string) http.Handler {
	if t == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		ctx, span := t.tracer.Start(ctx, spanName(r), api.WithSpanKind(api.SpanKindServer),
			api.WithAttributes(attribute.String("http.request.method", method(r))))
		response := &recorder{ResponseWriter: w, status: http.StatusOK}
		defer func() {
			span.SetAttributes(attribute.Int("http.response.status_code", response.status))
			if response.status >= http.StatusInternalServerError {
				span.SetStatus(codes.Error, "")
			}
			span.End()
		}()
		next.ServeHTTP(response, r.WithContext(t.NewContext(ctx)))
	})
}

// method returns the request's method. For unknown methods, it returns _OTHER, as required by OpenTelemetry's
// conventions.
func method(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions:
		return r.Method
	}
	return "_OTHER"
}

// recorder records the status of a response.
type recorder struct {
	http.ResponseWriter

	status int
}

// WriteHeader records the status.
func (r *recorder) WriteHeader(status int) {
	if status >= http.StatusOK { // ignore informational responses
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

// Flush sends buffered data. It does nothing if the wrapped writer cannot flush.
func (r *recorder) Flush() { _ = http.NewResponseController(r.ResponseWriter).Flush() }

// Unwrap returns the wrapped writer, for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// Transport returns a transport that adds the traceparent header to outgoing requests. The header does not contain
// personal data.
func Transport(next http.RoundTripper) http.RoundTripper { return transport{next} }

type transport struct{ next http.RoundTripper }

// RoundTrip adds the traceparent header if the request is traced.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if link := Link(r.Context()); link != "" {
		r = r.Clone(r.Context())
		r.Header.Set(parentHeader, link)
	}
	return t.next.RoundTrip(r) //nolint:wrapcheck // a transport returns errors unchanged
}
