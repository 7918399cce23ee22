package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"
)

const threadsName = "threads"

var threadsHandleForm = regexp.MustCompile(`^[a-z0-9._]{1,30}$`)

// threads is the part of the Threads API that publishes: the consent and its tokens, containers, posts. Every app is
// known to it, whatever its secret.
type threads struct {
	*oauth

	fetch *http.Client // for the media
}

func newThreads(s *Server) *threads {
	return &threads{oauth: &oauth{Server: s, platform: threadsName, title: "Threads"}, fetch: &http.Client{Timeout: fetchTimeout}}
}

func (n *threads) name() string  { return threadsName }
func (n *threads) title() string { return n.oauth.title }

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
		"GET /v1.0/{id}":                    n.describe,
		"GET /media/{account}/{cid}":        n.mediaFile,
		"/":                                 n.nowhere,
	} {
		mux.HandleFunc(pattern, n.graph(do))
	}
	mux.HandleFunc("GET /web/{handle}/post/{id}", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, n.baseURL(r)+"/#"+anchor(threadsName, r.PathValue("id")), http.StatusSeeOther) //nolint:gosec // the base is our own, and what is appended is escaped
	})
	return mux
}

// EnsureThreadsAccount makes an account that can be chosen on the consent page, or gives the one with this handle the
// name.
func (s *Server) EnsureThreadsAccount(handle, displayName string) error {
	if !threadsHandleForm.MatchString(handle) {
		return fmt.Errorf("making the Threads account %q: its name has to be of letters, digits, dots and underscores", handle)
	}
	ctx := context.Background()
	err := s.store.in(ctx, func(t tx) error {
		return t.keepAccount(ctx, threadsName, account{id: threadsID(handle), handle: handle, displayName: displayName, password: []byte{}})
	})
	if err != nil {
		return fmt.Errorf("making the Threads account %q: %w", handle, err)
	}
	return nil
}

// threadsID gives a handle the same id in every sandbox.
func threadsID(handle string) string {
	sum := sha256.Sum256([]byte("sandbox threads account " + handle))
	return fmt.Sprintf("2%016d", binary.BigEndian.Uint64(sum[:8])%1e16)
}

const (
	shortLife = time.Hour
	longLife  = 60 * 24 * time.Hour
	renewAge  = 24 * time.Hour // before which a token is not renewed
)

func (n *threads) exchangeCode(r *http.Request) (any, error) {
	if r.Form.Get("client_secret") == "" || r.Form.Get("grant_type") != "authorization_code" {
		return nil, invalidParameter("client_secret and grant_type are required")
	}
	var answer map[string]any
	err := n.store.in(r.Context(), func(t tx) error {
		code, good, err := n.redeem(r.Context(), t, r.Form)
		if err != nil {
			return err
		}
		if !good {
			return invalidParameter("Invalid verification code, or one that has been used, or another redirect_uri")
		}
		answer, err = n.token(r.Context(), t, code, shortLife)
		return err
	})
	return answer, err
}

// token answers with a new token of a session.
func (n *threads) token(ctx context.Context, t tx, of oauthToken, life time.Duration) (map[string]any, error) {
	of.kind, of.redirect, of.challenge = kindAccess, "", ""
	text, err := n.issue(ctx, t, of, life)
	return map[string]any{"access_token": text, "token_type": "bearer", "expires_in": int64(life / time.Second)}, err
}

func (n *threads) exchangeToken(r *http.Request) (any, error) {
	if r.Form.Get("grant_type") != "th_exchange_token" || r.Form.Get("client_secret") == "" {
		return nil, invalidParameter("client_secret and grant_type are required")
	}
	return n.trade(r, 0)
}

func (n *threads) refreshToken(r *http.Request) (any, error) {
	if r.Form.Get("grant_type") != "th_refresh_token" {
		return nil, invalidParameter("grant_type has to be th_refresh_token")
	}
	return n.trade(r, renewAge)
}

// trade gives a token of a certain age for one of sixty days. The old one stays good for as long as it was.
func (n *threads) trade(r *http.Request, age time.Duration) (any, error) {
	var answer map[string]any
	err := n.store.in(r.Context(), func(t tx) error {
		_, old, err := n.bearer(r, t)
		if err != nil {
			return err
		}
		if n.now().Sub(old.issued) < age {
			return invalidParameter("The token is too young to be renewed")
		}
		answer, err = n.token(r.Context(), t, old, longLife)
		return err
	})
	return answer, err
}

// bearer is the account that the request's token speaks for.
func (n *threads) bearer(r *http.Request, t tx) (account, oauthToken, error) {
	text := r.Form.Get("access_token")
	if text == "" {
		text = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	token, good, err := n.find(r.Context(), t, kindAccess, text)
	switch {
	case err != nil:
		return account{}, token, err
	case token.kind == "":
		return account{}, token, &graphError{status: http.StatusBadRequest, code: 190, message: "Invalid OAuth access token - Cannot parse access token"}
	case !good:
		return account{}, token, errSessionExpired
	}
	a, found, err := t.account(r.Context(), threadsName, token.account)
	if err == nil && !found {
		err = errSessionExpired
	}
	return a, token, err
}
