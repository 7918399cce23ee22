package sandbox

import (
	"net/http"
	"time"
)

// exchangeInstagramCode exchanges a code of Instagram Login, and lists what was allowed.
func (n *instagram) exchangeInstagramCode(r *http.Request) (any, error) {
	if r.Form.Get("client_secret") == "" || r.Form.Get("grant_type") != "authorization_code" {
		return nil, invalidParameter("client_secret and grant_type are required")
	}
	return n.redeemed(r, func(t tx, code oauthToken, answer map[string]any) error {
		allowed, err := t.scopes(r.Context(), n.platform, code.session)
		answer["user_id"], answer["permissions"] = code.account, allowed
		return err
	})
}

// instagramMe returns the person of Instagram Login. Its id differs from the account's.
func (n *instagram) instagramMe(r *http.Request) (any, error) {
	var answer map[string]any
	err := n.caller(r, func(_ tx, a account, _ oauthToken) error {
		var err error
		answer, err = instagramPick(r, map[string]any{
			"id": stableID("2", "instagram app's person "+a.handle), "user_id": a.id, "username": a.handle,
			"name": a.displayName,
		})
		return err
	})
	return answer, err
}

const (
	// has a role on the Pages of all others, and on one without an account
	instagramAgency = "studio.north"
	// a Page's token does not expire if a long-lived one read it
	instagramPageLife = 100 * 365 * 24 * time.Hour
)

// instagramPage is a Page and its account.
type instagramPage struct {
	id, name string
	account  account
}

// pagesOf returns the Pages on which a person has a role.
func (n *instagram) pagesOf(r *http.Request, t tx, person account) ([]instagramPage, error) {
	accounts, err := t.accounts(r.Context(), n.platform)
	if err != nil {
		return nil, err
	}
	var found []instagramPage
	for _, a := range accounts {
		if a.id == person.id || person.handle == instagramAgency && !isOperator(a) {
			found = append(found, instagramPage{stableID("3", "instagram page of "+a.handle), a.displayName, a})
		}
	}
	if person.handle == instagramAgency {
		found = append(found, instagramPage{id: stableID("3", "instagram page of nobody"), name: "An empty Page"})
	}
	return found, nil
}

// pageOf returns a Page on which the person has a role, and reports whether it exists.
func (n *instagram) pageOf(r *http.Request, t tx, person account, id string) (instagramPage, bool, error) {
	pages, err := n.pagesOf(r, t, person)
	for _, p := range pages {
		if p.id == id {
			return p, true, nil
		}
	}
	return instagramPage{}, false, err
}

// openPage returns a Page in the API's form, with a token for its account.
func (n *instagram) openPage(r *http.Request, t tx, p instagramPage, token oauthToken) (map[string]any, error) {
	all := map[string]any{"id": p.id, "name": p.name}
	owner := token.account // even a Page without an account has a token with an owner
	if p.account.id != "" {
		owner = p.account.id
		all["instagram_business_account"] = map[string]any{
			"id": p.account.id, "username": p.account.handle, "name": p.account.displayName,
		}
	}
	life := token.expires.Sub(n.now())
	if token.expires.Sub(token.issued) > shortLife {
		life = instagramPageLife
	}
	token.kind, token.account = kindAccess, owner
	text, err := n.issue(r.Context(), t, token, life)
	all["access_token"] = text
	return all, err
}

func (n *instagram) instagramPages(r *http.Request) (any, error) {
	data := []map[string]any{}
	err := n.caller(r, func(t tx, person account, token oauthToken) error {
		pages, err := n.pagesOf(r, t, person)
		for _, p := range pages {
			if err == nil {
				var all map[string]any
				all, err = n.openPage(r, t, p, token)
				data = append(data, all)
			}
		}
		return err
	})
	return map[string]any{"data": data}, err
}

// facebookMe returns the person of Facebook Login.
func (n *instagram) facebookMe(r *http.Request) (any, error) {
	var answer map[string]any
	err := n.caller(r, func(_ tx, a account, _ oauthToken) error {
		answer = map[string]any{"id": personID(a.handle), "name": a.displayName}
		return nil
	})
	return answer, err
}
