package sandbox

import (
	"net/http"
)

// takeBack takes from the app what a person allowed, by that person's token.
func (n *graphAPI) takeBack(r *http.Request) (any, error) {
	err := n.caller(r, func(t tx, a account, _ oauthToken) error {
		if person := r.PathValue("person"); person != "me" && person != facebookPersonID(a.handle) {
			return errNoObject
		}
		return t.killSessionsOf(r.Context(), n.platform, a.id)
	})
	return map[string]any{"success": true}, err
}

// facebookMe is who has signed in by Facebook Login.
func (n *instagram) facebookMe(r *http.Request) (any, error) {
	var answer map[string]any
	err := n.caller(r, func(_ tx, a account, _ oauthToken) error {
		answer = map[string]any{"id": facebookPersonID(a.handle), "name": a.displayName}
		return nil
	})
	return answer, err
}

// revoke takes back what a channel's owner allowed, by either token.
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

// revoke takes back what somebody allowed, by an access token; the answer is empty.
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
	n.write(w, r, map[string]any{}, err, func(refused *tiktokError) any {
		return map[string]any{"error": refused.code, "error_description": refused.message, "log_id": newID()}
	})
}

// revoke ends one token of an app. What is over already is refused.
func (n *xREST) revoke(r *http.Request) (any, error) {
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
