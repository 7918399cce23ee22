package linkedin

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/oauth"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// The scopes that the sandbox checks.
const (
	scopeAdmin        = "rw_organization_admin"
	scopeReadCompany  = "r_organization_social"
	scopeWriteCompany = "w_organization_social"
	scopeReadMember   = "r_member_social"
	scopeWriteMember  = "w_member_social"
)

// grantToken exchanges a code or a refresh token for an access token. It does not replace the refresh token, which
// expires refreshLifetime after the consent.
func (n *Network) grantToken(r *http.Request) (any, error) {
	if err := r.ParseForm(); err != nil {
		return nil, newTokenError(http.StatusBadRequest, "invalid_request", "The form cannot be read")
	}
	if r.PostForm.Get("client_secret") == "" {
		return nil, newTokenError(http.StatusUnauthorized, "invalid_client", "Client authentication failed")
	}
	var response map[string]any
	err := n.Store.InTx(r.Context(), func(t store.Tx) error {
		var err error
		switch r.PostForm.Get("grant_type") {
		case "authorization_code":
			response, err = n.redeemCode(r.Context(), t, r.PostForm)
		case "refresh_token":
			response, err = n.refreshToken(r.Context(), t, r.PostForm)
		default:
			err = newTokenError(http.StatusBadRequest, "unsupported_grant_type",
				"The grant type is not supported")
		}
		return err
	})
	return response, err
}

// introspect describes a token to the token's app.
func (n *Network) introspect(r *http.Request) (any, error) {
	err := r.ParseForm()
	switch secret := r.PostForm.Get("client_secret"); {
	case err != nil:
		return nil, newTokenError(http.StatusBadRequest, "invalid_request", "The form cannot be read")
	case secret == "" || base.IsWrongSecret(secret):
		return nil, newTokenError(http.StatusUnauthorized, "invalid_client", "Client authentication failed")
	}
	response := map[string]any{"active": false}
	err = n.Store.InTx(r.Context(), func(t store.Tx) error {
		token, ok, err := n.Find(r.Context(), t, oauth.KindAccess, r.PostForm.Get("token"))
		if err != nil || token.Client != r.PostForm.Get("client_id") {
			return err
		}
		response["status"] = "expired"
		if !ok {
			return nil
		}
		scopes, err := t.Scopes(r.Context(), Name, token.Session)
		response = map[string]any{
			"active": true, "status": "active", "client_id": token.Client, "scope": strings.Join(scopes, ","),
			"auth_type": "3L", "created_at": token.IssuedAt.Unix(), "expires_at": token.ExpiresAt.Unix(),
		}
		return err
	})
	return response, err
}

func (n *Network) redeemCode(ctx context.Context, t store.Tx, form url.Values) (map[string]any, error) {
	code, ok, err := n.Redeem(ctx, t, form)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, newTokenError(http.StatusBadRequest, "invalid_request",
			"Unable to retrieve access token: appid/redirect uri/code verifier does not match authorization code. Or "+
				"authorization code expired.")
	}
	code.Redirect, code.Challenge = "", ""
	response, err := n.accessToken(ctx, t, code)
	if err != nil {
		return nil, err
	}
	scopes, err := t.Scopes(ctx, Name, code.Session)
	response["scope"] = strings.Join(scopes, ",")
	if err != nil || !slices.Contains(scopes, scopeWriteCompany) {
		return response, err
	}
	code.Kind = oauth.KindRefresh
	response["refresh_token"], err = n.Issue(ctx, t, code, refreshLifetime)
	response["refresh_token_expires_in"] = int64(refreshLifetime / time.Second)
	return response, err
}

// accessToken issues an access token for the session of a code or a refresh token.
func (n *Network) accessToken(ctx context.Context, t store.Tx, token store.Token) (map[string]any, error) {
	token.Kind = oauth.KindAccess
	text, err := n.Issue(ctx, t, token, accessLifetime)
	return map[string]any{"access_token": text, "expires_in": int64(accessLifetime / time.Second)}, err
}

