// Package sandbox simulates social networks, so that people can try pressroom without accounts. It is an HTTP server
// that implements the official API of each network, stores published posts, and simulates failures on request.
//
// The path of a network begins with its name, as in /bluesky/xrpc/…. GET /posts lists the posts of all networks, and
// GET / shows them on a page. A marker in a post's text, such as "[sandbox:reject]", requests an outcome (see package
// marker). Before the sandbox sends a successful response, it writes the data to disk.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/bluesky"
	"pressroom.example/pressroom/internal/sandbox/bridge"
	"pressroom.example/pressroom/internal/sandbox/facebook"
	"pressroom.example/pressroom/internal/sandbox/instagram"
	"pressroom.example/pressroom/internal/sandbox/linkedin"
	"pressroom.example/pressroom/internal/sandbox/pinterest"
	"pressroom.example/pressroom/internal/sandbox/threads"
	"pressroom.example/pressroom/internal/sandbox/tiktok"
	"pressroom.example/pressroom/internal/sandbox/x"
	"pressroom.example/pressroom/internal/sandbox/youtube"
)

// Options are the settings of a sandbox. Outside tests, use the zero value.
type Options = base.Options

// Server is a sandbox. It is safe for concurrent use.
type Server struct {
	base    *base.Server
	handler http.Handler
}

// platform is a network whose handler serves the paths that begin with the network's name.
type platform interface {
	Name() string  // in URLs, such as "bluesky"
	Title() string // for people
	Handler() http.Handler
	Init(context.Context) error // creates the initial accounts
}

// platforms returns all networks in the order in which the page lists them.
func platforms(s *base.Server) []platform {
	return []platform{
		&bluesky.Network{Server: s},
		instagram.New(s),
		threads.New(s),
		linkedin.New(s),
		facebook.New(s),
		x.New(s),
		pinterest.New(s),
		youtube.New(s),
		tiktok.New(s),
	}
}

// Open opens a sandbox that stores its data in dir. It creates dir if necessary.
func Open(dir string, opts Options) (*Server, error) {
	s, err := base.Open(dir, opts)
	if err != nil {
		return nil, fmt.Errorf("opening the sandbox in %s: %w", dir, err)
	}
	networks := platforms(s)
	for _, p := range networks {
		if err := p.Init(context.Background()); err != nil {
			return nil, errors.Join(fmt.Errorf("opening the sandbox in %s: %w", dir, err), s.Close())
		}
	}
	server := &Server{base: s}
	server.handler = server.routes(networks)
	return server, nil
}

func (s *Server) routes(platforms []platform) http.Handler {
	mux := http.NewServeMux()
	for _, p := range platforms {
		prefix := "/" + p.Name()
		mux.Handle(prefix+"/", http.StripPrefix(prefix, p.Handler()))
	}
	mux.Handle("/vendor/", http.StripPrefix("/vendor", bridge.New(s.base).Handler()))
	mux.HandleFunc("GET /pictures/{name}", base.Picture)
	mux.Handle("GET /posts", s.postsHandler())
	mux.Handle("GET /held", s.postsHandler()) // deprecated path of GET /posts
	mux.Handle("GET /{$}", s.pageHandler(platforms))
	mux.Handle("GET /style.css", styleHandler())
	return mux
}

// Handler returns the handler for all requests to the sandbox.
func (s *Server) Handler() http.Handler { return s.handler }

// Close ends the requests that a marker delays, and closes the store.
func (s *Server) Close() error { return s.base.Close() }

// EnsureBlueskyAccount creates an account that signs in with appPassword, or updates the name and password of the
// existing account. The handle is a domain name such as "demo.test".
func (s *Server) EnsureBlueskyAccount(handle, displayName, appPassword string) error {
	return bluesky.EnsureAccount(s.base, handle, displayName, appPassword)
}

// OperatorAccount is a professional Instagram account that can read public data of other accounts.
type OperatorAccount = instagram.Operator

// Operators returns n operator accounts with new tokens. Every call returns the same accounts.
func (s *Server) Operators(ctx context.Context, n int) ([]OperatorAccount, error) {
	return instagram.Operators(ctx, s.base, n)
}

// YouTubePlaylist returns the ID of an account's YouTube playlist. A handle has the same playlist ID in every sandbox.
func YouTubePlaylist(handle string) string { return youtube.PlaylistID(youtube.ChannelID(handle)) }
