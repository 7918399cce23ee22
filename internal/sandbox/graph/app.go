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

// AppToken responds with an app access token for an app's ID and secret.
func (*API) AppToken(r *http.Request) (any, error) {
	switch {
	case r.Form.Get("grant_type") != "client_credentials":
		return nil, InvalidParameter("grant_type must be client_credentials")
	case base.IsWrongSecret(r.Form.Get("client_secret")):
		return nil, errSecret
	}
	return map[string]any{"access_token": r.Form.Get("client_id") + "|" + base.NewID(), "token_type": "bearer"}, nil
}

// findApp returns the ID of the app whose app access token the request contains. Such a token consists of the app's ID
// and secret.
func findApp(r *http.Request) (string, error) {
	app, secret, isApp := strings.Cut(r.Form.Get("access_token"), "|")
	if !isApp || base.IsWrongSecret(secret) {
		return "", errSecret
	}
	return app, nil
}

// AppPermissions returns the call that lists an app's permissions. For each permission, the list shows if App
// Review has approved it.
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

// DebugToken returns the call that describes a token to the token's app. The token must be an access token or have one
// of the given kinds.
func (api *API) DebugToken(kinds ...string) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		app, err := findApp(r)
		if err != nil {
			return nil, err
		}
		return api.describeToken(r, app, append(kinds, oauth.KindAccess)...)
	}
}

// DebugTokenByTester describes a token to a person who has a role in the token's app.
//
// Source: https://developers.facebook.com/documentation/threads/troubleshooting/debug-access-token (June 4, 2025).
func (api *API) DebugTokenByTester(r *http.Request) (any, error) {
	var app string
	err := api.AsCaller(r, func(_ store.Tx, a store.Account, token store.Token) error {
		if !slices.Contains(roleHolders, a.Handle) {
			return InvalidParameter("The access token does not belong to a tester of the app")
		}
		app = token.Client
		return nil
	})
	if err != nil {
		return nil, err
	}
	return api.describeToken(r, app, oauth.KindAccess)
}

// describeToken describes the token in the parameter input_token to the token's app. The token must be of one of the
// given kinds.
func (api *API) describeToken(r *http.Request, app string, kinds ...string) (any, error) {
	data := map[string]any{
		"app_id": app, "is_valid": false,
		"error": map[string]any{"code": 190, "message": "Error validating access token: Session has expired"},
	}
	err := api.Store.InTx(r.Context(), func(t store.Tx) error {
		for _, kind := range kinds {
			token, ok, err := api.Find(r.Context(), t, kind, r.Form.Get("input_token"))
			if err != nil {
				return err
			}
			if !ok || token.Client != app {
				continue
			}
			delete(data, "error")
			data["is_valid"] = true
			if data["scopes"], err = t.Scopes(r.Context(), api.Platform, token.Session); err != nil {
				return err
			}
		}
		return nil
	})
	return map[string]any{"data": data}, err
}

// PublishingLimit returns the call that responds with the number of posts that the caller has published within
// limitWindowSeconds. total is the maximum in the response.
func (api *API) PublishingLimit(total int) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		var posts []store.Post
		err := api.AsCaller(r, func(t store.Tx, a store.Account, _ store.Token) error {
			var err error
			posts, err = t.Posts(r.Context(), `where p.platform = ? and p.account = ?`, api.Platform, a.ID)
			return err
		})
		count := 0
		for _, p := range posts {
			if api.Now().Sub(p.At) < limitWindowSeconds*time.Second {
				count++
			}
		}
		return map[string]any{"data": []any{map[string]any{
			"quota_usage": count, "config": map[string]any{"quota_total": total, "quota_duration": limitWindowSeconds},
		}}}, err
	}
}

const limitWindowSeconds = 24 * 60 * 60
