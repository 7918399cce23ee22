// Package consent serves the page where people authorize OAuth clients, and the endpoints for metadata, registration,
// tokens and revocation. Package oauth implements the authorization server.
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

var pages = shell.Parse(files, shell.Data{
	"consent": consentView{}, "turned": invalidRequestPage{},
}, nil)

// Paths of the page and the endpoints. Clients discover the OAuth paths in the metadata, so those paths may change.
const (
	authorizePath = "/oauth/authorize"
	tokenPath     = "/oauth/token" //nolint:gosec // an address
	registerPath  = "/oauth/register"
	revokePath    = "/oauth/revoke"

	serverMetadataPath   = "/.well-known/oauth-authorization-server"
	resourceMetadataPath = "/.well-known/oauth-protected-resource"
)

// Handlers serves the page and the endpoints.
type Handlers struct {
	*shell.Shell

	server *oauth.Service
}

// New returns the handlers.
func New(sh *shell.Shell, server *oauth.Service) *Handlers { return &Handlers{sh, server} }

// SessionlessRoutes returns the routes for OAuth clients. They do not read the visitor's session.
func (h *Handlers) SessionlessRoutes() []shell.Route {
	return slices.Concat(
		corsRoutes(http.MethodGet, serverMetadataPath, h.serverMetadata),
		corsRoutes(http.MethodGet, resourceMetadataPath, h.resourceMetadata(h.server.ToolsResource())),
		corsRoutes(http.MethodGet, resourceMetadataPath+h.server.Tools, h.resourceMetadata(h.server.ToolsResource())),
		corsRoutes(http.MethodGet, resourceMetadataPath+h.server.API, h.resourceMetadata(h.server.APIResource())),
		corsRoutes(http.MethodPost, registerPath, h.withSlot(h.register)),
		corsRoutes(http.MethodPost, tokenPath, h.withSlot(h.token)),
		corsRoutes(http.MethodPost, revokePath, h.withSlot(h.revoke)),
	)
}

// withSlot returns a handler that holds one of the node's slots while it runs. If no slot is free, it responds with an
// OAuth error instead of a page.
func (h *Handlers) withSlot(next http.HandlerFunc) http.HandlerFunc {
	return h.WithSlot(next, h.reject).ServeHTTP
}

// corsRoutes returns the routes of an endpoint that allows all origins, because clients also run in browsers. Allowing
// all origins is safe because the endpoints do not use cookies.
func corsRoutes(method, path string, next http.HandlerFunc) []shell.Route {
	return []shell.Route{
		{Pattern: method + " " + path, Audience: shell.Anyone, Handler: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Access-Control-Allow-Origin", "*")
			w.Header().Set("Access-Control-Expose-Headers", "Retry-After")
			next(w, r)
		}, SkipsSlot: true}, // all endpoints except metadata take a slot through withSlot
		{Pattern: http.MethodOptions + " " + path, Audience: shell.Anyone, Handler: func(w http.ResponseWriter,
			_ *http.Request) {
			h := w.Header()
			h.Set("Access-Control-Allow-Origin", "*")
			h.Set("Access-Control-Allow-Methods", method)
			h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, MCP-Protocol-Version")
			h.Set("Access-Control-Max-Age", "600")
			w.WriteHeader(http.StatusNoContent)
		}, SkipsSlot: true},
	}
}

// Routes returns the routes of the page. Signed-out visitors are asked to sign in only if their request is valid.
func (h *Handlers) Routes() []shell.Route {
	return []shell.Route{
		{Pattern: "GET " + authorizePath, Audience: shell.Anyone, Handler: h.authorize},
		{Pattern: "POST " + authorizePath, Audience: shell.People, Handler: h.decide},
	}
}
