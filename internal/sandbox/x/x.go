// Package x simulates X.
package x

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/oauth"
	"pressroom.example/pressroom/internal/sandbox/rest"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// Name is the network's name in URLs.
const Name = "x"

// Network is the part of X's API, version 2, that pressroom uses: OAuth consent with PKCE, tokens, uploads and posts.
type Network struct{ *rest.API }

// New returns the network of the sandbox s.
func New(s *base.Server) *Network {
	n := &rest.API{
		Provider: &oauth.Provider{Server: s, Platform: Name, DisplayName: "X"},
		// X does not document the lifetime of refresh tokens.
		CodeLifetime: 30 * time.Second, AccessLifetime: 2 * time.Hour, RefreshLifetime: 180 * 24 * time.Hour,
		Errors: rest.Errors{
			Unreadable: invalidRequest("One or more parameters to your request was invalid."),
			NotFound: &rest.Error{
				Status: http.StatusNotFound, Kind: "resource-not-found", Message: "Could not find the requested resource.",
			},
			Unauthorized: &rest.Error{Status: http.StatusUnauthorized, Message: "Unauthorized"},
			InvalidGrant: &rest.Error{
				Status: http.StatusBadRequest, Kind: oauthPrefix + "invalid_request",
				Message: "Value passed for the token was invalid.",
			},
			Rejected:    invalidRequest("This content cannot be posted (requested by a sandbox marker)."),
			RateLimited: &rest.Error{Status: http.StatusTooManyRequests, Message: "Too Many Requests"},
			Internal: &rest.Error{
				Status: http.StatusInternalServerError, Kind: "internal-error",
				Message: "Something went wrong on our side.",
			},
		},
	}
	api := &Network{n}
	n.Write = api.write
	return api
}

// Init creates the initial accounts.
func (n *Network) Init(ctx context.Context) error {
	return n.AddPeople(ctx, func(handle string) string { return base.StableID("1", "x account "+handle) })
}

// Handler returns the handler of the API, the consent page, and the redirects from posts to the sandbox's page.
func (n *Network) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /i/oauth2/authorize", n.consent)
	mux.HandleFunc("POST /i/oauth2/authorize", n.consent)
	for pattern, do := range map[string]func(*http.Request) (any, error){
		"POST /2/oauth2/token":               n.grantTokens,
		"POST /2/oauth2/revoke":              n.revoke,
		"GET /2/users/me":                    n.getMe,
		"GET /2/users/{id}/tweets":           n.listPosts,
		"GET /2/tweets":                      n.lookupPosts,
		"POST /2/media/upload/initialize":    n.initUpload,
		"POST /2/media/upload/{id}/finalize": n.finalizeUpload,
		"GET /2/media/upload":                n.uploadStatus,
		"POST /2/media/metadata":             n.saveMetadata,
		"GET /media/{account}/{cid}":         n.MediaFile(Name, n.Errors.NotFound),
		"/":                                  n.NotFound,
	} {
		mux.HandleFunc(pattern, n.Handle(http.StatusOK, do))
	}
	mux.HandleFunc("POST /2/media/upload/{id}/append", n.HandleStream(http.StatusOK, n.appendUpload))
	mux.HandleFunc("POST /2/tweets", n.Handle(http.StatusCreated, n.createPost))
	mux.HandleFunc("GET /web/{handle}/status/{id}", n.RedirectToPage)
	return mux
}

// consent serves the consent page. It requires PKCE.
func (n *Network) consent(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, base.MaxBody)
	if r.FormValue("code_challenge") == "" {
		http.Error(w, "The app's request is invalid: code_challenge is missing.", http.StatusBadRequest)
		return
	}
	n.Authorize(w, r)
}

// oauthPrefix is the prefix of Error.Kind in errors of the token endpoint, which have a different format.
const oauthPrefix = "oauth:"

func invalidRequest(message string) *rest.Error {
	return &rest.Error{Status: http.StatusBadRequest, Kind: "invalid-request", Message: message}
}

const (
	rateWindow    = 15 * time.Minute
	ratePerWindow = 100
)

