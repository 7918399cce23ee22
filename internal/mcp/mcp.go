// Package mcp is the assistants' edge: every operation as a tool of the Model Context Protocol over streamable
// HTTP. It turns tool calls into calls of the pipeline and outcomes into tool results, and knows operations only
// through the registry.
package mcp

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pressroom/internal/operation"
	"pressroom/internal/pipeline"
)

// Options of the edge.
type Options struct {
	PublicURL string // every absolute link begins with it
	Log       *slog.Logger
	Version   string                                             // of the program, told to clients
	Observe   func(tool string, failed bool, took time.Duration) // called after each answer; the tool is none where none was called
}

type edge struct {
	tools  http.Handler
	pipe   *pipeline.Pipeline
	opts   Options
	origin string // of the public address
}

// New makes the edge over a registry. It serves one address, wherever it is mounted.
func New(reg *operation.Registry, pipe *pipeline.Pipeline, opts Options) http.Handler {
	e := &edge{pipe: pipe, opts: opts, origin: originOf(opts.PublicURL)}
	server := newServer(reg, opts)
	e.tools = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{
		// Stateless and plain JSON: any node behind a balancer answers any request, and nothing outlives a request.
		Stateless: true, JSONResponse: true,
		// The guard would refuse a proxy on the same machine that passes the public Host on. What it guards
		// against cannot happen: a foreign Origin is refused, and nothing works without the key.
		DisableLocalhostProtection: true,
		// From 2026-07-28 on a client cancels by hanging up. Before, hanging up is no cancelling, and the call ends its work.
		PropagateRequestCancellation: true,
	})
	return e
}

func newServer(reg *operation.Registry, opts Options) *sdk.Server {
	server := sdk.NewServer(&sdk.Implementation{Name: "pressroom", Title: "pressroom", Version: opts.Version, WebsiteURL: opts.PublicURL}, &sdk.ServerOptions{
		Instructions: instructions,
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}, // the list of tools never changes while the program runs
		PageSize:     max(1, len(reg.All())),
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.CacheScope = "private" },
	})
	for _, op := range reg.All() {
		server.AddTool(describe(op), func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return exchangeOf(ctx).call(ctx, op, req.Params.Arguments), nil
		})
	}
	server.AddReceivingMiddleware(refuseUnknown(reg))
	return server
}

// refuseUnknown answers for a tool that is not there. The SDK would repeat the name that was sent.
func refuseUnknown(reg *operation.Registry) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			if call, ok := req.(*sdk.CallToolRequest); ok && reg.Tool(call.Params.Name) == nil {
				if refusal := exchangeOf(ctx).refusalBefore(); refusal != nil {
					return refusal, nil
				}
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "There is no such tool. tools/list names the tools."}
			}
			return next(ctx, method, req)
		}
	}
}

// ServeHTTP answers one request.
func (e *edge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	x := &exchange{edge: e, id: uuid.Must(uuid.NewV7()).String(), tool: none, rpc: none}
	x.w = &answer{ResponseWriter: w, exchange: x}
	x.r = r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x))
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Request-Id", x.id)
	h.Set("X-Content-Type-Options", "nosniff")
	x.serve()
	x.log(time.Since(began))
}

func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}
