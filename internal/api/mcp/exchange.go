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
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pressroom/internal/api/problem"
	"pressroom/internal/apierr"
	"pressroom/internal/auth/apikey"
	"pressroom/internal/core/pipeline"
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
	rpc        string          // the protocol's method
	rpcID      json.RawMessage // its id, as it was sent
	version    string          // of the protocol, that the message names
	own        bool            // the error that it is answered with is in our words
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
	if err := x.admit(); err != nil {
		x.refuse(err)
		return
	}
	body, reply := x.body()
	if reply == nil {
		reply = x.settle(body)
	}
	x.admitted = true
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
		x.hand(x.edge.streams())
	case x.rpc == listTools:
		x.serveList()
	default:
		x.hand(x.edge.tools())
	}
}

// foreign tells whether a page of another origin asks. None has business here: keys do not belong in browsers,
// and the protocol wants the Origin checked against DNS rebinding. Assistants' programs send none.
func (x *exchange) foreign() bool {
	origin := x.r.Header.Get("Origin")
	return origin != "" && origin != x.edge.origin
}

// admit checks the key and the method. The key is asked for on every request; a session's id is nothing here.
func (x *exchange) admit() error {
	x.credential = apikey.Bearer(x.r)
	actor, err := x.edge.pipe.Authenticate(x.r.Context(), x.credential)
	if err != nil {
		return fmt.Errorf("authenticating: %w", err)
	}
	x.team, x.key = actor.TeamID, actor.KeyID
	if x.r.Method != http.MethodPost {
		x.w.Header().Set("Allow", http.MethodPost)
		return apierr.New(apierr.MethodNotAllowed, "The tools take POST alone; there are no streams and no sessions.")
	}
	return nil
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

// body reads what was sent, or gives the answer to what cannot be read.
func (x *exchange) body() ([]byte, func()) {
	body, err := io.ReadAll(http.MaxBytesReader(x.w.ResponseWriter, x.r.Body, maxBody))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, func() { x.reject(http.StatusRequestEntityTooLarge, tooLarge) }
	case err != nil:
		return nil, func() { x.reject(http.StatusBadRequest, cutShort) }
	}
	return body, nil
}

// unauthorized is what whoever calls the tools is told, who may have signed in at some time and have no key.
var unauthorized = apierr.New(apierr.Unauthorized,
	"Sign in: let the assistant connect again, as its access has run out or was ended. Or send a team API key that "+
		"works in the Authorization header, as a Bearer token.")

// atTools puts a refusal in the words of the tools.
func atTools(err error) error {
	told := apierr.Of(err)
	switch {
	case told.Code == apierr.Unauthorized:
		return unauthorized
	case strings.Contains(told.Detail, keyHeader):
		out := *told
		out.Detail = keyInTools(told.Detail)
		return &out
	}
	return err
}

func (x *exchange) refuse(err error) {
	x.cause = err
	problem.Write(x.w, atTools(err), x.edge.opts.PublicURL)
}

// deliver sends an answer whose parts are all there.
func (x *exchange) deliver(status int, parts ...[]byte) {
	length := 0
	for _, part := range parts {
		length += len(part)
	}
	x.w.Header().Set("Content-Length", strconv.Itoa(length))
	x.w.WriteHeader(status)
	for _, part := range parts {
		_, _ = x.w.Write(part) // the client may be gone; there is nobody to tell
	}
}

func (x *exchange) log(took time.Duration) {
	if x.status == 0 {
		x.status = x.w.status
	}
	status := problem.Noted(x.r, x.status)
	x.edge.opts.Observe(x.tool, x.status >= http.StatusBadRequest, took)
	level := problem.Level(x.r, x.status, x.cause)
	ctx := x.r.Context()
	if !x.edge.opts.Log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("request_id", x.id), slog.String("rpc", x.rpc), slog.String("operation", x.tool),
		slog.Int("status", status),
		slog.Float64("took_ms", float64(took.Microseconds())/1000), slog.Int64("team", x.team),
		slog.Int64("key", x.key),
	}
	if x.cause != nil && status != problem.ClientGone {
		attrs = append(attrs, slog.String("refused", string(apierr.Of(x.cause).Code)))
		if level > slog.LevelInfo {
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
		a.Header().
			Set("WWW-Authenticate", `Bearer resource_metadata="`+a.exchange.edge.opts.PublicURL+resourceMetadata+`"`)
	}
	problem.SetRateLimits(a.Header(), a.exchange.rates)
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