// write writes the rate limit headers, and an error as a problem document.
func (n *Network) write(w http.ResponseWriter, restErr *rest.Error) {
	remaining, reset := ratePerWindow-1, n.Now().Add(rateWindow)
	if restErr == n.Errors.RateLimited {
		remaining, reset = 0, n.Now().Add(2*time.Second+time.Second-1)
	}
	header := w.Header()
	header.Set("x-rate-limit-limit", strconv.Itoa(ratePerWindow))
	header.Set("x-rate-limit-remaining", strconv.Itoa(remaining))
	header.Set("x-rate-limit-reset", strconv.FormatInt(reset.Unix(), 10))
	if restErr == nil {
		return
	}
	if code, ok := strings.CutPrefix(restErr.Kind, oauthPrefix); ok {
		base.WriteJSON(w, restErr.Status, map[string]string{"error": code, "error_description": restErr.Message})
		return
	}
	problem := map[string]any{
		"type": "about:blank", "title": http.StatusText(restErr.Status), "detail": restErr.Message,
		"status": restErr.Status,
	}
	if restErr.Kind != "" {
		problem["type"] = "https://api.x.com/2/problems/" + restErr.Kind
	}
	if restErr.Status == http.StatusNotFound {
		problem["resource_type"] = "media"
	}
	base.WriteJSON(w, restErr.Status, problem)
}

// grantTokens serves the token endpoint. Clients that have a secret use Basic authentication.
func (n *Network) grantTokens(r *http.Request) (any, error) {
	if _, secret, _ := r.BasicAuth(); base.IsWrongSecret(secret) {
		return nil, &rest.Error{
			Status: http.StatusUnauthorized, Kind: oauthPrefix + "unauthorized_client", Message: "Missing valid authorization header",
		}
	}
	tokens, err := n.GrantTokens(r)
	response := map[string]any{
		"token_type": "bearer", "expires_in": int64(n.AccessLifetime / time.Second), "access_token": tokens.Access,
		"scope": strings.Join(tokens.Scopes, " "),
	}
	if slices.Contains(tokens.Scopes, "offline.access") {
		response["refresh_token"] = tokens.Refresh
	}
	return response, err
}

// unpaidClient is the suffix of the ID of an app that has used up its credits.
const unpaidClient = "-unpaid"

func isUnpaid(token store.Token) bool { return strings.HasSuffix(token.Client, unpaidClient) }

// errCredit is the error that the real X returns for an app without credits.
var errCredit = &rest.Error{
	Status: http.StatusPaymentRequired, Message: "Your account does not have any credits to fulfill this request.",
}

func (n *Network) getMe(r *http.Request) (any, error) {
	view := map[string]any{}
	err := n.AsCaller(r, func(t store.Tx, me store.Account, token store.Token) error {
		if isUnpaid(token) {
			return errCredit
		}
		posts, err := t.Posts(r.Context(), `where p.platform = ? and p.account = ?`, Name, me.ID)
		view["id"], view["username"], view["name"] = me.ID, me.Handle, me.DisplayName
		fields := r.Form.Get("user.fields")
		n.addMetrics(view, fields, me.ID, len(posts))
		if slices.Contains(strings.Split(fields, ","), "profile_image_url") {
			view["profile_image_url"] = n.PictureURL(r, me.DisplayName)
		}
		return err
	})
	return wrapData(view), err
}

func wrapData(data any) map[string]any { return map[string]any{"data": data} }

// revoke invalidates a token. The token must belong to the app that sends the request.
func (n *Network) revoke(r *http.Request) (any, error) {
	text, client := r.Form.Get("token"), r.Form.Get("client_id")
	if id, _, hasBasicAuth := r.BasicAuth(); hasBasicAuth {
		client = id
	}
	err := n.Store.InTx(r.Context(), func(t store.Tx) error {
		token, ok, err := n.FindAny(r.Context(), t, text)
		switch {
		case err != nil:
			return err
		case !ok || token.Client != client:
			return n.Errors.InvalidGrant
		}
		return t.ConsumeToken(r.Context(), n.Platform, n.Hash(text))
	})
	return map[string]any{"revoked": true}, err
}
