// Package tracing tells an OpenTelemetry collector how a request goes through the program: the call, its transactions, and the jobs
// and deliveries that come of it, on whichever node. It tells ids, states and names of operations, never what people wrote or
// are called, and no secret. Where no collector is set it does nothing, and costs nothing.
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

// Options say what is told of this node.
type Options struct {
	Version, Role string
	Log           *slog.Logger // hears of traces that could not be sent; nobody does where nil
}

// Tracer sends spans to a collector. A nil one sends nothing.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   api.Tracer
}

// open counts the tracers that are open: where there is none, nothing is looked for in any context.
var open atomic.Int32

const library = "pressroom"

// Open makes a tracer as OpenTelemetry's variables say (OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER and so on); nil where
// they name no collector.
func Open(ctx context.Context, o Options) (*Tracer, error) {
	if !wanted() {
		return nil, nil //nolint:nilnil // a nil tracer is one that does nothing
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		if protocol := os.Getenv(name); protocol != "" && protocol != "http/protobuf" {
			return nil, errors.New(name + " has to be http/protobuf, which is what traces are sent by")
		}
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("preparing to send traces: %w", err)
	}
	about, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", library), attribute.String("service.version", o.Version), attribute.String("pressroom.role", o.Role)),
		resource.WithFromEnv(), resource.WithTelemetrySDK())
	if err != nil {
		return nil, fmt.Errorf("saying who sends traces: %w", err)
	}
	if o.Log != nil { // the library has one place for all of a process
		otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { o.Log.Warn("traces were not sent", "error", err) }))
	}
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(about))
	open.Add(1)
	return &Tracer{provider, provider.Tracer(library)}, nil
}

func wanted() bool {
	if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") || os.Getenv("OTEL_TRACES_EXPORTER") == "none" {
		return false
	}
	return os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
}

// Close sends what is left.
func (t *Tracer) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	open.Add(-1)
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("sending the last traces: %w", err)
	}
	return nil
}

type tracerKey struct{}

// Into lets work that is begun in the context be traced by Follow.
func (t *Tracer) Into(ctx context.Context) context.Context {
	if t == nil {
		return ctx
	}
	return context.WithValue(ctx, tracerKey{}, t)
}

// Span is a part of the way. The zero Span is none.
type Span struct{ span api.Span }

// Start begins a part of what is under way in the context, and nothing where nothing is traced there.
func Start(ctx context.Context, name string) (context.Context, Span) {
	if open.Load() == 0 {
		return ctx, Span{}
	}
	parent := api.SpanFromContext(ctx)
	if !parent.SpanContext().IsValid() {
		return ctx, Span{}
	}
	ctx, span := parent.TracerProvider().Tracer(library).Start(ctx, name) //nolint:spancheck // whoever is given it ends it
	return ctx, Span{span}                                                //nolint:spancheck // as above
}

// Follow begins a way of its own that follows from another one, which may have ended long ago on another node: link is what
// Link gave there.
func Follow(ctx context.Context, name, link string) (context.Context, Span) {
	if open.Load() == 0 {
		return ctx, Span{}
	}
	t, _ := ctx.Value(tracerKey{}).(*Tracer)
	if t == nil {
		return ctx, Span{}
	}
	opts := []api.SpanStartOption{api.WithNewRoot(), api.WithSpanKind(api.SpanKindConsumer)}
	from := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{parentHeader: link})
	if of := api.SpanContextFromContext(from); of.IsValid() {
		opts = append(opts, api.WithLinks(api.Link{SpanContext: of}))
	}
	ctx, span := t.tracer.Start(ctx, name, opts...) //nolint:spancheck // whoever is given it ends it
	return ctx, Span{span}                          //nolint:spancheck // as above
}

const parentHeader = "traceparent" // of W3C's Trace Context

// Link is what is under way in a context, to be kept with what follows from it; empty where nothing is traced.
func Link(ctx context.Context) string {
	if open.Load() == 0 {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier[parentHeader]
}

// Set tells something of a part: an id, a state, a name of ours.
func (s Span) Set(key, value string) {
	if s.span != nil {
		s.span.SetAttributes(attribute.String(key, value))
	}
}

// SetID tells a number of ours.
func (s Span) SetID(key string, id int64) {
	if s.span != nil {
		s.span.SetAttributes(attribute.Int64(key, id))
	}
}

// End ends a part, which failed where there is an error. What the error says is for the log alone: it may quote anybody.
func (s Span) End(err error) {
	if s.span == nil {
		return
	}
	if err != nil {
		s.span.SetStatus(codes.Error, "")
	}
	s.span.End()
}

// Handler has each request begin a way, or go on with the one that its traceparent names. kind says what is asked, in a word of
// ours: addresses hold secrets.
func (t *Tracer) Handler(next http.Handler, kind func(*http.Request) string) http.Handler {
	if t == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		ctx, span := t.tracer.Start(ctx, kind(r), api.WithSpanKind(api.SpanKindServer), api.WithAttributes(attribute.String("http.request.method", method(r))))
		answer := &recorder{ResponseWriter: w, status: http.StatusOK}
		defer func() {
			span.SetAttributes(attribute.Int("http.response.status_code", answer.status))
			if answer.status >= http.StatusInternalServerError {
				span.SetStatus(codes.Error, "")
			}
			span.End()
		}()
		next.ServeHTTP(answer, r.WithContext(t.Into(ctx)))
	})
}

// method is the request's, or a word of ours for one that nobody knows.
func method(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return r.Method
	}
	return "_OTHER"
}

// recorder notes the status of an answer.
type recorder struct {
	http.ResponseWriter

	status int
}

// WriteHeader notes the status.
func (r *recorder) WriteHeader(status int) {
	if status >= http.StatusOK { // not of what is said meanwhile
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

// Flush sends what was written so far.
func (r *recorder) Flush() { _ = http.NewResponseController(r.ResponseWriter).Flush() } // a writer that cannot has nothing to send early

// Unwrap gives what is wrapped to those who look for more of it.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// Transport gives the way on to those whom requests go to, by traceparent: two random numbers, which tell nothing of anybody.
func Transport(next http.RoundTripper) http.RoundTripper { return transport{next} }

type transport struct{ next http.RoundTripper }

// RoundTrip adds the header where something is traced.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if link := Link(r.Context()); link != "" {
		r = r.Clone(r.Context())
		r.Header.Set(parentHeader, link)
	}
	return t.next.RoundTrip(r) //nolint:wrapcheck // it is passed on as it is
}
