// Package threads simulates Threads.
package threads

import (
	"context"
	"net/http"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/graph"
)

// Name is the network's name in URLs.
const Name = "threads"

// Network is the part of the Threads API that pressroom uses: OAuth consent and tokens, containers and posts.
type Network struct{ *graph.API }

// New returns the network of the sandbox s.
func New(s *base.Server) *Network {
	api := graph.New(s, Name, "Threads", "th", "threads_publishing")
	api.PublishScopes = []string{"threads_content_publish"}
	api.RequireRole(graph.ErrorPage(map[string]any{
		"error_message": "Invalid Request: The user has not accepted the invite to test the app.", "error_code": 1349245,
	}))
	return &Network{api}
}

// Init creates the initial accounts.
func (n *Network) Init(ctx context.Context) error { return n.AddPeople(ctx, accountID) }

// Handler returns the handler of the API, the consent page, and the redirects from posts to the sandbox's page.
func (n *Network) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /oauth/authorize", n.Authorize)
	mux.HandleFunc("POST /oauth/authorize", n.Authorize)
	for pattern, do := range map[string]func(*http.Request) (any, error){
		"POST /oauth/access_token":                  n.ExchangeCode,
		"GET /oauth/access_token":                   n.AppToken,
		"GET /access_token":                         n.ExchangeToken,
		"GET /v1.0/debug_token":                     n.DebugTokenByTester,
		"GET /refresh_access_token":                 n.RefreshToken,
		"POST /v1.0/{user}/threads":                 n.createContainer,
		"POST /v1.0/{user}/threads_publish":         n.PublishContainer,
		"GET /v1.0/{user}/threads":                  n.listPosts,
		"GET /v1.0/{user}/replies":                  n.listReplies,
		"GET /v1.0/{user}/threads_insights":         n.accountInsights,
		"GET /v1.0/{user}/threads_publishing_limit": n.PublishingLimit(250),
		"GET /v1.0/{id}/insights":                   n.Insights(postMetrics, insightsScope),
		"GET /v1.0/{id}":                            n.describe,
		"GET /media/{account}/{cid}":                n.MediaFile(n.Platform, graph.ErrNoObject),
		"/":                                         n.NotFound,
	} {
		mux.HandleFunc(pattern, n.HandlerFor(do))
	}
	mux.HandleFunc("GET /web/{handle}/post/{id}", n.RedirectToPage)
	return mux
}

// accountID returns the ID of an account. A handle has the same ID in every sandbox.
func accountID(handle string) string { return base.StableID("2", "threads account "+handle) }
