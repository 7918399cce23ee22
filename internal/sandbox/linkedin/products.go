package linkedin

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/store"
)

const scopeBasicProfile = "r_basicprofile"

// products are the scopes of an app by the end of its client ID. Any other app may request every scope. LinkedIn does
// not allow the Community Management API beside another product.
var products = map[string][]string{
	"-self-service": {"openid", "profile", "email", scopeWriteMember},
	"-community-management": {
		scopeBasicProfile, scopeWriteMember, scopeWriteCompany, scopeReadCompany, scopeAdmin,
	},
}

// authorize is the consent page. One scope that the app's products do not grant fails the whole consent.
func (n *Network) authorize(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, base.MaxBody)
	if r.ParseForm() == nil {
		if scope := refusedScope(r.Form.Get("client_id"), strings.Fields(r.Form.Get("scope"))); scope != "" {
			http.Redirect(w, r, r.Form.Get("redirect_uri")+"?"+url.Values{ //nolint:gosec // a sandbox knows no clients
				"error":             {"unauthorized_scope_error"},
				"error_description": {`Scope "` + scope + `" is not authorized for your application`},
				"state":             {r.Form.Get("state")},
			}.Encode(), http.StatusSeeOther)
			return
		}
	}
	n.Authorize(w, r)
}

// refusedScope returns the first scope that an app may not request, or "".
func refusedScope(client string, scopes []string) string {
	for end, allowed := range products {
		if !strings.HasSuffix(client, end) {
			continue
		}
		for _, scope := range scopes {
			if !slices.Contains(allowed, scope) {
				return scope
			}
		}
	}
	return ""
}

// me identifies the caller to an app without the OpenID scopes.
func (n *Network) me(r *http.Request) (any, error) {
	var answer map[string]any
	err := n.asCaller(r, func(_ store.Tx, c caller) error {
		if !slices.Contains(c.scopes, scopeBasicProfile) {
			return errDenied
		}
		first, last, _ := strings.Cut(c.DisplayName, " ")
		answer = map[string]any{
			"id": strings.TrimPrefix(c.ID, "urn:li:person:"), "localizedFirstName": first, "localizedLastName": last,
			"vanityName": c.Handle,
		}
		return nil
	})
	return answer, err
}
