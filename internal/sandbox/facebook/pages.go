package facebook

import (
	"net/http"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/graph"
	"pressroom.example/pressroom/internal/sandbox/oauth"
	"pressroom.example/pressroom/internal/sandbox/store"
)

const scopeBusiness = "business_management"

// pages lists the person's Pages, each with its own token. The Page of the agency is only among those of its
// portfolio.
func (n *Network) pages(r *http.Request) (any, error) {
	return n.listPages(r, "", func(a store.Account) bool { return a.Handle != agency })
}

// ownedPages lists the Pages of a portfolio, without the person's tasks.
func (n *Network) ownedPages(r *http.Request) (any, error) {
	return n.listPages(r, scopeBusiness, func(a store.Account) bool {
		return a.Handle == agency && r.PathValue("business") == businessID(a)
	})
}

// clientPages lists the Pages that others have shared with a portfolio.
func (n *Network) clientPages(r *http.Request) (any, error) {
	return n.listPages(r, scopeBusiness, func(store.Account) bool { return false })
}

// listPages lists the person's Page if it is included. A list that needs no scope has the person's tasks.
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
		page, err := n.openPage(r, t, a, token)
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

// openPage returns a Page with a token. A long-lived token reads tokens that last as long as the consent.
func (n *Network) openPage(r *http.Request, t store.Tx, a store.Account, token store.Token) (map[string]any, error) {
	life := token.Expires.Sub(n.Now())
	if token.Expires.Sub(token.Issued) > graph.ShortLifetime {
		life = pageTokenLifetime
	}
	token.Kind = kindPage
	text, err := n.Issue(r.Context(), t, token, life)
	page := pageView(a)
	page["access_token"] = text
	return page, err
}

// ownPage returns the Page with an ID, with its token, if the request has the token of its person. It is nil for any
// other request.
func (n *Network) ownPage(r *http.Request, id string) (map[string]any, error) {
	var page map[string]any
	err := n.Store.InTx(r.Context(), func(t store.Tx) error {
		token, ok, err := n.Find(r.Context(), t, oauth.KindAccess, r.Form.Get("access_token"))
		if err != nil || !ok || token.Account != id {
			return err
		}
		a, _, err := t.Account(r.Context(), Name, id)
		if err == nil {
			page, err = n.openPage(r, t, a, token)
		}
		return err
	})
	return page, err
}

// businesses lists the person's business portfolios.
func (n *Network) businesses(r *http.Request) (any, error) {
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
