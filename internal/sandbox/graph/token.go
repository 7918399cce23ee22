package graph

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/oauth"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// ExchangeCode exchanges a code for a short-lived token.
func (api *API) ExchangeCode(r *http.Request) (any, error) {
	if r.Form.Get("client_secret") == "" || r.Form.Get("grant_type") != "authorization_code" {
		return nil, InvalidParameter("client_secret and grant_type are required")
	}
	return api.RedeemCode(r, nil)
}

// RedeemCode exchanges a code for a short-lived token. extend adds members to the response. It may be nil.
func (api *API) RedeemCode(
	r *http.Request, extend func(t store.Tx, code store.Token, response map[string]any) error,
) (map[string]any, error) {
	var response map[string]any
	err := api.Store.InTx(r.Context(), func(t store.Tx) error {
		code, ok, err := api.Redeem(r.Context(), t, r.Form)
		if err != nil {
			return err
		}
		if !ok {
			return InvalidParameter("The verification code is invalid or has been used, or the redirect_uri differs")
		}
		response, err = api.newToken(r.Context(), t, code, ShortLifetime)
		if err == nil && extend != nil {
			err = extend(t, code, response)
		}
		return err
	})
	return response, err
}

// newToken issues an access token for the session of a code or token, and returns the response that contains it.
func (api *API) newToken(
	ctx context.Context, t store.Tx, token store.Token, lifetime time.Duration,
) (map[string]any, error) {
	token.Kind, token.Redirect, token.Challenge = oauth.KindAccess, "", ""
	text, err := api.Issue(ctx, t, token, lifetime)
	return map[string]any{"access_token": text, "token_type": "bearer", "expires_in": int64(lifetime / time.Second)}, err
}

// ExchangeToken exchanges a token for a long-lived token.
func (api *API) ExchangeToken(r *http.Request) (any, error) {
	if r.Form.Get("grant_type") != api.grantPrefix+"_exchange_token" || r.Form.Get("client_secret") == "" {
		return nil, InvalidParameter("client_secret and grant_type are required")
	}
	return api.exchange(r, 0)
}

// RefreshToken exchanges a long-lived token for a new token.
func (api *API) RefreshToken(r *http.Request) (any, error) {
	if r.Form.Get("grant_type") != api.grantPrefix+"_refresh_token" {
		return nil, InvalidParameter("grant_type must be " + api.grantPrefix + "_refresh_token")
	}
	return api.exchange(r, minRefreshAge)
}

// GrantToken serves the token endpoint of Facebook Login. It exchanges a code for a token, exchanges a token for a
// long-lived token, or returns an app access token.
func (api *API) GrantToken(r *http.Request) (any, error) {
	if r.Form.Get("client_secret") == "" || r.Form.Get("client_id") == "" {
		return nil, InvalidParameter("client_id and client_secret are required")
	}
	switch r.Form.Get("grant_type") {
	case "client_credentials":
		return api.AppToken(r)
	case "fb_exchange_token":
	default:
		return api.RedeemCode(r, nil)
	}
	r.Form.Set("access_token", r.Form.Get("fb_exchange_token"))
	return api.exchange(r, 0)
}

// Permissions lists the permissions that the caller granted.
func (api *API) Permissions(r *http.Request) (any, error) {
	data := []map[string]any{}
	err := api.AsCaller(r, func(t store.Tx, _ store.Account, token store.Token) error {
		scopes, err := t.Scopes(r.Context(), api.Platform, token.Session)
		for _, scope := range scopes {
			data = append(data, map[string]any{"permission": scope, "status": "granted"})
		}
		return err
	})
	return map[string]any{"data": data}, err
}

// exchange exchanges the caller's token for a long-lived token. The old token must be at least minAge old. It remains
// valid.
func (api *API) exchange(r *http.Request, minAge time.Duration) (any, error) {
	var response map[string]any
	err := api.AsCaller(r, func(t store.Tx, _ store.Account, token store.Token) error {
		if api.Now().Sub(token.IssuedAt) < minAge {
			return InvalidParameter("The token must be older to be refreshed")
		}
		var err error
		response, err = api.newToken(r.Context(), t, token, longLifetime)
		return err
	})
	return response, err
}

// AsCaller calls do in a transaction, with the account of the request's token. It returns an error if the path contains
// the ID of another account.
func (api *API) AsCaller(r *http.Request, do func(store.Tx, store.Account, store.Token) error) error {
	return api.Store.InTx(r.Context(), func(t store.Tx) error {
		a, token, err := api.Authenticate(r, t)
		if err != nil {
			return err
		}
		if user := r.PathValue("user"); user != "" && user != "me" && user != a.ID {
			return ErrNoObject
		}
		return do(t, a, token)
	})
}

// Authenticate returns the account of the request's token.
func (api *API) Authenticate(r *http.Request, t store.Tx) (store.Account, store.Token, error) {
	text := r.Form.Get("access_token")
	if text == "" {
		text = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	token, ok, err := api.Find(r.Context(), t, oauth.KindAccess, text)
	switch {
	case err != nil:
		return store.Account{}, token, err
	case token.Kind == "":
		return store.Account{}, token, &Error{
			Status: http.StatusBadRequest, Code: 190, Message: "Invalid OAuth access token - Cannot parse access token",
		}
	case !ok:
		return store.Account{}, token, ErrSessionExpired
	}
	if err := CheckProof(r, token); err != nil {
		return store.Account{}, token, err
	}
	a, found, err := t.Account(r.Context(), api.Platform, token.Account)
	if err == nil && !found {
		err = ErrSessionExpired
	}
	return a, token, err
}

// strictClient is the suffix of the ID of an app that requires a proof of its secret.
const strictClient = "-require-app-secret"

var proofPattern = regexp.MustCompile(`^[0-9a-f]{64}$`)

// CheckProof returns an error if the app requires a proof of its secret, but the call contains neither the secret nor a
// proof. The sandbox does not know the secret, so it checks only the format of the proof.
func CheckProof(r *http.Request, token store.Token) error {
	isProven := r.Form.Has("client_secret") || proofPattern.MatchString(r.Form.Get("appsecret_proof"))
	if strings.HasSuffix(token.Client, strictClient) && !isProven {
		return InvalidParameter("API calls from the server require an appsecret_proof argument")
	}
	return nil
}

// RevokePermissions revokes all permissions that the caller granted.
func (api *API) RevokePermissions(r *http.Request) (any, error) {
	err := api.AsCaller(r, func(t store.Tx, a store.Account, _ store.Token) error {
		if person := r.PathValue("person"); person != "me" && person != PersonID(a.Handle) {
			return ErrNoObject
		}
		return t.EndSessions(r.Context(), api.Platform, a.ID)
	})
	return map[string]any{"success": true}, err
}

// PersonID returns the ID of a person in Facebook Login. It is different from the IDs of the person's Page and account.
func PersonID(handle string) string { return base.StableID("11", "facebook person "+handle) }
