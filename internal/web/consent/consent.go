// Package consent is where people let programs in: the page on which they say yes or no, and the addresses by which
// programs learn of it, register, and get and give back their tokens. What holds of codes and tokens is package
// oauth's affair.
package consent

import (
	"embed"
	"net/http"
	"slices"

	"pressroom/internal/auth/oauth"
	"pressroom/internal/web/shell"
)

//go:embed templates/*.html
var files embed.FS

var pages = shell.Parse(files, nil)

// The addresses. Programs find them in the metadata, so that they may change.
const (
	authorizePath = "/oauth/authorize"
	tokenPath     = "/oauth/token" //nolint:gosec // an address
	registerPath  = "/oauth/register"
	revokePath    = "/oauth/revoke"

	serverPath   = "/.well-known/oauth-authorization-server"
	resourcePath = "/.well-known/oauth-protected-resource"
)

// Part is these pages and addresses.
type Part struct {
	*shell.Frame

	server *oauth.Service
}

// New makes them.
func New(f *shell.Frame, server *oauth.Service) *Part { return &Part{f, server} }

// Plain are the addresses that programs ask, which do not know who is signed in.
func (p *Part) Plain() []shell.Route {
	return slices.Concat(
		open(http.MethodGet, serverPath, p.serverMetadata),
		open(http.MethodGet, resourcePath, p.resourceMetadata),
		open(http.MethodGet, resourcePath+p.server.Tools, p.resourceMetadata),
		open(http.MethodPost, registerPath, p.placed(p.register)),
		open(http.MethodPost, tokenPath, p.placed(p.token)),
		open(http.MethodPost, revokePath, p.placed(p.revoke)),
	)
}

// placed has a program wait for a place here and not before: it is refused as programs are, and not with a page.
func (p *Part) placed(do http.HandlerFunc) http.HandlerFunc { return p.Placed(do, p.refuse).ServeHTTP }

// open lets pages of every origin ask an address that knows no cookie: programs run in browsers too, and what they are
// told here rests on what they send alone.
func open(method, path string, do http.HandlerFunc) []shell.Route {
	return []shell.Route{
		{Pattern: method + " " + path, For: shell.Anyone, Do: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Access-Control-Allow-Origin", "*")
			w.Header().Set("Access-Control-Expose-Headers", "Retry-After")
			do(w, r)
		}, Urgent: true}, // what asks more than a description takes its place itself
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

// Routes are the page's addresses. Whoever is not signed in is asked to once it is known that the request is a sound
// one.
func (p *Part) Routes() []shell.Route {
	return []shell.Route{
		{Pattern: "GET " + authorizePath, For: shell.Anyone, Do: p.ask},
		{Pattern: "POST " + authorizePath, For: shell.People, Do: p.decide},
	}
}
