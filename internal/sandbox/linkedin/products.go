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

// products maps the suffix of a client ID to the scopes that the app may request. An app without such a suffix may
// request every scope. On LinkedIn, an app with the Community Management API cannot have any other product.
var products = map[string][]string{
	"-self-service": {"openid", "profile", "email", scopeWriteMember},
	"-community-management": {
		scopeBasicProfile, scopeWriteMember, scopeWriteCompany, scopeReadCompany, scopeAdmin,
	},
}

// authorize serves the consent page. It redirects to the app with an error if the app's products do not include all
// requested scopes.
func (n *Network) authorize(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, base.MaxBody)
	if r.ParseForm() == nil {
		if scope := rejectedScope(r.Form.Get("client_id"), strings.Fields(r.Form.Get("scope"))); scope != "" {
			http.Redirect(w, r, r.Form.Get("redirect_uri")+"?"+url.Values{ //nolint:gosec // the sandbox accepts every app
				"error":             {"unauthorized_scope_error"},
				"error_description": {`Scope "` + scope + `" is not authorized for your application`},
				"state":             {r.Form.Get("state")},
			}.Encode(), http.StatusSeeOther)
			return
		}
	}
	n.Authorize(w, r)
}

// rejectedScope returns the first scope that an app may not request, or "".
func rejectedScope(client string, scopes []string) string {
	for suffix, allowedScopes := range products {
		if !strings.HasSuffix(client, suffix) {
			continue
		}
		for _, scope := range scopes {
			if !slices.Contains(allowedScopes, scope) {
				return scope
			}
		}
	}
	return ""
}

// me describes the caller for apps that cannot request the OpenID scopes.
func (n *Network) me(r *http.Request) (any, error) {
	var response map[string]any
	err := n.asCaller(r, func(_ store.Tx, c caller) error {
		if !slices.Contains(c.scopes, scopeBasicProfile) {
			return errDenied
		}
		first, last, _ := strings.Cut(c.DisplayName, " ")
		response = map[string]any{
			"id": strings.TrimPrefix(c.ID, "urn:li:person:"), "localizedFirstName": first, "localizedLastName": last,
			"vanityName": c.Handle,
		}
		return nil
	})
	return response, err
}
