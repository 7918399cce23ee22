package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"net/http"
	"slices"
	"strings"
	"time"
)

const tiktokName = "tiktok"

// tiktok is the part of TikTok's API that publishes: the consent and its tokens, uploads of videos, photos that are
// fetched, and the status of posts. It accepts every app and any secret, and every domain is verified. The Research API
// shows the public world to any app.
type tiktok struct {
	*oauth

	client *http.Client // for fetching photos
}

func newTikTok(s *shared) *tiktok {
	return &tiktok{
		oauth: &oauth{shared: s, platform: tiktokName, displayName: "TikTok"},
		client: &http.Client{Timeout: fetchTimeout, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}},
	}
}

func (n *tiktok) settle(ctx context.Context) error { return n.people(ctx, tiktokID) }

// tiktokID returns an account's id, which is the same in every sandbox.
func tiktokID(handle string) string {
	sum := sha256.Sum256([]byte("sandbox tiktok account " + handle))
	return "-000" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:20]))
}

// handler serves the API, the upload server, the consent page, and redirects from posts to the sandbox's page.
func (n *tiktok) handler() http.Handler {
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
		"POST /v2/post/publish/content/init/{$}":       n.postPhotos,
		"POST /v2/post/publish/status/fetch/{$}":       n.fetchStatus,
		"POST /v2/video/list/{$}":                      n.listVideos,
		"POST /v2/research/user/info/{$}":              n.researchUser,
		"POST /v2/research/video/query/{$}":            n.researchVideos,
		"GET /media/{account}/{cid}":                   n.mediaFile(tiktokName, errTikTokNoFile),
		"/":                                            n.nowhere,
	} {
		mux.HandleFunc(pattern, n.api(do))
	}
	mux.HandleFunc("GET /web/{handle}/{form}/{id}", n.toPage)
	return mux
}

// consent is the consent page, where an app is identified by its client_key.
func (n *tiktok) consent(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := r.ParseForm(); err != nil {
		http.Error(w, "The form cannot be read.", http.StatusBadRequest)
		return
	}
	if key := r.Form.Get("client_key"); key != "" {
		r.Form.Set("client_id", key)
	}
	n.authorize(w, r)
}

const (
	tiktokRefresh     = "refresh"
	tiktokAccessLife  = 2 * time.Hour
	tiktokRefreshLife = 180 * 24 * time.Hour
)

// token is the token endpoint, with the refusals of RFC 6749.
func (n *tiktok) token(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := work(r)
	defer cancel()
	r = r.WithContext(ctx)
	answer, err := n.grant(w, r)
	w.Header().Set("Cache-Control", "no-store")
	n.write(w, r, answer, err, tiktokOAuthRefusal)
}

func (n *tiktok) grant(w http.ResponseWriter, r *http.Request) (any, error) {
	err := bufferBody(w, r)
	if err == nil {
		err = r.ParseForm()
	}
	r.Form.Set("client_id", r.Form.Get("client_key"))
	switch {
	case err != nil:
		return nil, tiktokBadRequest("invalid_request", "The request cannot be read")
	case r.Form.Get("client_key") == "" || r.Form.Get("client_secret") == "":
		return nil, tiktokBadRequest("invalid_client", "client_key and client_secret are required")
	}
	var spend func(tx) (oauthToken, error)
	switch r.Form.Get("grant_type") {
	case "authorization_code":
		spend = func(t tx) (oauthToken, error) { return n.spendCode(r, t) }
	case "refresh_token":
		spend = func(t tx) (oauthToken, error) { return n.spendRefresh(r, t) }
	case "client_credentials":
		return n.clientToken(r)
	default:
		return nil, tiktokBadRequest("unsupported_grant_type",
			"grant_type has to be authorization_code, refresh_token or client_credentials")
	}
	var answer map[string]any
	err = n.store.in(r.Context(), func(t tx) error {
		spent, err := spend(t)
		if err != nil {
			return err
		}
		answer, err = n.pair(r.Context(), t, spent)
		return err
	})
	return answer, err
}

func (n *tiktok) spendCode(r *http.Request, t tx) (oauthToken, error) {
	code, good, err := n.redeem(r.Context(), t, r.Form)
	if err == nil && !good {
		err = tiktokBadRequest("invalid_grant", "Authorization code is invalid or expired, or of another redirect_uri")
	}
	return code, err
}

