package graph

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/oauth"
	"pressroom.example/pressroom/internal/sandbox/store"
)

var errSecret = &Error{Status: http.StatusBadRequest, Code: 1, Message: "Error validating client secret."}

// AppToken checks an app's ID and secret.
func (*API) AppToken(r *http.Request) (any, error) {
	switch {
	case r.Form.Get("grant_type") != "client_credentials":
		return nil, InvalidParameter("grant_type has to be client_credentials")
	case base.IsWrongSecret(r.Form.Get("client_secret")):
		return nil, errSecret
	}
	return map[string]any{"access_token": r.Form.Get("client_id") + "|" + base.NewID(), "token_type": "bearer"}, nil
}

// findApp returns the app whose ID and secret are the request's token.
func findApp(r *http.Request) (string, error) {
	app, secret, isApp := strings.Cut(r.Form.Get("access_token"), "|")
	if !isApp || base.IsWrongSecret(secret) {
		return "", errSecret
	}
	return app, nil
}

// AppPermissions lists the permissions that App Review has approved.
func (*API) AppPermissions(approved ...string) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		app, err := findApp(r)
		if err != nil {
			return nil, err
		}
		if app != r.PathValue("app") {
			return nil, ErrNoObject
		}
		data := []map[string]string{}
		for _, permission := range approved {
			status := "live"
			if inDevelopment(app) {
				status = "unapproved"
			}
			data = append(data, map[string]string{"permission": permission, "status": status})
		}
		return map[string]any{"data": data}, nil
	}
}

// DebugToken describes a token of one of the kinds to its app.
func (n *API) DebugToken(kinds ...string) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		app, err := findApp(r)
		if err != nil {
			return nil, err
		}
		return n.describeToken(r, app, append(kinds, oauth.KindAccess)...)
	}
}

// DebugTokenByTester describes a token to a person with a role in its app.
//
// Source: https://developers.facebook.com/documentation/threads/troubleshooting/debug-access-token (June 4, 2025)
func (n *API) DebugTokenByTester(r *http.Request) (any, error) {
	var app string
	err := n.AsCaller(r, func(_ store.Tx, a store.Account, token store.Token) error {
		if !slices.Contains(roleHolders, a.Handle) {
			return InvalidParameter("The access token is not that of a tester of the app")
		}
		app = token.Client
		return nil
	})
	if err != nil {
		return nil, err
	}
	return n.describeToken(r, app, oauth.KindAccess)
}

// describeToken describes the request's input_token, which has one of the kinds, to its app.
func (n *API) describeToken(r *http.Request, app string, kinds ...string) (any, error) {
	about := map[string]any{
		"app_id": app, "is_valid": false,
		"error": map[string]any{"code": 190, "message": "Error validating access token: Session has expired"},
	}
	err := n.Store.InTx(r.Context(), func(t store.Tx) error {
		for _, kind := range kinds {
			token, ok, err := n.Find(r.Context(), t, kind, r.Form.Get("input_token"))
			if err != nil {
				return err
			}
			if !ok || token.Client != app {
				continue
			}
			delete(about, "error")
			about["is_valid"] = true
			if about["scopes"], err = t.Scopes(r.Context(), n.Platform, token.Session); err != nil {
				return err
			}
		}
		return nil
	})
	return map[string]any{"data": about}, err
}

// PublishingLimit returns how many of the day's posts the caller has published.
func (n *API) PublishingLimit(total int) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		var posts []store.Post
		err := n.AsCaller(r, func(t store.Tx, a store.Account, _ store.Token) error {
			var err error
			posts, err = t.Posts(r.Context(), `where p.platform = ? and p.account = ?`, n.Platform, a.ID)
			return err
		})
		used := 0
		for _, p := range posts {
			if n.Now().Sub(p.At) < limitSeconds*time.Second {
				used++
			}
		}
		return map[string]any{"data": []any{map[string]any{
			"quota_usage": used, "config": map[string]any{"quota_total": total, "quota_duration": limitSeconds},
		}}}, err
	}
}

const limitSeconds = 24 * 60 * 60
