// Package youtube simulates YouTube.
package youtube

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/oauth"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// Name is the network's name in URLs.
const Name = "youtube"

const (
	accessLifetime  = time.Hour
	refreshLifetime = 180 * 24 * time.Hour // lifetime of a refresh token after its last use
	testingLifetime = 7 * 24 * time.Hour   // lifetime of a refresh token after the consent, for an app in testing

	// testingClient is part of the ID of an app whose consent screen has the status "Testing".
	testingClient = "-testing"

	scopeAll    = "https://www.googleapis.com/auth/youtube" // includes the other scopes
	scopeUpload = scopeAll + ".upload"
	scopeRead   = scopeAll + ".readonly"
	scopeEdit   = scopeAll + ".force-ssl"
)

// Network is the part of Google's sign-in and the YouTube Data API that pressroom uses. It covers OAuth consent and
// tokens, upload sessions, thumbnails, and lists of channels, playlists and videos. It accepts every app. Each account
// has one channel with one playlist. Videos of an app whose ID ends in "-unaudited" remain private. The refresh tokens
// of an app whose ID contains "-testing" expire after seven days.
type Network struct{ *oauth.Provider }

// New returns the network of the sandbox s.
func New(s *base.Server) *Network {
	return &Network{&oauth.Provider{Server: s, Platform: Name, DisplayName: "YouTube"}}
}

// Init creates the initial accounts.
func (n *Network) Init(ctx context.Context) error { return n.AddPeople(ctx, ChannelID) }

// ChannelID returns the ID of a channel. A handle has the same ID in every sandbox.
func ChannelID(handle string) string { return "UC" + stableID("channel "+handle, 22) }

// UploadsID returns the ID of a channel's uploads playlist.
func UploadsID(channel string) string { return "UU" + strings.TrimPrefix(channel, "UC") }

// stableID returns an ID of the given length. A name has the same ID in every sandbox.
func stableID(name string, length int) string {
	sum := sha256.Sum256([]byte("sandbox youtube " + name))
	return base64.RawURLEncoding.EncodeToString(sum[:])[:length]
}

// Handler returns the handler of the API, the consent page, and the redirects from videos to the sandbox's page.
func (n *Network) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /o/oauth2/v2/auth", n.Authorize)
	mux.HandleFunc("POST /o/oauth2/v2/auth", n.Authorize)
	for pattern, do := range map[string]func(*http.Request) (any, error){
		"POST /token":                     n.grantToken,
		"POST /revoke":                    n.revoke,
		"GET /youtube/v3/channels":        n.listChannels,
		"GET /youtube/v3/playlistItems":   n.listPlaylist,
		"POST /youtube/v3/playlistItems":  n.addToPlaylist,
		"POST /youtube/v3/commentThreads": n.insertComment,
		"GET /youtube/v3/commentThreads":  n.listComments,
		"GET /youtube/v3/videos":          n.listVideos,
		"GET /v2/reports":                 n.report,
		"POST /upload/youtube/v3/videos":  n.beginUpload,

		"GET /media/{account}/{cid}": n.MediaFile(Name, errNoFile),
		"/":                          n.notFound,
	} {
		mux.HandleFunc(pattern, n.handle(do))
	}
	mux.HandleFunc("PUT /upload/youtube/v3/videos", n.upload)
	mux.HandleFunc("POST /upload/youtube/v3/thumbnails/set", n.setThumbnail)
	mux.HandleFunc("GET /web/watch", func(w http.ResponseWriter, r *http.Request) {
		n.RedirectToPost(w, r, Name, r.FormValue("v"))
	})
	return mux
}