// spendRefresh spends a refresh token, which can be used once.
func (n *tiktok) spendRefresh(r *http.Request, t tx) (oauthToken, error) {
	text := r.Form.Get("refresh_token")
	old, good, err := n.find(r.Context(), t, tiktokRefresh, text)
	if err != nil {
		return oauthToken{}, err
	}
	if !good || old.client != r.Form.Get("client_id") {
		return oauthToken{}, tiktokBadRequest("invalid_grant", "Refresh token is invalid or expired")
	}
	return old, t.spendOAuthToken(r.Context(), tiktokName, n.seal(text))
}

// pair returns the answer with a new access token and refresh token.
func (n *tiktok) pair(ctx context.Context, t tx, of oauthToken) (map[string]any, error) {
	of.kind, of.redirect, of.challenge = kindAccess, "", ""
	access, err := n.issue(ctx, t, of, tiktokAccessLife)
	if err != nil {
		return nil, err
	}
	of.kind = tiktokRefresh
	refresh, err := n.issue(ctx, t, of, tiktokRefreshLife)
	if err != nil {
		return nil, err
	}
	scopes, err := t.scopes(ctx, tiktokName, of.session)
	return map[string]any{
		"open_id": of.account, "scope": strings.Join(scopes, ","), "token_type": "Bearer",
		"access_token": access, "expires_in": int64(tiktokAccessLife / time.Second),
		"refresh_token": refresh, "refresh_expires_in": int64(tiktokRefreshLife / time.Second),
	}, err
}

// tiktokCaller is the account and the session of a request.
type tiktokCaller struct {
	account

	session string
}

// caller returns the caller of a request, whose token must have the scope.
func (n *tiktok) caller(r *http.Request, t tx, scope string) (tiktokCaller, error) {
	ctx := r.Context()
	token, good, err := n.find(ctx, t, kindAccess, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	if err != nil {
		return tiktokCaller{}, err
	}
	a, found, err := t.account(ctx, tiktokName, token.account)
	if err != nil {
		return tiktokCaller{}, err
	}
	if !good || !found {
		return tiktokCaller{}, errTikTokToken
	}
	scopes, err := t.scopes(ctx, tiktokName, token.session)
	if err == nil && !slices.Contains(scopes, scope) {
		err = &tiktokError{
			http.StatusUnauthorized, "scope_not_authorized",
			"The user did not authorize the scope required for completing this request.",
		}
	}
	return tiktokCaller{a, token.session}, err
}

// userInfo returns the requested fields of the caller's account.
func (n *tiktok) userInfo(r *http.Request) (any, error) {
	fields := strings.Split(r.Form.Get("fields"), ",")
	var a tiktokCaller
	err := n.store.in(r.Context(), func(t tx) error {
		var err error
		a, err = n.callerFor(r, t, fields)
		return err
	})
	all := map[string]any{
		"open_id": a.id, "username": a.handle, "display_name": a.displayName,
		"follower_count": followers(tiktokName, a.id, n.now()),
	}
	return map[string]any{"user": tiktokPick(fields, all)}, err
}

// revoke ends the account's sessions, by an access token. Its answer is empty.
func (n *tiktok) revoke(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := work(r)
	defer cancel()
	r = r.WithContext(ctx)
	err := bufferBody(w, r)
	if err == nil {
		err = r.ParseForm()
	}
	switch {
	case err != nil:
		err = tiktokBadRequest("invalid_request", "The request cannot be read")
	case r.Form.Get("client_key") == "" || r.Form.Get("client_secret") == "":
		err = tiktokBadRequest("invalid_client", "client_key and client_secret are required")
	default:
		err = n.store.in(ctx, func(t tx) error {
			token, good, err := n.find(ctx, t, kindAccess, r.Form.Get("token"))
			if err != nil {
				return err
			}
			if !good {
				return tiktokBadRequest("invalid_grant", "The access token is invalid or expired")
			}
			return t.killSessionsOf(ctx, tiktokName, token.account)
		})
	}
	n.write(w, r, map[string]any{}, err, tiktokOAuthRefusal)
}
