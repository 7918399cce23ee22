package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	youtubeName = "youtube"

	youtubeAccessLife  = time.Hour
	youtubeRefreshLife = 180 * 24 * time.Hour // since its last use
	youtubeKindRefresh = "refresh"

	youtubeScope       = "https://www.googleapis.com/auth/youtube" // allows all
	youtubeScopeUpload = youtubeScope + ".upload"
	youtubeScopeRead   = youtubeScope + ".readonly"
)

// youtube is the part of Google's sign-in and of the YouTube Data API that publishes: the consent and its tokens,
// upload sessions, lists of channels and videos. It accepts every app and any secret, and everybody has one channel.
type youtube struct{ *oauth }

func newYouTube(s *shared) *youtube {
	return &youtube{&oauth{shared: s, platform: youtubeName, displayName: "YouTube"}}
}

func (n *youtube) settle(ctx context.Context) error { return n.people(ctx, youtubeChannel) }

// youtubeChannel returns a channel's id, which is the same in every sandbox.
func youtubeChannel(handle string) string { return "UC" + youtubeID("channel "+handle, 22) }

// youtubeUploads returns the id of the playlist of a channel's uploads.
func youtubeUploads(channel string) string { return "UU" + strings.TrimPrefix(channel, "UC") }

// youtubeID returns an id of a length that is the same in every sandbox.
func youtubeID(of string, length int) string {
	sum := sha256.Sum256([]byte("sandbox youtube " + of))
	return base64.RawURLEncoding.EncodeToString(sum[:])[:length]
}

// handler serves the API, the consent page, and redirects from videos to the sandbox's page.
func (n *youtube) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /o/oauth2/v2/auth", n.authorize)
	mux.HandleFunc("POST /o/oauth2/v2/auth", n.authorize)
	for pattern, do := range map[string]func(*http.Request) (any, error){
		"POST /token":                    n.token,
		"POST /revoke":                   n.revoke,
		"GET /youtube/v3/channels":       n.listChannels,
		"GET /youtube/v3/playlistItems":  n.listUploads,
		"GET /youtube/v3/videos":         n.listVideos,
		"GET /v2/reports":                n.report,
		"POST /upload/youtube/v3/videos": n.beginUpload,
		"GET /media/{account}/{cid}":     n.mediaFile(youtubeName, errYouTubeNoFile),
		"/":                              n.nowhere,
	} {
		mux.HandleFunc(pattern, n.google(do))
	}
	mux.HandleFunc("PUT /upload/youtube/v3/videos", n.upload)
	mux.HandleFunc("GET /web/watch", func(w http.ResponseWriter, r *http.Request) {
		n.redirectToPost(w, r, youtubeName, r.FormValue("v"))
	})
	return mux
}

// token exchanges a code for tokens, or a refresh token for another access token.
func (n *youtube) token(r *http.Request) (any, error) {
	if r.PostForm.Get("client_id") == "" || r.PostForm.Get("client_secret") == "" {
		return nil, &youtubeTokenError{http.StatusUnauthorized, "invalid_client", "The OAuth client was not found."}
	}
	trade := map[string]func(context.Context, tx, url.Values) (map[string]any, error){
		"authorization_code": n.tradeCode, "refresh_token": n.tradeRefresh,
	}[r.PostForm.Get("grant_type")]
	if trade == nil {
		return nil, &youtubeTokenError{http.StatusBadRequest, "unsupported_grant_type", "Invalid grant_type"}
	}
	var answer map[string]any
	err := n.store.in(r.Context(), func(t tx) error {
		var err error
		answer, err = trade(r.Context(), t, r.PostForm)
		return err
	})
	return answer, err
}

func (n *youtube) tradeCode(ctx context.Context, t tx, form url.Values) (map[string]any, error) {
	code, good, err := n.redeem(ctx, t, form)
	if err != nil {
		return nil, err
	}
	if !good {
		return nil, &youtubeTokenError{http.StatusBadRequest, "invalid_grant", "Malformed auth code."}
	}
	code.redirect, code.challenge = "", ""
	answer, err := n.access(ctx, t, code)
	if err != nil {
		return nil, err
	}
	code.kind = youtubeKindRefresh
	answer["refresh_token"], err = n.issue(ctx, t, code, youtubeRefreshLife)
	return answer, err
}

func (n *youtube) tradeRefresh(ctx context.Context, t tx, form url.Values) (map[string]any, error) {
	text := form.Get("refresh_token")
	refresh, good, err := n.find(ctx, t, youtubeKindRefresh, text)
	if err != nil {
		return nil, err
	}
	if !good || refresh.client != form.Get("client_id") {
		return nil, &youtubeTokenError{http.StatusBadRequest, "invalid_grant", "Token has been expired or revoked."}
	}
	if err := extendYouTubeToken(ctx, t, n.seal(text), n.now().Add(youtubeRefreshLife)); err != nil {
		return nil, err
	}
	return n.access(ctx, t, refresh)
}

// access returns the answer with a new access token of a session.
func (n *youtube) access(ctx context.Context, t tx, of oauthToken) (map[string]any, error) {
	of.kind = kindAccess
	scopes, err := t.scopes(ctx, youtubeName, of.session)
	if err != nil {
		return nil, err
	}
	text, err := n.issue(ctx, t, of, youtubeAccessLife)
	return map[string]any{
		"access_token": text, "token_type": "Bearer", "expires_in": int64(youtubeAccessLife / time.Second),
		"scope": strings.Join(scopes, " "),
	}, err
}

// bearer returns the account of the request's token, which must allow the scope.
func (n *youtube) bearer(r *http.Request, t tx, scope string) (account, oauthToken, error) {
	token, good, err := n.find(r.Context(), t, kindAccess, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	if err != nil {
		return account{}, token, err
	}
	if !good {
		return account{}, token, errYouTubeToken
	}
	scopes, err := t.scopes(r.Context(), youtubeName, token.session)
	if err != nil {
		return account{}, token, err
	}
	if !slices.Contains(scopes, scope) && !slices.Contains(scopes, youtubeScope) {
		return account{}, token, errYouTubeScope
	}
	a, found, err := t.account(r.Context(), youtubeName, token.account)
	if err == nil && !found {
		err = errYouTubeToken
	}
	return a, token, err
}

// revoke ends the sessions of a channel's owner, by either token.
func (n *youtube) revoke(r *http.Request) (any, error) {
	err := n.store.in(r.Context(), func(t tx) error {
		for _, kind := range []string{youtubeKindRefresh, kindAccess} {
			token, good, err := n.find(r.Context(), t, kind, r.PostForm.Get("token"))
			if err != nil {
				return err
			}
			if good {
				return t.killSessionsOf(r.Context(), youtubeName, token.account)
			}
		}
		return &youtubeTokenError{http.StatusBadRequest, "invalid_token", "Token expired or revoked"}
	})
	return map[string]any{}, err
}