// grantToken exchanges a code for tokens, or a refresh token for another access token.
func (n *Network) grantToken(r *http.Request) (any, error) {
	if r.PostForm.Get("client_id") == "" || r.PostForm.Get("client_secret") == "" {
		return nil, &tokenError{http.StatusUnauthorized, "invalid_client", "The OAuth client was not found."}
	}
	if base.IsWrongSecret(r.PostForm.Get("client_secret")) {
		return nil, &tokenError{http.StatusUnauthorized, "invalid_client", "The provided client secret is invalid."}
	}
	exchange := map[string]func(context.Context, store.Tx, url.Values) (map[string]any, error){
		"authorization_code": n.exchangeCode, "refresh_token": n.exchangeRefresh,
	}[r.PostForm.Get("grant_type")]
	if exchange == nil {
		return nil, &tokenError{http.StatusBadRequest, "unsupported_grant_type", "Invalid grant_type"}
	}
	var response map[string]any
	err := n.Store.InTx(r.Context(), func(t store.Tx) error {
		var err error
		response, err = exchange(r.Context(), t, r.PostForm)
		return err
	})
	return response, err
}

func (n *Network) exchangeCode(ctx context.Context, t store.Tx, form url.Values) (map[string]any, error) {
	code, ok, err := n.Redeem(ctx, t, form)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, &tokenError{http.StatusBadRequest, "invalid_grant", "Malformed auth code."}
	}
	code.Redirect, code.Challenge = "", ""
	response, err := n.accessToken(ctx, t, code)
	if err != nil {
		return nil, err
	}
	code.Kind = oauth.KindRefresh
	lifetime := refreshLifetime
	if strings.Contains(code.Client, testingClient) {
		lifetime = testingLifetime
	}
	response["refresh_token"], err = n.Issue(ctx, t, code, lifetime)
	return response, err
}

func (n *Network) exchangeRefresh(ctx context.Context, t store.Tx, form url.Values) (map[string]any, error) {
	text := form.Get("refresh_token")
	refresh, ok, err := n.Find(ctx, t, oauth.KindRefresh, text)
	if err != nil {
		return nil, err
	}
	if !ok || refresh.Client != form.Get("client_id") {
		return nil, &tokenError{http.StatusBadRequest, "invalid_grant", "Token has been expired or revoked."}
	}
	if strings.Contains(refresh.Client, testingClient) {
		return n.accessToken(ctx, t, refresh)
	}
	if err := extendToken(ctx, t, n.Hash(text), n.Now().Add(refreshLifetime)); err != nil {
		return nil, err
	}
	return n.accessToken(ctx, t, refresh)
}

// accessToken issues an access token for the session of a code or a refresh token, and returns the response that
// contains it.
func (n *Network) accessToken(ctx context.Context, t store.Tx, token store.Token) (map[string]any, error) {
	token.Kind = oauth.KindAccess
	scopes, err := t.Scopes(ctx, Name, token.Session)
	if err != nil {
		return nil, err
	}
	text, err := n.Issue(ctx, t, token, accessLifetime)
	return map[string]any{
		"access_token": text, "token_type": "Bearer", "expires_in": int64(accessLifetime / time.Second),
		"scope": strings.Join(scopes, " "),
	}, err
}

// authenticate returns the account of the request's token, which must have the scope.
func (n *Network) authenticate(r *http.Request, t store.Tx, scope string) (store.Account, store.Token, error) {
	text := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	token, ok, err := n.Find(r.Context(), t, oauth.KindAccess, text)
	if err != nil {
		return store.Account{}, token, err
	}
	if !ok {
		return store.Account{}, token, errToken
	}
	scopes, err := t.Scopes(r.Context(), Name, token.Session)
	if err != nil {
		return store.Account{}, token, err
	}
	if !slices.Contains(scopes, scope) && !slices.Contains(scopes, scopeAll) {
		return store.Account{}, token, errScope
	}
	a, found, err := t.Account(r.Context(), Name, token.Account)
	if err == nil && !found {
		err = errToken
	}
	return a, token, err
}

// revoke ends all sessions of the account of an access token or a refresh token.
func (n *Network) revoke(r *http.Request) (any, error) {
	err := n.Store.InTx(r.Context(), func(t store.Tx) error {
		token, ok, err := n.FindAny(r.Context(), t, r.PostForm.Get("token"))
		if err == nil && !ok {
			err = &tokenError{http.StatusBadRequest, "invalid_token", "Token expired or revoked"}
		}
		if err != nil {
			return err
		}
		return t.EndSessions(r.Context(), Name, token.Account)
	})
	return map[string]any{}, err
}
