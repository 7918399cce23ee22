// Package mcp is the assistants' edge: every operation as a tool of the Model Context Protocol over streamable
// HTTP. It turns tool calls into calls of the pipeline and outcomes into tool results, and knows operations only
// through the registry.
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

	"pressroom/internal/core/operation"
	"pressroom/internal/core/pipeline"
)

// Options of the edge.
type Options struct {
	PublicURL string // every absolute link begins with it
	Log       *slog.Logger
	Version   string // of the program, told to clients
	// called after each answer; the tool is none where none was called
	Observe func(tool string, failed bool, took time.Duration)
}

type edge struct {
	protocols func() (http.Handler, http.Handler) // the tools, and the same with answers as streams of events
	shelf     *shelf
	reg       *operation.Registry
	pipe      *pipeline.Pipeline
	opts      Options
	origin    string // of the public address
}

// New makes the edge over a registry. It serves one address, wherever it is mounted.
func New(reg *operation.Registry, pipe *pipeline.Pipeline, opts Options) http.Handler {
	e := &edge{shelf: newShelf(), reg: reg, pipe: pipe, opts: opts, origin: originOf(opts.PublicURL)}
	// The descriptions of all tools take longer to write than all else at the start, and nobody but an assistant asks
	// for them.
	e.protocols = sync.OnceValues(func() (http.Handler, http.Handler) {
		server := newServer(reg, opts)
		return protocol(server, true), protocol(server, false)
	})
	return e
}

func (e *edge) tools() http.Handler {
	tools, _ := e.protocols()
	return tools
}

func (e *edge) streams() http.Handler {
	_, streams := e.protocols()
	return streams
}

// protocol serves the protocol, with answers as plain JSON or as streams of events.
func protocol(server *sdk.Server, asJSON bool) http.Handler {
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{
		// Stateless: any node behind a balancer answers any request, and nothing outlives a request.
		Stateless: true, JSONResponse: asJSON,
		// The guard would refuse a proxy on the same machine that passes the public Host on. What it guards
		// against cannot happen: a foreign Origin is refused, and nothing works without the key.
		DisableLocalhostProtection: true,
		// From 2026-07-28 on a client cancels by hanging up. Before, hanging up is no cancelling, and a change ends
		// its work.
		PropagateRequestCancellation: true,
	})
}

func newServer(reg *operation.Registry, opts Options) *sdk.Server {
	c := newCatalogue(reg)
	server := sdk.NewServer(&sdk.Implementation{
		Name: "pressroom", Title: "pressroom", Version: opts.Version, WebsiteURL: opts.PublicURL,
	}, &sdk.ServerOptions{
		Instructions: instructions,
		// What is listed never changes while the program runs but for resources, of which nobody is told.
		Capabilities: &sdk.ServerCapabilities{
			Tools: &sdk.ToolCapabilities{}, Prompts: &sdk.PromptCapabilities{}, Resources: &sdk.ResourceCapabilities{},
		},
		PageSize:     max(1, len(reg.All())),
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.CacheScope = "private" },
		CompletionHandler: func(ctx context.Context, req *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
			return exchangeOf(ctx).complete(ctx, c, req.Params)
		},
	})
	for _, op := range reg.All() {
		server.AddTool(describe(op), func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return exchangeOf(ctx).call(ctx, op, req.Params.Arguments, teller(ctx, req)), nil
		})
	}
	c.addTo(server)
	addPrompts(server)
	server.AddReceivingMiddleware(refuseUnknown(reg, c))
	return server
}

// teller tells a client how far its call is, where it asked for that and its answer is a stream; else nil.
func teller(ctx context.Context, req *sdk.CallToolRequest) func(operation.Progress) {
	token := req.Params.GetProgressToken()
	if token == nil || !exchangeOf(ctx).streams {
		return nil
	}
	return func(p operation.Progress) {
		// The client may be gone: then there is nobody to tell.
		_ = req.Session.NotifyProgress(ctx,
			&sdk.ProgressNotificationParams{ProgressToken: token, Progress: p.Done, Total: p.Total, Message: p.Words})
	}
}

// refuseUnknown answers for a tool, a prompt or a resource that is not there, as the SDK would repeat the name that was
// sent; and adds the team's own resources to the list, of which the SDK knows none.
func refuseUnknown(reg *operation.Registry, c catalogue) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			x := exchangeOf(ctx)
			switch r := req.(type) {
			case *sdk.CallToolRequest:
				if reg.Tool(r.Params.Name) == nil {
					return x.noTool()
				}
			case *sdk.GetPromptRequest:
				if promptNamed(r.Params.Name) == nil {
					return nil, x.says(jsonrpc.CodeInvalidParams,
						"There is no such prompt. prompts/list names the prompts.")
				}
			case *sdk.ReadResourceRequest:
				if r.Params.URI == "" {
					return nil, x.noSuch("Say which resource, by its address as uri.")
				}
				if op, _ := c.find(r.Params.URI); op == nil {
					return nil, x.noSuch(noResource)
				}
			case *sdk.ListResourcesRequest:
				return x.withOwn(ctx, c, func() (sdk.Result, error) { return next(ctx, method, req) })
			}
			return next(ctx, method, req)
		}
	}
}

// withOwn adds the team's newest items to the list of resources.
func (x *exchange) withOwn(ctx context.Context, c catalogue, listed func() (sdk.Result, error)) (sdk.Result, error) {
	own, err := x.listed(ctx, c)
	if err != nil {
		return nil, err
	}
	result, err := listed()
	if list, ok := result.(*sdk.ListResourcesResult); ok && err == nil {
		list.Resources = own
	}
	return result, err
}

func (x *exchange) noTool() (sdk.Result, error) {
	if refusal := x.refusalBefore(); refusal != nil {
		return refusal, nil
	}
	return nil, x.says(jsonrpc.CodeInvalidParams, "There is no such tool. tools/list names the tools.")
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
