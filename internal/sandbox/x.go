package sandbox

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const xName = "x"

// xAPI is the part of X's API, version 2, that publishes: the consent with PKCE, tokens, uploads and posts.
type xAPI struct{ *xREST }

func newX(s *shared) *xAPI {
	n := &xREST{
		oauth: &oauth{shared: s, platform: xName, displayName: "X"},
		// the network does not document the last one
		codeFor: 30 * time.Second, accessFor: 2 * time.Hour, refreshFor: 180 * 24 * time.Hour,
		says: xRefusals{
			unread: xInvalid("One or more parameters to your request was invalid."),
			nowhere: &xError{
				status: http.StatusNotFound, kind: "resource-not-found", message: "Could not find what was asked for.",
			},
			noToken: &xError{status: http.StatusUnauthorized, message: "Unauthorized"},
			grantDead: &xError{
				status: http.StatusBadRequest, kind: xOAuth + "invalid_request",
				message: "Value passed for the token was invalid.",
			},
			rejected: xInvalid("This content cannot be posted (asked for by a sandbox marker)."),
			rate:     &xError{status: http.StatusTooManyRequests, message: "Too Many Requests"},
			broken: &xError{
				status: http.StatusInternalServerError, kind: "internal-error",
				message: "Something went wrong on our side.",
			},
		},
	}
	api := &xAPI{n}
	n.write = api.tell
	return api
}

func (n *xAPI) settle(ctx context.Context) error {
	return n.people(ctx, func(handle string) string { return stableID("1", "x account "+handle) })
}

// handler serves the API, the consent page, and redirects from posts to the sandbox's page.
func (n *xAPI) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /i/oauth2/authorize", n.consent)
	mux.HandleFunc("POST /i/oauth2/authorize", n.consent)
	for pattern, do := range map[string]func(*http.Request) (any, error){
		"POST /2/oauth2/token":               n.tokens,
		"POST /2/oauth2/revoke":              n.revoke,
		"GET /2/users/me":                    n.me,
		"GET /2/users/{id}/tweets":           n.list,
		"GET /2/tweets":                      n.lookup,
		"POST /2/media/upload/initialize":    n.beginUpload,
		"POST /2/media/upload/{id}/finalize": n.endUpload,
		"GET /2/media/upload":                n.uploadStatus,
		"POST /2/media/metadata":             n.describeUpload,
		"GET /media/{account}/{cid}":         n.mediaFile(xName, n.says.nowhere),
		"/":                                  n.nowhere,
	} {
		mux.HandleFunc(pattern, n.answer(http.StatusOK, do))
	}
	mux.HandleFunc("POST /2/media/upload/{id}/append", n.stream(http.StatusOK, n.appendUpload))
	mux.HandleFunc("POST /2/tweets", n.answer(http.StatusCreated, n.create))
	mux.HandleFunc("GET /web/{handle}/status/{id}", n.toPage)
	return mux
}

// consent requires PKCE before it shows the page.
func (n *xAPI) consent(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if r.FormValue("code_challenge") == "" {
		http.Error(w, "The app asks wrongly: code_challenge is missing.", http.StatusBadRequest)
		return
	}
	n.authorize(w, r)
}

// xOAuth marks the errors of the token endpoint, which have a form of their own.
const xOAuth = "oauth:"

func xInvalid(message string) *xError {
	return &xError{status: http.StatusBadRequest, kind: "invalid-request", message: message}
}

const (
	xWindow    = 15 * time.Minute
	xPerWindow = 100
)

// tell writes the rate headers, and a refusal as a problem document.
func (n *xAPI) tell(w http.ResponseWriter, refused *xError) {
	left, reset := xPerWindow-1, n.now().Add(xWindow)
	if refused == n.says.rate {
		left, reset = 0, n.now().Add(2*time.Second+time.Second-1)
	}
	header := w.Header()
	header.Set("x-rate-limit-limit", strconv.Itoa(xPerWindow))
	header.Set("x-rate-limit-remaining", strconv.Itoa(left))
	header.Set("x-rate-limit-reset", strconv.FormatInt(reset.Unix(), 10))
	if refused == nil {
		return
	}
	if len(refused.kind) > len(xOAuth) && refused.kind[:len(xOAuth)] == xOAuth {
		writeJSON(w, refused.status,
			map[string]string{"error": refused.kind[len(xOAuth):], "error_description": refused.message})
		return
	}
	problem := map[string]any{
		"type": "about:blank", "title": http.StatusText(refused.status), "detail": refused.message,
		"status": refused.status,
	}
	if refused.kind != "" {
		problem["type"] = "https://api.x.com/2/problems/" + refused.kind
	}
	if refused.status == http.StatusNotFound {
		problem["resource_type"] = "media"
	}
	writeJSON(w, refused.status, problem)
}

// tokens is the token endpoint. A client authenticates by Basic authentication, or has no secret.
func (n *xAPI) tokens(r *http.Request) (any, error) {
	given, err := n.trade(r)
	answer := map[string]any{
		"token_type": "bearer", "expires_in": int64(n.accessFor / time.Second), "access_token": given.access,
		"scope": strings.Join(given.scopes, " "),
	}
	if slices.Contains(given.scopes, "offline.access") {
		answer["refresh_token"] = given.refresh
	}
	return answer, err
}

func (n *xAPI) me(r *http.Request) (any, error) {
	answer := map[string]any{}
	err := n.store.in(r.Context(), func(t tx) error {
		me, _, err := n.caller(r, t)
		if err != nil {
			return err
		}
		posts, err := t.posts(r.Context(), `where p.platform = ? and p.account = ?`, xName, me.id)
		answer["id"], answer["username"], answer["name"] = me.id, me.handle, me.displayName
		n.figures(answer, r.Form.Get("user.fields"), me.id, len(posts))
		return err
	})
	return xData(answer), err
}

func xData(data any) map[string]any { return map[string]any{"data": data} }

// revoke ends a valid token of an app.
func (n *xAPI) revoke(r *http.Request) (any, error) {
	text, client := r.Form.Get("token"), r.Form.Get("client_id")
	if id, _, basic := r.BasicAuth(); basic {
		client = id
	}
	err := n.store.in(r.Context(), func(t tx) error {
		for _, kind := range []string{kindAccess, xKindRefresh} {
			token, good, err := n.find(r.Context(), t, kind, text)
			if err != nil {
				return err
			}
			if good && token.client == client {
				return t.spendOAuthToken(r.Context(), n.platform, n.seal(text))
			}
		}
		return n.says.grantDead
	})
	return map[string]any{"revoked": true}, err
}
