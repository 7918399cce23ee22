package instagram

import (
	"net/http"
	"time"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/graph"
	"pressroom.example/pressroom/internal/sandbox/oauth"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// exchangeCode exchanges a code from Instagram Login. The response lists the granted permissions.
func (n *Network) exchangeCode(r *http.Request) (any, error) {
	if r.Form.Get("client_secret") == "" || r.Form.Get("grant_type") != "authorization_code" {
		return nil, graph.InvalidParameter("client_secret and grant_type are required")
	}
	return n.RedeemCode(r, func(t store.Tx, code store.Token, response map[string]any) error {
		scopes, err := t.Scopes(r.Context(), n.Platform, code.Session)
		response["user_id"], response["permissions"] = code.Account, scopes
		return err
	})
}

// getMe responds with the account of a token from Instagram Login. The app-specific ID differs from the account's ID.
func (n *Network) getMe(r *http.Request) (any, error) {
	var response map[string]any
	err := n.AsCaller(r, func(_ store.Tx, a store.Account, _ store.Token) error {
		var err error
		response, err = pickFields(r, map[string]any{
			"id": base.StableID("2", "instagram app's person "+a.Handle), "user_id": a.ID, "username": a.Handle,
			"name": a.DisplayName,
		})
		return err
	})
	return response, err
}

const (
	// agency has a role on the Pages of all accounts, and on one Page without an account.
	agency = "studio.north"
	// pageTokenLifetime is the lifetime of a Page's token that a long-lived token requests.
	pageTokenLifetime = 100 * 365 * 24 * time.Hour
)

// page is a Facebook Page and its Instagram account. The account is the zero value if the Page has no account.
type page struct {
	id, name string
	account  store.Account
}

// personPages returns the Pages on which a person has a role.
func (n *Network) personPages(r *http.Request, t store.Tx, person store.Account) ([]page, error) {
	accounts, err := t.Accounts(r.Context(), n.Platform)
	if err != nil {
		return nil, err
	}
	var pages []page
	for _, a := range accounts {
		if a.ID == person.ID || person.Handle == agency && !isOperator(a) {
			pages = append(pages, page{base.StableID("3", "instagram page of "+a.Handle), a.DisplayName, a})
		}
	}
	if person.Handle == agency {
		pages = append(pages, page{id: base.StableID("3", "instagram page of nobody"), name: "An empty Page"})
	}
	return pages, nil
}

// findPage returns a Page on which the person has a role, and reports whether it exists.
func (n *Network) findPage(r *http.Request, t store.Tx, person store.Account, id string) (page, bool, error) {
	pages, err := n.personPages(r, t, person)
	for _, p := range pages {
		if p.id == id {
			return p, true, nil
		}
	}
	return page{}, false, err
}

// pageView returns a Page in the API's format, with a new token.
func (n *Network) pageView(r *http.Request, t store.Tx, p page, token store.Token) (map[string]any, error) {
	view := map[string]any{"id": p.id, "name": p.name}
	owner := token.Account // the token's account, if the Page has no account
	if p.account.ID != "" {
		owner = p.account.ID
		view["instagram_business_account"] = map[string]any{
			"id": p.account.ID, "username": p.account.Handle, "name": p.account.DisplayName,
		}
	}
	lifetime := token.ExpiresAt.Sub(n.Now())
	if token.ExpiresAt.Sub(token.IssuedAt) > graph.ShortLifetime {
		lifetime = pageTokenLifetime
	}
	token.Kind, token.Account = oauth.KindAccess, owner
	text, err := n.Issue(r.Context(), t, token, lifetime)
	view["access_token"] = text
	return view, err
}

func (n *Network) listPages(r *http.Request) (any, error) {
	data := []map[string]any{}
	err := n.AsCaller(r, func(t store.Tx, person store.Account, token store.Token) error {
		pages, err := n.personPages(r, t, person)
		for _, p := range pages {
			if err == nil {
				var view map[string]any
				view, err = n.pageView(r, t, p, token)
				data = append(data, view)
			}
		}
		return err
	})
	return map[string]any{"data": data}, err
}

// getFacebookMe returns the person of a token from Facebook Login.
func (n *Network) getFacebookMe(r *http.Request) (any, error) {
	var response map[string]any
	err := n.AsCaller(r, func(_ store.Tx, a store.Account, _ store.Token) error {
		response = map[string]any{"id": graph.PersonID(a.Handle), "name": a.DisplayName}
		return nil
	})
	return response, err
}
