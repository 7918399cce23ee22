// Package mcp serves every operation as a tool of the Model Context Protocol over streamable HTTP. It turns tool calls
// into pipeline calls, and their outcomes into tool results. It gets the operations from a registry.
package mcp

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/pipeline"
)

// Options configures the endpoint.
type Options struct {
	PublicURL string // base URL for absolute links
	Log       *slog.Logger
	Version   string // version of the program; shown to clients
	// Observe is called after each response. If the request did not call a tool, tool is "none".
	Observe func(tool string, failed bool, took time.Duration)
}

type edge struct {
	handlers func() (http.Handler, http.Handler) // the handler with JSON responses, and the handler with event streams
	lists    *listCache
	reg      *operation.Registry
	pipe     *pipeline.Pipeline
	opts     Options
	origin   string // origin of the public URL
}

// New returns a handler that serves the operations in a registry. It serves a single path and can be mounted anywhere.
func New(reg *operation.Registry, pipe *pipeline.Pipeline, opts Options) http.Handler {
	e := &edge{lists: newListCache(), reg: reg, pipe: pipe, opts: opts, origin: parseOrigin(opts.PublicURL)}
	// Describing all tools is slow and needed only for assistants, so the first request does it.
	e.handlers = sync.OnceValues(func() (http.Handler, http.Handler) {
		server := newServer(reg, opts)
		return newHandler(server, true), newHandler(server, false)
	})
	return e
}

func (e *edge) toolHandler() http.Handler {
	tools, _ := e.handlers()
	return tools
}

func (e *edge) streamHandler() http.Handler {
	_, streams := e.handlers()
	return streams
}

// newHandler returns the SDK's handler. It responds with plain JSON if asJSON is true, and with event streams
// otherwise.
func newHandler(server *sdk.Server, asJSON bool) http.Handler {
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{
		// Any node behind a load balancer can serve any request.
		Stateless: true, JSONResponse: asJSON,
		// The protection would reject requests from a local proxy that keeps the public Host. DNS rebinding is
		// impossible anyway, because other origins are rejected and every request needs a key.
		DisableLocalhostProtection: true,
		// Since protocol version 2026-07-28, a call is canceled if its client disconnects. In earlier
		// versions, a write continues.
		PropagateRequestCancellation: true,
	})
}

func newServer(reg *operation.Registry, opts Options) *sdk.Server {
	c := newCatalog(reg)
	server := newUncheckedServer(reg, c, opts)
	server.AddReceivingMiddleware(rejectUnknown(reg, c))
	return server
}

// newUncheckedServer returns the server without the checks of rejectUnknown.
func newUncheckedServer(reg *operation.Registry, c catalog, opts Options) *sdk.Server {
	server := sdk.NewServer(&sdk.Implementation{
		Name: "pressroom", Title: "pressroom", Version: opts.Version, WebsiteURL: opts.PublicURL, Icons: icons(),
	}, &sdk.ServerOptions{
		Instructions: instructions,
		// listChanged is not set. The lists of tools and prompts do not change while the program runs, and the server
		// does not send notifications about resources.
		Capabilities: &sdk.ServerCapabilities{
			Tools: &sdk.ToolCapabilities{}, Prompts: &sdk.PromptCapabilities{}, Resources: &sdk.ResourceCapabilities{},
		},
		PageSize:     max(1, len(reg.All())),
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.CacheScope = "private" },
		CompletionHandler: func(ctx context.Context, req *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
			return exchangeFrom(ctx).complete(ctx, c, req.Params)
		},
	})
	for _, op := range reg.All() {
		server.AddTool(newTool(op), func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return exchangeFrom(ctx).call(ctx, op, req.Params.Arguments, progressReporter(ctx, req)), nil
		})
	}
	c.addResourceTemplates(server)
	addPrompts(server)
	return server
}

// progressReporter returns a function that sends progress to the client. It returns nil if the client did not ask for
// progress or does not receive an event stream.
func progressReporter(ctx context.Context, req *sdk.CallToolRequest) func(operation.Progress) {
	token := req.Params.GetProgressToken()
	if token == nil || !exchangeFrom(ctx).isStream {
		return nil
	}
	return func(p operation.Progress) {
		_ = req.Session.NotifyProgress(ctx, // the client may have disconnected
			&sdk.ProgressNotificationParams{ProgressToken: token, Progress: p.Done, Total: p.Total, Message: p.Message})
	}
}

// rejectUnknown returns middleware that rejects unknown tools, prompts and resources, because the SDK would repeat the
// requested name in its error. The middleware also limits the list of tools to the ones that the key can call, and adds
// the team's resources to the list of resources.
func rejectUnknown(reg *operation.Registry, c catalog) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			x := exchangeFrom(ctx)
			switch r := req.(type) {
			case *sdk.CallToolRequest:
				if op := reg.Tool(r.Params.Name); op == nil || !x.selection.includes(op) {
					return x.unknownTool()
				}
			case *sdk.ListToolsRequest:
				return x.listTools(ctx, reg, method, req, next)
			case *sdk.GetPromptRequest:
				if findPrompt(r.Params.Name) == nil {
					return nil, x.newError(jsonrpc.CodeInvalidParams, "Unknown prompt. Call prompts/list for the names.")
				}
			case *sdk.ReadResourceRequest:
				if r.Params.URI == "" {
					return nil, x.notFound("uri is missing. Send the URI of a resource.")
				}
				if op, _ := c.find(r.Params.URI); op == nil {
					return nil, x.notFound(unknownResource)
				}
			case *sdk.ListResourcesRequest:
				return x.withTeamResources(ctx, c, func() (sdk.Result, error) { return next(ctx, method, req) })
			}
			return next(ctx, method, req)
		}
	}
}

// withTeamResources adds the team's newest items to the list of resources.
func (x *exchange) withTeamResources(
	ctx context.Context, c catalog, list func() (sdk.Result, error),
) (sdk.Result, error) {
	resources, err := x.newestResources(ctx, c)
	if err != nil {
		return nil, err
	}
	result, err := list()
	if r, ok := result.(*sdk.ListResourcesResult); ok && err == nil {
		r.Resources = resources
	}
	return result, err
}

func (x *exchange) unknownTool() (sdk.Result, error) {
	if err := x.admit(); err != nil {
		return x.errorResult(err), nil
	}
	return nil, x.newError(jsonrpc.CodeInvalidParams, "Unknown tool. Call tools/list for the names.")
}

// ServeHTTP serves one request.
func (e *edge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	x := &exchange{edge: e, id: uuid.Must(uuid.NewV7()).String(), tool: noneLabel, method: noneLabel}
	x.w = &response{ResponseWriter: w, exchange: x}
	x.r = r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x))
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Request-Id", x.id)
	x.serve()
	x.log(time.Since(start))
}

func parseOrigin(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}