func (n *Network) refreshToken(ctx context.Context, t store.Tx, form url.Values) (map[string]any, error) {
	refresh, ok, err := n.Find(ctx, t, oauth.KindRefresh, form.Get("refresh_token"))
	if err != nil {
		return nil, err
	}
	if !ok || refresh.Client != form.Get("client_id") {
		return nil, newTokenError(http.StatusBadRequest, "invalid_grant",
			"The provided authorization grant or refresh token is invalid, expired or revoked")
	}
	response, err := n.accessToken(ctx, t, refresh)
	response["refresh_token"] = form.Get("refresh_token")
	response["refresh_token_expires_in"] = int64(refresh.ExpiresAt.Sub(n.Now()) / time.Second)
	return response, err
}

// caller is the member who makes a request.
type caller struct {
	store.Account

	session string
	scopes  []string
}

// asCaller calls do in a transaction, with the member of the request's token.
func (n *Network) asCaller(r *http.Request, do func(store.Tx, caller) error) error {
	ctx := r.Context()
	return n.Store.InTx(ctx, func(t store.Tx) error {
		text, isBearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		token, ok, err := n.Find(ctx, t, oauth.KindAccess, text)
		switch {
		case err != nil:
			return err
		case !isBearer || token.Kind == "":
			return errToken
		case !ok && n.Now().Before(token.ExpiresAt):
			return errRevoked
		case !ok:
			return errExpired
		}
		c := caller{session: token.Session}
		if c.Account, _, err = t.Account(ctx, Name, token.Account); err != nil { // accounts are never deleted
			return err
		}
		if c.scopes, err = t.Scopes(ctx, Name, token.Session); err != nil {
			return err
		}
		return do(t, c)
	})
}

func (c caller) organization() string { return OrganizationURN(c.Handle) }

// checkAuthor returns errDenied if the caller may not publish as this member or organization.
func (c caller) checkAuthor(urn string) error {
	return c.requireScope(urn, scopeWriteMember, scopeWriteCompany)
}

// requireScope returns errDenied unless urn is the caller or the caller's organization and the token has the
// corresponding scope.
func (c caller) requireScope(urn, memberScope, organizationScope string) error {
	if urn == c.ID && slices.Contains(c.scopes, memberScope) ||
		urn == c.organization() && slices.Contains(c.scopes, organizationScope) {
		return nil
	}
	return errDenied
}

func (n *Network) userinfo(r *http.Request) (any, error) {
	var response map[string]any
	err := n.asCaller(r, func(_ store.Tx, c caller) error {
		if !slices.Contains(c.scopes, "openid") || !slices.Contains(c.scopes, "profile") {
			return errDenied
		}
		first, last, _ := strings.Cut(c.DisplayName, " ")
		response = map[string]any{
			"sub": strings.TrimPrefix(c.ID, "urn:li:person:"), "name": c.DisplayName, "given_name": first,
			"family_name": last, "picture": n.PictureURL(r, c.DisplayName),
			"locale": map[string]string{"country": "US", "language": "en"},
		}
		return nil
	})
	return response, err
}

// listRoles lists the caller's roles.
func (n *Network) listRoles(r *http.Request) (any, error) {
	query := r.URL.Query()
	if query.Get("q") != "roleAssignee" {
		return nil, invalidRequest("q must be roleAssignee")
	}
	roles := []any{}
	err := n.asCaller(r, func(_ store.Tx, c caller) error {
		if !slices.Contains(c.scopes, scopeAdmin) {
			return errDenied
		}
		if state := query.Get("state"); state == "" || state == "APPROVED" {
			roles = append(roles,
				map[string]string{
					"organization": c.organization(), "role": "ADMINISTRATOR", "roleAssignee": c.ID,
					"state": "APPROVED",
				})
		}
		return nil
	})
	return newPage(roles, 0, len(roles)), err
}

func (n *Network) describeOrganization(r *http.Request) (any, error) {
	var response map[string]any
	err := n.asCaller(r, func(t store.Tx, c caller) error {
		if !slices.Contains(c.scopes, scopeAdmin) {
			return errDenied
		}
		a, found, err := t.Account(r.Context(), Name, "urn:li:organization:"+r.PathValue("id"))
		if err == nil && !found {
			err = errNotFound
		}
		response = map[string]any{"localizedName": a.DisplayName, "vanityName": a.Handle}
		return err
	})
	return response, err
}
