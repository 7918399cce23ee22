// Package rest serves the REST API. It turns HTTP requests into pipeline calls, and their outcomes into responses. It
// gets the operations from a registry.
package rest

import (
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"pressroom.example/pressroom/internal/api/problem"
	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/pipeline"
)

// Prefix is the path prefix of all endpoints.
const Prefix = "/api/v1"

// Options configures the API.
type Options struct {
	PublicURL string                 // base URL for absolute links
	Describe  func() ([]byte, error) // returns the OpenAPI document
	Log       *slog.Logger
	Observe   func(tool string, status int, took time.Duration) // called after each response
}

// Edge serves the API.
type Edge struct {
	router      *router
	pipe        *pipeline.Pipeline
	opts        Options
	description func() (document, error)
}

// New returns an Edge that serves the operations in a registry.
func New(reg *operation.Registry, pipe *pipeline.Pipeline, opts Options) *Edge {
	e := &Edge{router: newRouter(), pipe: pipe, opts: opts, description: sync.OnceValues(func() (document, error) {
		return newDocument(opts.Describe)
	})}
	for _, op := range reg.All() {
		e.router.add(op.Method, op.Path, op)
	}
	e.router.add(http.MethodGet, documentPath, nil)
	return e
}

// Checks returns the names of the checks that run before the pipeline, in order.
func Checks() []string { return []string{"address", "method"} }

// ServeHTTP serves one request.
func (e *Edge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	x := &exchange{edge: e, w: w, r: r, id: uuid.Must(uuid.NewV7()).String(), tool: "none"}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Request-Id", x.id)
	x.serve()
	x.log(time.Since(start))
}

// exchange is one request and its response.
type exchange struct {
	edge   *Edge
	w      http.ResponseWriter
	r      *http.Request
	id     string
	tool   string
	status int
	cause  error
	team   int64
	key    int64
}

func (x *exchange) serve() {
	op, values, methods, ok := x.edge.router.find(x.r)
	switch {
	case !ok:
		x.writeProblem(apierr.New(apierr.EndpointNotFound,
			"No endpoint has this path, or an ID in it has the wrong format. Check the path."))
	case methods != nil:
		x.w.Header().Set("Allow", strings.Join(methods, ", "))
		x.writeProblem(apierr.New(apierr.MethodNotAllowed, "The Allow header lists the methods of this endpoint."))
	case op == nil:
		x.describe()
	default:
		x.tool = op.Tool
		x.call(op, values)
	}
}

func (x *exchange) call(op *operation.Operation, values map[string]string) {
	outcome, err := x.edge.pipe.Call(x.r.Context(), pipeline.Request{
		Operation: op, Credential: apikey.BearerToken(x.r), RequestID: x.id, IdempotencyKey: x.idempotencyKey(),
		Arguments: func() (operation.Arguments, error) { return x.readArguments(op, values) },
	})
	problem.SetRateLimits(x.w.Header(), outcome.Rates)
	if actor := outcome.Call.Actor; actor != nil {
		x.team, x.key = actor.TeamID, actor.KeyID
	}
	if err != nil {
		x.writeProblem(err)
		return
	}
	x.respond(op, outcome)
}

func (x *exchange) respond(op *operation.Operation, outcome pipeline.Outcome) {
	body, err := encode(outcome.Envelope(x.edge.opts.PublicURL))
	if err != nil {
		x.writeProblem(err)
		return
	}
	h := x.w.Header()
	h.Set("Content-Type", "application/json")
	if outcome.Location != "" {
		h.Set("Location", x.edge.opts.PublicURL+Prefix+outcome.Location)
	}
	if outcome.Page != nil {
		h.Set("Link", "<"+x.nextPage(outcome.Page.Cursor)+`>; rel="next"`)
	}
	if outcome.Replayed {
		h.Set("Idempotent-Replayed", "true")
	}
	x.write(op.Success, body)
}

// encode returns the envelope as JSON. If the data is a JSONEncoder, encode writes null for the data and then replaces
// the null with the JSON from the encoder.
func encode(envelope pipeline.Envelope) ([]byte, error) {
	data, isEncoder := envelope.Data.(operation.JSONEncoder)
	if isEncoder {
		envelope.Data = nil
	}
	body, err := operation.JSON(envelope)
	if err != nil || !isEncoder {
		return append(body, '\n'), err
	}
	raw, err := data.JSON()
	if err != nil {
		return nil, err
	}
	const prefix, placeholder = `{"data":`, `{"data":null`
	return slices.Concat([]byte(prefix), raw, body[len(placeholder):], []byte{'\n'}), nil
}

// nextPage returns the URL of the same request, with the cursor for the next page.
func (x *exchange) nextPage(cursor string) string {
	q := x.r.URL.Query()
	for name, values := range q {
		q[name] = values[len(values)-1:]
	}
	q.Set("cursor", cursor)
	return x.edge.opts.PublicURL + x.r.URL.EscapedPath() + "?" + q.Encode()
}

func (x *exchange) writeProblem(err error) {
	x.cause = err
	x.status = problem.Write(x.w, err, x.edge.opts.PublicURL)
}

func (x *exchange) write(status int, body []byte) {
	x.status = status
	x.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	x.w.WriteHeader(status)
	_, _ = x.w.Write(body) // the client may have disconnected
}

func (x *exchange) log(duration time.Duration) {
	status := problem.LogStatus(x.r, x.status)
	x.edge.opts.Observe(x.tool, status, duration)
	level := problem.LogLevel(x.r, x.status, x.cause)
	ctx := x.r.Context()
	if !x.edge.opts.Log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("request_id", x.id), slog.String("method", x.r.Method), slog.String("operation", x.tool),
		slog.Int("status", status),
		slog.Float64("took_ms", float64(duration.Microseconds())/1000), slog.Int64("team", x.team),
		slog.Int64("key", x.key),
	}
	if x.cause != nil && status != problem.StatusClientClosed {
		attrs = append(attrs, slog.String("refused", string(apierr.FromError(x.cause).Code)))
		if level > slog.LevelInfo {
			attrs = append(attrs, slog.Any("error", x.cause))
		}
	}
	x.edge.opts.Log.LogAttrs(ctx, level, "request", attrs...)
}
