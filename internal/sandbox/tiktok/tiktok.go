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

// Name is the network's name in addresses.
const Name = "tiktok"

// Network is the part of TikTok's API that publishes: the consent and its tokens, uploads of videos, photos that are
// fetched, and the status of posts. It accepts every app, with every domain, except that the key of an app can say that
// it lacks the audit or a verified domain. The Research API shows the public world to any app.
type Network struct {
	*oauth.Provider

	client *http.Client // for fetching photos
}

// New returns the network of a sandbox.
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

// accountID returns an account's ID, which is the same in every sandbox.
func accountID(handle string) string {
	sum := sha256.Sum256([]byte("sandbox tiktok account " + handle))
	return "-000" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:20]))
}

// Handler serves the API, the upload server, the consent page, and redirects from posts to the sandbox's page.
func (n *Network) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v2/auth/authorize/{$}", n.consent)
	mux.HandleFunc("POST /v2/auth/authorize/{$}", n.consent)
	mux.HandleFunc("POST /v2/oauth/token/{$}", n.token)
	mux.HandleFunc("POST /v2/oauth/revoke/{$}", n.revoke)
	mux.HandleFunc("PUT /upload/video/{$}", n.upload)
	for pattern, do := range map[string]func(*http.Request) (any, error){
		"GET /v2/user/info/{$}":                        n.userInfo,
		"POST /v2/post/publish/creator_info/query/{$}": n.creatorInfo,
		"POST /v2/post/publish/video/init/{$}":         n.beginVideo,
		"POST /v2/post/publish/inbox/video/init/{$}":   n.beginInboxVideo,
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
	mux.HandleFunc("GET /web/{handle}/{form}/{id}", n.ToPage)
	return mux
}

// consent is the consent page, where an app is identified by its client_key.
func (n *Network) consent(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, base.MaxBody)
	if err := r.ParseForm(); err != nil {
		http.Error(w, "The form cannot be read.", http.StatusBadRequest)
		return
	}
	if key := r.Form.Get("client_key"); key != "" {
		r.Form.Set("client_id", key)
	}
	n.Authorize(w, r)
}

const (
	kindRefresh     = "refresh"
	accessLifetime  = 2 * time.Hour
	refreshLifetime = 180 * 24 * time.Hour
)

// token is the token endpoint, with the refusals of RFC 6749.
func (n *Network) token(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := base.WorkContext(r)
	defer cancel()
	r = r.WithContext(ctx)
	answer, err := n.grant(w, r)
	w.Header().Set("Cache-Control", "no-store")
	n.write(w, r, answer, err, oauthRefusal)
}

func (n *Network) grant(w http.ResponseWriter, r *http.Request) (any, error) {
	err := base.BufferBody(w, r)
	if err == nil {
		err = r.ParseForm()
	}
	r.Form.Set("client_id", r.Form.Get("client_key"))
	switch {
	case err != nil:
		return nil, badRequest("invalid_request", "The request cannot be read")
	case r.Form.Get("client_key") == "" || r.Form.Get("client_secret") == "":
		return nil, badRequest("invalid_client", "client_key and client_secret are required")
	case base.IsWrongSecret(r.Form.Get("client_secret")):
		return nil, badRequest("invalid_client", "Client secret is incorrect")
	}
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
			"grant_type has to be authorization_code, refresh_token or client_credentials")
	}
	var answer map[string]any
	err = n.Store.InTx(r.Context(), func(t store.Tx) error {
		spent, err := spend(t)
		if err != nil {
			return err
		}
		answer, err = n.pair(r.Context(), t, spent)
		return err
	})
	return answer, err
}

func (n *Network) spendCode(r *http.Request, t store.Tx) (store.Token, error) {
	code, ok, err := n.Redeem(r.Context(), t, r.Form)
	if err == nil && !ok {
		err = badRequest("invalid_grant", "Authorization code is invalid or expired, or of another redirect_uri")
	}
	return code, err
}

// spendRefresh spends a refresh token, which can be used once.
func (n *Network) spendRefresh(r *http.Request, t store.Tx) (store.Token, error) {
	text := r.Form.Get("refresh_token")
	old, ok, err := n.Find(r.Context(), t, kindRefresh, text)
	if err != nil {
		return store.Token{}, err
	}
	if !ok || old.Client != r.Form.Get("client_id") {
		return store.Token{}, badRequest("invalid_grant", "Refresh token is invalid or expired")
	}
	return old, t.SpendToken(r.Context(), Name, n.Hash(text))
}

// pair returns the answer with a new access token and refresh token.
func (n *Network) pair(ctx context.Context, t store.Tx, of store.Token) (map[string]any, error) {
	of.Kind, of.Redirect, of.Challenge = oauth.KindAccess, "", ""
	access, err := n.Issue(ctx, t, of, accessLifetime)
	if err != nil {
		return nil, err
	}
	of.Kind = kindRefresh
	refresh, err := n.Issue(ctx, t, of, refreshLifetime)
	if err != nil {
		return nil, err
	}
	scopes, err := t.Scopes(ctx, Name, of.Session)
	return map[string]any{
		"open_id": of.Account, "scope": strings.Join(scopes, ","), "token_type": "Bearer",
		"access_token": access, "expires_in": int64(accessLifetime / time.Second),
		"refresh_token": refresh, "refresh_expires_in": int64(refreshLifetime / time.Second),
	}, err
}

// caller is the account and the session of a request.
type caller struct {
	store.Account

	session, client string
}

// authenticate returns the caller of a request, whose token must have one of the scopes.
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
	given, err := t.Scopes(ctx, Name, token.Session)
	if err == nil && !slices.ContainsFunc(scopes, func(scope string) bool { return slices.Contains(given, scope) }) {
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
		a, err = n.authenticateFor(r, t, fields)
		return err
	})
	all := map[string]any{
		"open_id": a.ID, "username": a.Handle, "display_name": a.DisplayName,
		"follower_count": insights.Followers(Name, a.ID, n.Now()), "avatar_url": n.PictureURL(r, a.DisplayName),
	}
	return map[string]any{"user": pickFields(fields, all)}, err
}

// revoke ends the account's sessions, by an access token. Its answer is empty.
func (n *Network) revoke(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := base.WorkContext(r)
	defer cancel()
	r = r.WithContext(ctx)
	err := base.BufferBody(w, r)
	if err == nil {
		err = r.ParseForm()
	}
	switch {
	case err != nil:
		err = badRequest("invalid_request", "The request cannot be read")
	case r.Form.Get("client_key") == "" || r.Form.Get("client_secret") == "":
		err = badRequest("invalid_client", "client_key and client_secret are required")
	default:
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
	n.write(w, r, map[string]any{}, err, oauthRefusal)
}
