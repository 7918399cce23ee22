// Package sandbox is a set of stand-ins for social networks to try pressroom with: an HTTP server that speaks each
// network's official protocol, stores what is published, and fails on request.
//
// Each network is mounted under its own name, so Bluesky's calls go to /bluesky/xrpc/…; GET /held lists all posts, and
// GET / shows them. A marker in a post's text asks for a certain outcome, as in "[sandbox:reject]"; package marker has
// all of them. What the sandbox has confirmed survives a killed process.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// Server is a sandbox. It is safe for concurrent use.
type Server struct {
	base    *shared
	handler http.Handler
}

// platform is a network. It serves everything below its name.
type platform interface {
	name() string  // in addresses, such as "bluesky"
	title() string // for people
	handler() http.Handler
	settle(context.Context) error // creates its initial accounts
}

// platforms returns all networks in the order of the page.
func platforms(s *shared) []platform {
	return []platform{
		&bluesky{shared: s},
		newInstagram(s),
		newThreads(s),
		newLinkedin(s),
		newFacebook(s),
		newX(s),
		newPinterest(s),
		newYouTube(s),
		newTikTok(s),
	}
}

// Open opens the sandbox with the data in dir, which it creates if it does not exist.
func Open(dir string, opts Options) (*Server, error) {
	s, err := newShared(dir, opts)
	if err != nil {
		return nil, fmt.Errorf("opening the sandbox in %s: %w", dir, err)
	}
	all := platforms(s)
	for _, p := range all {
		if err := p.settle(context.Background()); err != nil {
			return nil, errors.Join(fmt.Errorf("opening the sandbox in %s: %w", dir, err), s.close())
		}
	}
	server := &Server{base: s}
	server.handler = server.routes(all)
	return server, nil
}

func (s *Server) routes(platforms []platform) http.Handler {
	mux := http.NewServeMux()
	for _, p := range platforms {
		prefix := "/" + p.name()
		mux.Handle(prefix+"/", http.StripPrefix(prefix, p.handler()))
	}
	mux.Handle("/vendor/", http.StripPrefix("/vendor", newVendor(s.base).handler()))
	mux.Handle("GET /held", s.heldHandler())
	mux.Handle("GET /{$}", s.pageHandler(platforms))
	mux.Handle("GET /style.css", styleHandler())
	return mux
}

// Handler returns the handler of all requests to the sandbox.
func (s *Server) Handler() http.Handler { return s.handler }

// Close ends the calls that wait and closes the data.
func (s *Server) Close() error { return s.base.close() }

// EnsureBlueskyAccount creates an account that signs in with appPassword, or gives the one with this handle the name
// and the password. The handle is a domain name such as "demo.test".
func (s *Server) EnsureBlueskyAccount(handle, displayName, appPassword string) error {
	return ensureBlueskyAccount(s.base, handle, displayName, appPassword)
}

// OperatorAccount is a professional account of Instagram that can read the public data of others.
type OperatorAccount = Operator

// Operator returns n professional accounts of Instagram with new tokens. They are the same on each call.
func (s *Server) Operator(ctx context.Context, n int) ([]OperatorAccount, error) {
	return Operators(ctx, s.base, n)
}
