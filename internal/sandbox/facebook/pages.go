package facebook

import (
	"net/http"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/graph"
	"pressroom.example/pressroom/internal/sandbox/oauth"
	"pressroom.example/pressroom/internal/sandbox/store"
)

const scopeBusiness = "business_management"

// listOwnPages lists the person's Pages with their tokens. It omits Pages that belong to a business portfolio.
func (n *Network) listOwnPages(r *http.Request) (any, error) {
	return n.listPages(r, "", func(a store.Account) bool { return a.Handle != agency })
}

// listOwnedPages lists the Pages that a business portfolio owns.
func (n *Network) listOwnedPages(r *http.Request) (any, error) {
	return n.listPages(r, scopeBusiness, func(a store.Account) bool {
		return a.Handle == agency && r.PathValue("business") == businessID(a)
	})
}

// listClientPages lists the Pages that other owners have shared with a business portfolio.
func (n *Network) listClientPages(r *http.Request) (any, error) {
	return n.listPages(r, scopeBusiness, func(store.Account) bool { return false })
}

// listPages lists the person's Page if includes returns true for the Page. Unless scope is empty, the token must have
// the scope. The list contains the person's tasks only if scope is empty.
func (n *Network) listPages(r *http.Request, scope string, includes func(store.Account) bool) (any, error) {
	data := []map[string]any{}
	err := n.AsCaller(r, func(t store.Tx, a store.Account, token store.Token) error {
		if scope != "" {
			if err := n.RequireScope(r.Context(), t, token, scope); err != nil {
				return err
			}
		}
		if !includes(a) {
			return nil
		}
		page, err := n.pageWithToken(r, t, a, token)
		if scope == "" {
			page["tasks"] = []string{"ANALYZE", "ADVERTISE", "MODERATE", "CREATE_CONTENT"}
		}
		data = append(data, graph.PickFields(r, page))
		return err
	})
	return map[string]any{
		"data": data, "paging": map[string]any{"cursors": map[string]string{"before": "MA", "after": "MA"}},
	}, err
}

// pageWithToken returns a Page with a new token. The new token is long-lived if the person's token is long-lived.
func (n *Network) pageWithToken(r *http.Request, t store.Tx, a store.Account, token store.Token) (map[string]any, error) {
	lifetime := token.ExpiresAt.Sub(n.Now())
	if token.ExpiresAt.Sub(token.IssuedAt) > graph.ShortLifetime {
		lifetime = pageTokenLifetime
	}
	token.Kind = kindPage
	text, err := n.Issue(r.Context(), t, token, lifetime)
	page := pageView(a)
	page["access_token"] = text
	return page, err
}

// findOwnPage returns the Page with the given ID if the request's token belongs to the Page's person. Otherwise, it
// returns nil.
func (n *Network) findOwnPage(r *http.Request, id string) (map[string]any, error) {
	var page map[string]any
	err := n.Store.InTx(r.Context(), func(t store.Tx) error {
		token, ok, err := n.Find(r.Context(), t, oauth.KindAccess, r.Form.Get("access_token"))
		if err != nil || !ok || token.Account != id {
			return err
		}
		a, _, err := t.Account(r.Context(), Name, id)
		if err == nil {
			page, err = n.pageWithToken(r, t, a, token)
		}
		return err
	})
	return page, err
}

// listBusinesses lists the person's business portfolios.
func (n *Network) listBusinesses(r *http.Request) (any, error) {
	data := []map[string]any{}
	err := n.AsCaller(r, func(t store.Tx, a store.Account, token store.Token) error {
		if a.Handle == agency {
			data = append(data, map[string]any{"id": businessID(a), "name": a.DisplayName})
		}
		return n.RequireScope(r.Context(), t, token, scopeBusiness)
	})
	return map[string]any{"data": data}, err
}

func businessID(a store.Account) string { return base.StableID("12", "facebook business of "+a.Handle) }
