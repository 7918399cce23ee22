package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"net/http"
	"regexp"
)

const threadsName = "threads"

var threadsHandleForm = regexp.MustCompile(`^[a-z0-9._]{1,30}$`)

// threads is the part of the Threads API that publishes: the consent and its tokens, containers, posts.
type threads struct{ *graphAPI }

func newThreads(s *Server) *threads {
	return &threads{newGraphAPI(s, threadsName, "Threads", "th", "threads_publishing")}
}

func (n *threads) settle(ctx context.Context) error { return n.people(ctx, threadsID) }

// handler answers the API, the consent page, and at the addresses of posts the sandbox's page.
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
		"GET /media/{account}/{cid}":        n.mediaFile,
		"/":                                 n.nowhere,
	} {
		mux.HandleFunc(pattern, n.graph(do))
	}
	mux.HandleFunc("GET /web/{handle}/post/{id}", n.toPage)
	return mux
}

// EnsureThreadsAccount makes an account that can be chosen on the consent page, or gives the one with this handle the
// name.
func (s *Server) EnsureThreadsAccount(handle, displayName string) error {
	if !threadsHandleForm.MatchString(handle) {
		return fmt.Errorf("making the Threads account %q: its name has to be of letters, digits, dots and underscores",
			handle)
	}
	ctx := context.Background()
	err := s.store.in(ctx, func(t tx) error {
		return t.keepAccount(ctx, threadsName,
			account{id: threadsID(handle), handle: handle, displayName: displayName, password: []byte{}})
	})
	if err != nil {
		return fmt.Errorf("making the Threads account %q: %w", handle, err)
	}
	return nil
}

// threadsID gives a handle the same id in every sandbox.
func threadsID(handle string) string { return graphID("2", "threads account "+handle) }

// graphID is an id that is the same in every sandbox, for what has this name.
func graphID(front, name string) string {
	sum := sha256.Sum256([]byte("sandbox " + name))
	return fmt.Sprintf("%s%016d", front, binary.BigEndian.Uint64(sum[:8])%1e16)
}
