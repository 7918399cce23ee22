package sandbox

import (
	"context"
	"net/http"
	"strings"
	"time"
)

func (n *graphAPI) exchangeCode(r *http.Request) (any, error) {
	if r.Form.Get("client_secret") == "" || r.Form.Get("grant_type") != "authorization_code" {
		return nil, invalidParameter("client_secret and grant_type are required")
	}
	return n.redeemed(r, nil)
}

// redeemed exchanges a code for a token of one hour. If extend is not nil, it adds to the answer.
func (n *graphAPI) redeemed(
	r *http.Request, extend func(t tx, code oauthToken, answer map[string]any) error,
) (map[string]any, error) {
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
		if err == nil && extend != nil {
			err = extend(t, code, answer)
		}
		return err
	})
	return answer, err
}

// token returns the answer with a new token of a session.
func (n *graphAPI) token(ctx context.Context, t tx, of oauthToken, life time.Duration) (map[string]any, error) {
	of.kind, of.redirect, of.challenge = kindAccess, "", ""
	text, err := n.issue(ctx, t, of, life)
	return map[string]any{"access_token": text, "token_type": "bearer", "expires_in": int64(life / time.Second)}, err
}

func (n *graphAPI) exchangeToken(r *http.Request) (any, error) {
	if r.Form.Get("grant_type") != n.grants+"_exchange_token" || r.Form.Get("client_secret") == "" {
		return nil, invalidParameter("client_secret and grant_type are required")
	}
	return n.trade(r, 0)
}

func (n *graphAPI) refreshToken(r *http.Request) (any, error) {
	if r.Form.Get("grant_type") != n.grants+"_refresh_token" {
		return nil, invalidParameter("grant_type has to be " + n.grants + "_refresh_token")
	}
	return n.trade(r, renewAge)
}

// giveToken exchanges a code of Facebook Login, or a person's token for one of sixty days.
func (n *graphAPI) giveToken(r *http.Request) (any, error) {
	if r.Form.Get("client_secret") == "" || r.Form.Get("client_id") == "" {
		return nil, invalidParameter("client_id and client_secret are required")
	}
	if r.Form.Get("grant_type") != "fb_exchange_token" {
		return n.redeemed(r, nil)
	}
	r.Form.Set("access_token", r.Form.Get("fb_exchange_token"))
	return n.trade(r, 0)
}

// permissions lists what a person allowed.
func (n *graphAPI) permissions(r *http.Request) (any, error) {
	data := []map[string]any{}
	err := n.caller(r, func(t tx, _ account, token oauthToken) error {
		allowed, err := t.scopes(r.Context(), n.platform, token.session)
		for _, scope := range allowed {
			data = append(data, map[string]any{"permission": scope, "status": "granted"})
		}
		return err
	})
	return map[string]any{"data": data}, err
}

// trade exchanges a token of a minimum age for one of sixty days. The old one keeps its lifetime.
func (n *graphAPI) trade(r *http.Request, age time.Duration) (any, error) {
	var answer map[string]any
	err := n.caller(r, func(t tx, _ account, old oauthToken) error {
		if n.now().Sub(old.issued) < age {
			return invalidParameter("The token is too young to be renewed")
		}
		var err error
		answer, err = n.token(r.Context(), t, old, longLife)
		return err
	})
	return answer, err
}

// caller calls do in a transaction with the account of the request's token. It refuses a path that names another
// account.
func (n *graphAPI) caller(r *http.Request, do func(tx, account, oauthToken) error) error {
	return n.store.in(r.Context(), func(t tx) error {
		a, token, err := n.bearer(r, t)
		if err != nil {
			return err
		}
		if user := r.PathValue("user"); user != "" && user != "me" && user != a.id {
			return errNoObject
		}
		return do(t, a, token)
	})
}

// bearer returns the account of the request's token.
func (n *graphAPI) bearer(r *http.Request, t tx) (account, oauthToken, error) {
	text := r.Form.Get("access_token")
	if text == "" {
		text = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	token, good, err := n.find(r.Context(), t, kindAccess, text)
	switch {
	case err != nil:
		return account{}, token, err
	case token.kind == "":
		return account{}, token, &graphError{
			status: http.StatusBadRequest, code: 190, message: "Invalid OAuth access token - Cannot parse access token",
		}
	case !good:
		return account{}, token, errSessionExpired
	}
	a, found, err := t.account(r.Context(), n.platform, token.account)
	if err == nil && !found {
		err = errSessionExpired
	}
	return a, token, err
}

// takeBack revokes the permissions of the person whose token the request has.
func (n *graphAPI) takeBack(r *http.Request) (any, error) {
	err := n.caller(r, func(t tx, a account, _ oauthToken) error {
		if person := r.PathValue("person"); person != "me" && person != personID(a.handle) {
			return errNoObject
		}
		return t.killSessionsOf(r.Context(), n.platform, a.id)
	})
	return map[string]any{"success": true}, err
}

// personID returns the id of a person in Facebook Login, which differs from those of Pages and accounts.
func personID(handle string) string { return stableID("11", "facebook person "+handle) }
