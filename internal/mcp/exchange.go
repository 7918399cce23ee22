package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pressroom/internal/credential"
	"pressroom/internal/fault"
	"pressroom/internal/pipeline"
	"pressroom/internal/problem"
	"pressroom/internal/ratelimit"
)

const (
	maxBody = 1 << 20 // how large the body of a request may be
	none    = "none"

	// resourceMetadata is where the tools are described as what tokens are given out for.
	resourceMetadata = "/.well-known/oauth-protected-resource/mcp"
)

// exchange is one request with its answer. Beside the SDK's own answers it gives two kinds: what the contract
// knows is a problem document, what the tool protocol alone knows is a JSON-RPC error.
type exchange struct {
	edge       *edge
	w          *answer
	r          *http.Request
	id         string
	credential string
	rpc        string // the protocol's method
	tool       string
	status     int // of the tool call: what REST would have answered
	cause      error
	team       int64
	key        int64
	rates      []pipeline.Rate
	admitted   bool // the key is known and the body read
	streams    bool // the answer is a stream of events, as the client wants to hear how far its call is
}

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange {
	return ctx.Value(exchangeKey{}).(*exchange) //nolint:forcetypeassert // ServeHTTP puts it there
}

func (x *exchange) serve() {
	if x.foreign() {
		x.reject(http.StatusForbidden, foreignOrigin)
		return
	}
	body, err := x.admit()
	if err != nil {
		x.refuse(err)
		return
	}
	reply := x.settle(body)
	if !piped[x.rpc] { // the pipeline counts a call
		if err := x.count(); err != nil {
			x.refuse(err)
			return
		}
	}
	if reply != nil {
		reply()
		return
	}
	x.r.Body = io.NopCloser(bytes.NewReader(body))
	x.streams = x.wantsProgress(body)
	switch {
	case x.streams:
		x.edge.streams.ServeHTTP(x.w, x.r)
	case x.rpc == listTools:
		x.serveList()
	default:
		x.edge.tools.ServeHTTP(x.w, x.r)
	}
}

// foreign tells whether a page of another origin asks. None has business here: keys do not belong in browsers,
// and the protocol wants the Origin checked against DNS rebinding. Assistants' programs send none.
func (x *exchange) foreign() bool {
	origin := x.r.Header.Get("Origin")
	return origin != "" && origin != x.edge.origin
}

// admit checks the key and the method and reads the body. The key is asked for on every request; a session's id
// is nothing here.
func (x *exchange) admit() ([]byte, error) {
	x.credential = credential.Bearer(x.r)
	actor, err := x.edge.pipe.Keys.Authenticate(x.r.Context(), x.credential)
	if err != nil {
		return nil, fmt.Errorf("authenticating: %w", err)
	}
	x.team, x.key = actor.TeamID, actor.KeyID
	if x.r.Method != http.MethodPost {
		x.w.Header().Set("Allow", http.MethodPost)
		return nil, fault.New(fault.MethodNotAllowed, "The tools take POST alone; there are no streams and no sessions.")
	}
	body, unfit := x.body()
	if unfit != nil {
		if err := x.count(); err != nil {
			return nil, err
		}
		return nil, unfit
	}
	x.admitted = true
	return body, nil
}

// count holds a request that calls no tool against the key's limits and what stands in its way.
func (x *exchange) count() error {
	outcome, err := x.edge.pipe.Admit(x.r.Context(), x.credential)
	x.rates, x.cause = outcome.Rates, err
	return err
}

// refusalBefore is the answer to a call of a tool that is not there, where something stands in the key's way; else nil.
func (x *exchange) refusalBefore() *sdk.CallToolResult {
	if err := x.count(); err != nil {
		return x.refusal(err)
	}
	return nil
}

// countRefused counts a call that the SDK refused before any operation was looked for.
func (x *exchange) countRefused() {
	if x.admitted && x.tool == none && x.rates == nil {
		outcome, _ := x.edge.pipe.Admit(x.r.Context(), x.credential) // it is refused already
		x.rates = outcome.Rates
	}
}

func (x *exchange) body() ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(x.w.ResponseWriter, x.r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, fault.Invalid(fault.TooLarge, "", "The body is larger than 1 MiB.")
	case err != nil:
		return nil, fault.Invalid(fault.BodyNotAnObject, "", "The body did not arrive whole.").Wrap(err)
	}
	return body, nil
}

func (x *exchange) refuse(err error) {
	x.cause = err
	problem.Write(x.w, err, x.edge.opts.PublicURL)
}

func (x *exchange) write(status int, kind string, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		x.cause, status, body = err, http.StatusInternalServerError, []byte("{}")
	}
	h := x.w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	x.w.WriteHeader(status)
	_, _ = x.w.Write(body) // the client may be gone; there is nobody to tell
}

func (x *exchange) log(took time.Duration) {
	if x.status == 0 {
		x.status = x.w.status
	}
	x.edge.opts.Observe(x.tool, x.status >= http.StatusBadRequest, took)
	level := slog.LevelInfo
	if x.status >= http.StatusInternalServerError {
		level = slog.LevelError
	}
	ctx := x.r.Context()
	if !x.edge.opts.Log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("request_id", x.id), slog.String("rpc", x.rpc), slog.String("operation", x.tool), slog.Int("status", x.status),
		slog.Float64("took_ms", float64(took.Microseconds())/1000), slog.Int64("team", x.team), slog.Int64("key", x.key),
	}
	if x.cause != nil {
		attrs = append(attrs, slog.String("refused", string(fault.Of(x.cause).Code)))
		if level == slog.LevelError {
			attrs = append(attrs, slog.Any("error", x.cause))
		}
	}
	x.edge.opts.Log.LogAttrs(ctx, level, "tool request", attrs...)
}

// answer keeps the status, adds how the limits stand, and keeps no-store over what the SDK says of caching.
type answer struct {
	http.ResponseWriter
	exchange *exchange
	status   int
}

func (a *answer) WriteHeader(status int) {
	a.status = status
	a.Header().Set("Cache-Control", "no-store")
	a.exchange.countRefused()
	if status == http.StatusUnauthorized { // where assistants learn how people let them in (RFC 9728, section 5.1)
		a.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+a.exchange.edge.opts.PublicURL+resourceMetadata+`"`)
	}
	ratelimit.Tell(a.Header(), a.exchange.rates)
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(body []byte) (int, error) {
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	return a.ResponseWriter.Write(body) //nolint:wrapcheck // it stands in the place of the other
}

// Unwrap lets a stream be sent as it grows.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
