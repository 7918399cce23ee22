// Package consent serves the page on which people authorize OAuth clients, and the endpoints for metadata,
// registration, tokens and revocation. Package oauth holds the rules for codes and tokens.
package consent

import (
	"embed"
	"net/http"
	"slices"

	"pressroom.example/pressroom/internal/auth/oauth"
	"pressroom.example/pressroom/internal/web/shell"
)

//go:embed templates/*.html
var files embed.FS

var pages = shell.Parse(files, nil)

// The paths. Clients discover them in the metadata, so they may change.
const (
	authorizePath = "/oauth/authorize"
	tokenPath     = "/oauth/token" //nolint:gosec // an address
	registerPath  = "/oauth/register"
	revokePath    = "/oauth/revoke"

	serverPath   = "/.well-known/oauth-authorization-server"
	resourcePath = "/.well-known/oauth-protected-resource"
)

// Handlers serves the page and the endpoints.
type Handlers struct {
	*shell.Shell

	server *oauth.Service
}

// New returns the handlers.
func New(f *shell.Shell, server *oauth.Service) *Handlers { return &Handlers{f, server} }

// Plain returns the routes for clients, which ignore the visitor.
func (p *Handlers) Plain() []shell.Route {
	return slices.Concat(
		open(http.MethodGet, serverPath, p.serverMetadata),
		open(http.MethodGet, resourcePath, p.resourceMetadata(p.server.ToolsResource())),
		open(http.MethodGet, resourcePath+p.server.Tools, p.resourceMetadata(p.server.ToolsResource())),
		open(http.MethodGet, resourcePath+p.server.API, p.resourceMetadata(p.server.APIResource())),
		open(http.MethodPost, registerPath, p.withSlot(p.register)),
		open(http.MethodPost, tokenPath, p.withSlot(p.token)),
		open(http.MethodPost, revokePath, p.withSlot(p.revoke)),
	)
}

// withSlot returns a handler that occupies a slot of the node. Errors are returned as OAuth errors instead of pages.
func (p *Handlers) withSlot(do http.HandlerFunc) http.HandlerFunc {
	return p.WithSlot(do, p.reject).ServeHTTP
}

// open returns the routes of an endpoint that allows all origins: clients also run in browsers, and the endpoints use
// no cookies.
func open(method, path string, do http.HandlerFunc) []shell.Route {
	return []shell.Route{
		{Pattern: method + " " + path, For: shell.Anyone, Do: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Access-Control-Allow-Origin", "*")
			w.Header().Set("Access-Control-Expose-Headers", "Retry-After")
			do(w, r)
		}, Urgent: true}, // all except the metadata occupy a slot through withSlot
		{Pattern: http.MethodOptions + " " + path, For: shell.Anyone, Do: func(w http.ResponseWriter, _ *http.Request) {
			h := w.Header()
			h.Set("Access-Control-Allow-Origin", "*")
			h.Set("Access-Control-Allow-Methods", method)
			h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, MCP-Protocol-Version")
			h.Set("Access-Control-Max-Age", "600")
			w.WriteHeader(http.StatusNoContent)
		}, Urgent: true},
	}
}

// Routes returns the routes of the page. Visitors are asked to sign in only after the request was found valid.
func (p *Handlers) Routes() []shell.Route {
	return []shell.Route{
		{Pattern: "GET " + authorizePath, For: shell.Anyone, Do: p.ask},
		{Pattern: "POST " + authorizePath, For: shell.People, Do: p.decide},
	}
}
