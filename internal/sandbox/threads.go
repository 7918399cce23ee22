package sandbox

import (
	"context"
	"net/http"
)

const threadsName = "threads"

// threads is the part of the Threads API that publishes: the consent and its tokens, containers and posts.
type threads struct{ *graphAPI }

func newThreads(s *shared) *threads {
	return &threads{newGraphAPI(s, threadsName, "Threads", "th", "threads_publishing")}
}

func (n *threads) settle(ctx context.Context) error { return n.people(ctx, threadsID) }

// handler serves the API, the consent page, and redirects from posts to the sandbox's page.
func (n *threads) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /oauth/authorize", n.authorize)
	mux.HandleFunc("POST /oauth/authorize", n.authorize)
	for pattern, do := range map[string]func(*http.Request) (any, error){
		"POST /oauth/access_token":          n.exchangeCode,
		"GET /access_token":                 n.exchangeToken,
		"GET /refresh_access_token":         n.refreshToken,
		"POST /v1.0/{user}/threads":         n.createContainer,
		"POST /v1.0/{user}/threads_publish": n.publish,
		"GET /v1.0/{user}/threads":          n.listPosts,
		"GET /v1.0/{user}/threads_insights": n.accountInsights,
		"GET /v1.0/{id}/insights":           n.insights(threadsMetrics, threadsInsightsScope),
		"GET /v1.0/{id}":                    n.describe,
		"GET /media/{account}/{cid}":        n.mediaFile(n.platform, errNoObject),
		"/":                                 n.nowhere,
	} {
		mux.HandleFunc(pattern, n.graph(do))
	}
	mux.HandleFunc("GET /web/{handle}/post/{id}", n.toPage)
	return mux
}

// threadsID returns an account's id, which is the same in every sandbox.
func threadsID(handle string) string { return stableID("2", "threads account "+handle) }
