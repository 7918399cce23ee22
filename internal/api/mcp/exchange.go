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

	"pressroom.example/pressroom/internal/api/problem"
	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/pipeline"
)

const (
	maxBody   = 1 << 20 // maximum size of a request body in bytes
	noneLabel = "none"  // in logs and metrics, stands for a missing tool or method

	// resourceMetadata is the path of the protected resource metadata (RFC 9728).
	resourceMetadata = "/.well-known/oauth-protected-resource/mcp"
)

// exchange is one request and its response. Errors that the API defines are sent as problem documents. MCP protocol
// errors are sent as JSON-RPC errors.
type exchange struct {
	edge         *edge
	w            *response
	r            *http.Request
	id           string
	credential   string
	method       string          // JSON-RPC method
	callID       json.RawMessage // ID of the JSON-RPC call, exactly as sent
	version      string          // protocol version in the message
	isOwnError   bool            // the error comes from this package, not from the SDK
	tool         string
	status       int // HTTP status that the REST API would return for the tool call
	cause        error
	team         int64
	key          int64
	rates        []pipeline.Rate
	isAdmitted   bool // the key is valid and the body was read
	isStream     bool // the response is an event stream with progress
	capabilities []access.Capability
	selection    selection
}

type exchangeKey struct{}

func exchangeFrom(ctx context.Context) *exchange {
	return ctx.Value(exchangeKey{}).(*exchange) //nolint:forcetypeassert // ServeHTTP puts it there
}

func (x *exchange) serve() {
	if x.isCrossOrigin() {
		x.writeRPCError(http.StatusForbidden, nullID, crossOriginError)
		return
	}
	if err := x.authenticate(); err != nil {
		x.writeProblem(err)
		return
	}
	body, respond := x.readBody()
	if respond == nil {
		respond = x.checkMessage(body)
	}
	x.isAdmitted = true
	if !operationMethods[x.method] {
		if err := x.admit(); err != nil {
			x.writeProblem(err)
			return
		}
	}
	if respond != nil {
		respond()
		return
	}
	x.r.Body = io.NopCloser(bytes.NewReader(body))
	x.isStream = x.wantsProgress(body)
	switch {
	case x.isStream:
		x.forward(x.edge.streamHandler())
	case x.method == methodListTools:
		x.serveList()
	default:
		x.forward(x.edge.toolHandler())
	}
}

// isCrossOrigin reports whether a page from another origin sent the request. API keys do not belong in browsers, and
// the protocol requires this check to prevent DNS rebinding. Assistants do not send an Origin header.
func (x *exchange) isCrossOrigin() bool {
	origin := x.r.Header.Get("Origin")
	return origin != "" && origin != x.edge.origin
}

// authenticate checks the key, the HTTP method and the selection of tools. serve calls it for every request that is not
// cross-origin.
func (x *exchange) authenticate() error {
	x.credential = apikey.BearerToken(x.r)
	actor, err := x.edge.pipe.Authenticate(x.r.Context(), x.credential)
	if err != nil {
		return fmt.Errorf("authenticating: %w", err)
	}
	x.team, x.key, x.capabilities = actor.TeamID, actor.KeyID, actor.BaseCapabilities()
	if x.r.Method != http.MethodPost {
		x.w.Header().Set("Allow", http.MethodPost)
		return apierr.New(apierr.MethodNotAllowed, "Use POST. There are no sessions and no separate event streams.")
	}
	x.selection, err = parseSelection(x.r.URL.Query())
	return err
}

// admit checks and counts a request that does not call an operation.
func (x *exchange) admit() error {
	outcome, err := x.edge.pipe.Admit(x.r.Context(), x.credential)
	x.rates, x.cause = outcome.Rates, err
	return err
}

// countRejectedCall counts a call that the SDK rejected before it reached an operation.
func (x *exchange) countRejectedCall() {
	if x.isAdmitted && x.tool == noneLabel && x.rates == nil {
		outcome, _ := x.edge.pipe.Admit(x.r.Context(), x.credential) // ignored: the call is already rejected
		x.rates = outcome.Rates
	}
}

// readBody returns the request body. If the body cannot be read, it returns a function that sends the error response.
func (x *exchange) readBody() ([]byte, func()) {
	body, err := io.ReadAll(http.MaxBytesReader(x.w.ResponseWriter, x.r.Body, maxBody))
	var tooLargeErr *http.MaxBytesError
	switch {
	case errors.As(err, &tooLargeErr):
		return nil, func() { x.writeRPCError(http.StatusRequestEntityTooLarge, nullID, bodyTooLargeError) }
	case err != nil:
		return nil, func() { x.writeRPCError(http.StatusBadRequest, nullID, truncatedBodyError) }
	}
	return body, nil
}

// errUnauthorized replaces the REST API's error, because the user of an assistant may have to connect the assistant
// again.
var errUnauthorized = apierr.New(apierr.Unauthorized,
	"Connect the assistant. If its access has expired or was revoked, connect it again. Or send a valid team API key "+
		"as a bearer token in the Authorization header.")

// toolError returns err with a text that fits tools instead of REST.
func toolError(err error) error {
	e := apierr.FromError(err)
	switch {
	case e.Code == apierr.Unauthorized:
		return errUnauthorized
	case strings.Contains(e.Detail, keyHeader):
		out := *e
		out.Detail = useKeyArgument(e.Detail)
		return &out
	}
	return err
}

func (x *exchange) writeProblem(err error) {
	x.cause = err
	problem.Write(x.w, toolError(err), x.edge.opts.PublicURL)
}

// write sends a complete response.
func (x *exchange) write(status int, parts ...[]byte) {
	length := 0
	for _, part := range parts {
		length += len(part)
	}
	x.w.Header().Set("Content-Length", strconv.Itoa(length))
	x.w.WriteHeader(status)
	for _, part := range parts {
		_, _ = x.w.Write(part) // the client may have disconnected
	}
}

func (x *exchange) log(duration time.Duration) {
	if x.status == 0 {
		x.status = x.w.status
	}
	status := problem.LogStatus(x.r, x.status)
	x.edge.opts.Observe(x.tool, x.status >= http.StatusBadRequest, duration)
	level := problem.LogLevel(x.r, x.status, x.cause)
	ctx := x.r.Context()
	if !x.edge.opts.Log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("request_id", x.id), slog.String("rpc", x.method), slog.String("operation", x.tool),
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
	x.edge.opts.Log.LogAttrs(ctx, level, "tool request", attrs...)
}

// response records the status, adds the rate limits and overrides the SDK's caching.
type response struct {
	http.ResponseWriter
	exchange *exchange
	status   int
}

func (w *response) WriteHeader(status int) {
	w.status = status
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	w.exchange.countRejectedCall()
	if status == http.StatusUnauthorized { // RFC 9728, section 5.1
		h.Set("WWW-Authenticate", `Bearer resource_metadata="`+w.exchange.edge.opts.PublicURL+resourceMetadata+`"`)
	}
	problem.SetRateLimits(h, w.exchange.rates)
	w.ResponseWriter.WriteHeader(status)
}

func (w *response) Write(body []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(body) //nolint:wrapcheck // a wrapper returns errors unchanged
}

// Unwrap returns the wrapped writer, so that http.ResponseController can flush an event stream.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }
