// Package tiktok simulates TikTok.
package tiktok

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"net/http"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/insights"
	"pressroom.example/pressroom/internal/sandbox/oauth"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// Name is the network's name in URLs.
const Name = "tiktok"

// Network is the part of TikTok's API that pressroom uses: OAuth consent and tokens, video uploads, photos that TikTok
// fetches, and the status of posts. It accepts every app. If an app's client key contains unauditedClient or
// unverifiedClient, the app is restricted. The Research API returns the data of package world to every app.
type Network struct {
	*oauth.Provider

	client *http.Client // for fetching photos
}

// New returns the network of the sandbox s.
func New(s *base.Server) *Network {
	return &Network{
		Provider: &oauth.Provider{Server: s, Platform: Name, DisplayName: "TikTok"},
		client: &http.Client{Timeout: base.FetchTimeout, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}},
	}
}

// Init creates the initial accounts.
func (n *Network) Init(ctx context.Context) error {
	if err := n.AddPeople(ctx, accountID); err != nil {
		return err
	}
	return n.Store.InTx(ctx, func(t store.Tx) error {
		var err error
		for handle, name := range map[string]string{privatePerson: "Atelier Blau", busyPerson: "Busy Bistro"} {
			if err == nil {
				err = t.SaveAccount(ctx, Name, store.Account{
					ID: accountID(handle), Handle: handle, DisplayName: name, Password: []byte{},
				})
			}
		}
		return err
	})
}

// accountID returns the ID of an account. A handle has the same ID in every sandbox.
func accountID(handle string) string {
	sum := sha256.Sum256([]byte("sandbox tiktok account " + handle))
	return "-000" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:20]))
}

// Handler returns the handler of the API, the upload server, the consent page, and the redirects from posts to the
// sandbox's page.
func (n *Network) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v2/auth/authorize/{$}", n.consent)
	mux.HandleFunc("POST /v2/auth/authorize/{$}", n.consent)
	mux.HandleFunc("POST /v2/oauth/token/{$}", n.tokenEndpoint)
	mux.HandleFunc("POST /v2/oauth/revoke/{$}", n.revoke)
	mux.HandleFunc("PUT /upload/video/{$}", n.upload)
	for pattern, do := range map[string]func(*http.Request) (any, error){
		"GET /v2/user/info/{$}":                        n.userInfo,
		"POST /v2/post/publish/creator_info/query/{$}": n.creatorInfo,
		"POST /v2/post/publish/video/init/{$}":         n.initVideo,
		"POST /v2/post/publish/inbox/video/init/{$}":   n.initInboxVideo,
		"POST /v2/post/publish/content/init/{$}":       n.postPhotos,
		"POST /v2/post/publish/status/fetch/{$}":       n.fetchStatus,
		"POST /v2/video/list/{$}":                      n.listVideos,
		"POST /v2/research/user/info/{$}":              n.researchUser,
		"POST /v2/research/video/query/{$}":            n.researchVideos,
		"GET /media/{account}/{cid}":                   n.MediaFile(Name, errNoFile),
		"/":                                            n.notFound,
	} {
		mux.HandleFunc(pattern, n.handle(do))
	}
	mux.HandleFunc("GET /web/{handle}/{form}/{id}", n.RedirectToPage)
	return mux
}

// consent serves the consent page. TikTok uses the parameter client_key instead of client_id.
func (n *Network) consent(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, base.MaxBody)
	if err := r.ParseForm(); err != nil {
		http.Error(w, "The form is invalid.", http.StatusBadRequest)
		return
	}
	if key := r.Form.Get("client_key"); key != "" {
		r.Form.Set("client_id", key)
	}
	n.Authorize(w, r)
}

const (
	accessLifetime  = 2 * time.Hour
	refreshLifetime = 180 * 24 * time.Hour
)

// tokenEndpoint serves the token endpoint. Its errors have the format that RFC 6749 defines.
func (n *Network) tokenEndpoint(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := base.WorkContext(r)
	defer cancel()
	r = r.WithContext(ctx)
	result, err := n.grantToken(w, r)
	w.Header().Set("Cache-Control", "no-store")
	n.write(w, r, result, err, oauthError)
}

// readTokenForm parses a form with the key and the secret of an app.
func readTokenForm(w http.ResponseWriter, r *http.Request) error {
	if base.ReadForm(w, r) != nil {
		return badRequest("invalid_request", "The request cannot be read")
	}
	if r.Form.Get("client_key") == "" || r.Form.Get("client_secret") == "" {
		return badRequest("invalid_client", "client_key and client_secret are required")
	}
	return nil
}

func (n *Network) grantToken(w http.ResponseWriter, r *http.Request) (any, error) {
	if err := readTokenForm(w, r); err != nil {
		return nil, err
	}
	if base.IsWrongSecret(r.Form.Get("client_secret")) {
		return nil, badRequest("invalid_client", "Client secret is incorrect")
	}
	r.Form.Set("client_id", r.Form.Get("client_key"))
	var spend func(store.Tx) (store.Token, error)
	switch r.Form.Get("grant_type") {
	case "authorization_code":
		spend = func(t store.Tx) (store.Token, error) { return n.spendCode(r, t) }
	case "refresh_token":
		spend = func(t store.Tx) (store.Token, error) { return n.spendRefresh(r, t) }
	case "client_credentials":
		return n.clientToken(r)
	default:
		return nil, badRequest("unsupported_grant_type",
			"grant_type must be authorization_code, refresh_token or client_credentials")
	}
	var response map[string]any
	err := n.Store.InTx(r.Context(), func(t store.Tx) error {
		token, err := spend(t)
		if err != nil {
			return err
		}
		response, err = n.newTokens(r.Context(), t, token)
		return err
	})
	return response, err
}

func (n *Network) spendCode(r *http.Request, t store.Tx) (store.Token, error) {
	code, ok, err := n.Redeem(r.Context(), t, r.Form)
	if err == nil && !ok {
		err = badRequest("invalid_grant", "Authorization code is invalid or expired, or the redirect_uri differs")
	}
	return code, err
}

// spendRefresh marks a refresh token as used. A refresh token can be used only once.
func (n *Network) spendRefresh(r *http.Request, t store.Tx) (store.Token, error) {
	text := r.Form.Get("refresh_token")
	refresh, ok, err := n.Find(r.Context(), t, oauth.KindRefresh, text)
	if err != nil {
		return store.Token{}, err
	}
	if !ok || refresh.Client != r.Form.Get("client_id") {
		return store.Token{}, badRequest("invalid_grant", "Refresh token is invalid or expired")
	}
	return refresh, t.ConsumeToken(r.Context(), Name, n.Hash(text))
}

// newTokens issues an access token and a refresh token, and returns the response that contains them.
func (n *Network) newTokens(ctx context.Context, t store.Tx, token store.Token) (map[string]any, error) {
	token.Kind, token.Redirect, token.Challenge = oauth.KindAccess, "", ""
	access, err := n.Issue(ctx, t, token, accessLifetime)
	if err != nil {
		return nil, err
	}
	token.Kind = oauth.KindRefresh
	refresh, err := n.Issue(ctx, t, token, refreshLifetime)
	if err != nil {
		return nil, err
	}
	scopes, err := t.Scopes(ctx, Name, token.Session)
	return map[string]any{
		"open_id": token.Account, "scope": strings.Join(scopes, ","), "token_type": "Bearer",
		"access_token": access, "expires_in": int64(accessLifetime / time.Second),
		"refresh_token": refresh, "refresh_expires_in": int64(refreshLifetime / time.Second),
	}, err
}

// caller contains the account, the session and the app of a request.
type caller struct {
	store.Account

	session, client string
}

// authenticate returns the caller of a request. The token must have at least one of the scopes.
func (n *Network) authenticate(r *http.Request, t store.Tx, scopes ...string) (caller, error) {
	ctx := r.Context()
	token, ok, err := n.Find(ctx, t, oauth.KindAccess, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	if err != nil {
		return caller{}, err
	}
	a, found, err := t.Account(ctx, Name, token.Account)
	if err != nil {
		return caller{}, err
	}
	if !ok || !found {
		return caller{}, errToken
	}
	granted, err := t.Scopes(ctx, Name, token.Session)
	if err == nil && !slices.ContainsFunc(scopes, func(scope string) bool { return slices.Contains(granted, scope) }) {
		err = &apiError{
			http.StatusUnauthorized, "scope_not_authorized",
			"The user did not authorize the scope required for completing this request.",
		}
	}
	return caller{a, token.Session, token.Client}, err
}

// userInfo returns the requested fields of the caller's account.
func (n *Network) userInfo(r *http.Request) (any, error) {
	fields := strings.Split(r.Form.Get("fields"), ",")
	var a caller
	err := n.Store.InTx(r.Context(), func(t store.Tx) error {
		var err error
		a, err = n.authenticateFields(r, t, fields)
		return err
	})
	values := map[string]any{
		"open_id": a.ID, "username": a.Handle, "display_name": a.DisplayName,
		"follower_count": insights.Followers(Name, a.ID, n.Now()), "avatar_url": n.PictureURL(r, a.DisplayName),
	}
	return map[string]any{"user": pickFields(fields, values)}, err
}

// revoke ends all sessions of the account of an access token.
func (n *Network) revoke(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := base.WorkContext(r)
	defer cancel()
	r = r.WithContext(ctx)
	err := readTokenForm(w, r)
	if err == nil {
		err = n.Store.InTx(ctx, func(t store.Tx) error {
			token, ok, err := n.Find(ctx, t, oauth.KindAccess, r.Form.Get("token"))
			if err != nil {
				return err
			}
			if !ok {
				return badRequest("invalid_grant", "The access token is invalid or expired")
			}
			return t.EndSessions(ctx, Name, token.Account)
		})
	}
	n.write(w, r, map[string]any{}, err, oauthError)
}
