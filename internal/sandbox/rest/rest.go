// Package rest implements the functions that the APIs of X and Pinterest share.
package rest

import (
	"net/http"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/marker"
	"pressroom.example/pressroom/internal/sandbox/oauth"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// API implements the functions that the APIs of X and Pinterest share: JSON responses, access tokens, single-use
// refresh tokens, and posts that are published with a single call. It accepts every app.
type API struct {
	*oauth.Provider

	CodeLifetime, AccessLifetime, RefreshLifetime time.Duration // lifetimes of codes and tokens
	Errors                                        Errors
	// Write writes the headers of a response. If the error is not nil, Write also writes the status and the error.
	Write func(http.ResponseWriter, *Error)
}

// Error is an error response.
type Error struct {
	Status  int
	Code    int    // only on Pinterest
	Kind    string // only on X: the last part of the problem type, or the error of the token endpoint
	Message string
}

func (e *Error) Error() string { return e.Message }

// Errors contains the errors that differ between networks.
type Errors struct{ Unreadable, NotFound, Unauthorized, InvalidGrant, Rejected, RateLimited, Internal *Error }

// Handle returns a handler that calls do and, on success, responds with the given status.
func (api *API) Handle(status int, do func(*http.Request) (any, error)) http.HandlerFunc {
	return api.HandleStream(status, func(w http.ResponseWriter, r *http.Request) (any, error) {
		if base.ReadForm(w, r) != nil {
			return nil, api.Errors.Unreadable
		}
		return do(r)
	})
}

// HandleStream is like Handle, but it does not read the body. do can therefore stream a body that is too large for
// memory.
func (api *API) HandleStream(status int, do func(http.ResponseWriter, *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := base.WorkContext(r)
		defer cancel()
		r = r.WithContext(ctx)
		result, err := do(w, r)
		reject := func(e *Error) { api.Write(w, e) }
		switch {
		case base.Respond(w, r, api.Platform, result, err, api.Errors.Internal, reject):
		case result == nil:
			w.WriteHeader(status)
		default:
			api.Write(w, nil)
			base.WriteJSON(w, status, result)
		}
	}
}

// NotFound returns the error for an unknown path.
func (api *API) NotFound(*http.Request) (any, error) { return nil, api.Errors.NotFound }

// Authenticate returns the account of the request's token.
func (api *API) Authenticate(r *http.Request, t store.Tx) (store.Account, store.Token, error) {
	text, isBearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !isBearer {
		return store.Account{}, store.Token{}, api.Errors.Unauthorized
	}
	token, ok, err := api.Find(r.Context(), t, oauth.KindAccess, text)
	if err != nil {
		return store.Account{}, store.Token{}, err
	}
	a, found, err := t.Account(r.Context(), api.Platform, token.Account)
	if err == nil && (!ok || !found) {
		err = api.Errors.Unauthorized
	}
	return a, token, err
}

// AsCaller calls do in a transaction with the account of the request's token.
func (api *API) AsCaller(r *http.Request, do func(store.Tx, store.Account, store.Token) error) error {
	return api.Store.InTx(r.Context(), func(t store.Tx) error {
		a, token, err := api.Authenticate(r, t)
		if err != nil {
			return err
		}
		return do(t, a, token)
	})
}

// Tokens contains an access token and its refresh token.
type Tokens struct {
	Access, Refresh string
	Scopes          []string
}

// GrantTokens issues tokens for a code or a refresh token (RFC 6749, sections 4.1.3 and 6). Both can be used only once.
func (api *API) GrantTokens(r *http.Request) (Tokens, error) {
	client := r.Form.Get("client_id")
	if id, _, hasBasicAuth := r.BasicAuth(); hasBasicAuth {
		client = id
		r.Form.Set("client_id", id)
	}
	var tokens Tokens
	err := api.Store.InTx(r.Context(), func(t store.Tx) error {
		token, ok, err := api.spendGrant(r, t)
		if err != nil {
			return err
		}
		if !ok || token.Client != client {
			return api.Errors.InvalidGrant
		}
		if tokens.Scopes, err = t.Scopes(r.Context(), api.Platform, token.Session); err != nil {
			return err
		}
		token.Redirect, token.Challenge, token.Kind = "", "", oauth.KindAccess
		if tokens.Access, err = api.Issue(r.Context(), t, token, api.AccessLifetime); err != nil {
			return err
		}
		token.Kind = oauth.KindRefresh
		tokens.Refresh, err = api.Issue(r.Context(), t, token, api.RefreshLifetime)
		return err
	})
	return tokens, err
}

// spendGrant marks the request's code or refresh token as used, and reports whether it was valid.
func (api *API) spendGrant(r *http.Request, t store.Tx) (store.Token, bool, error) {
	switch r.Form.Get("grant_type") {
	case "authorization_code":
		code, ok, err := api.Redeem(r.Context(), t, r.Form)
		return code, ok && api.Now().Sub(code.IssuedAt) < api.CodeLifetime, err
	case "refresh_token":
		text := r.Form.Get("refresh_token")
		refresh, ok, err := api.Find(r.Context(), t, oauth.KindRefresh, text)
		if err != nil || !ok {
			return store.Token{}, false, err
		}
		return refresh, true, t.ConsumeToken(r.Context(), api.Platform, api.Hash(text))
	}
	return store.Token{}, false, api.Errors.Unreadable
}

// PublishPost publishes the post that prepare returns. When PublishPost returns, the post is on disk.
func (api *API) PublishPost(r *http.Request, prepare func(t store.Tx) (store.Post, store.Token, error)) (string, error) {
	markerErrors := marker.MarkerErrors{
		RejectErr: api.Errors.Rejected, ExpiredTokenErr: api.Errors.Unauthorized, RateLimitErr: api.Errors.RateLimited,
		FailureErr: api.Errors.Internal,
	}
	return api.PublishInTx(r.Context(), api.Errors.Internal, func(t store.Tx, waited bool) (marker.Outcome, error) {
		p, token, err := prepare(t)
		if err != nil {
			return marker.Outcome{}, err
		}
		attempt := marker.Attempt{
			Platform: api.Platform, Account: p.Account, Text: p.Text, Session: token.Session, Waited: waited,
		}
		return attempt.Publish(r.Context(), t, markerErrors, func() (string, error) {
			return p.ID, t.SavePost(r.Context(), p)
		})
	})
}
