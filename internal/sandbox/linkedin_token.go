package sandbox

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

const linkedinRefresh = "refresh" // a kind of token

// The scopes that matter here.
const (
	linkedinAdmin        = "rw_organization_admin"
	linkedinReadCompany  = "r_organization_social"
	linkedinWriteCompany = "w_organization_social"
	linkedinReadMember   = "r_member_social"
	linkedinWriteMember  = "w_member_social"
)

// giveToken exchanges a code or a refresh token for an access token. The refresh token stays the same and expires a
// year after the consent.
func (n *linkedin) giveToken(r *http.Request) (any, error) {
	if err := r.ParseForm(); err != nil {
		return nil, refuseLinkedinToken(http.StatusBadRequest, "invalid_request", "The form cannot be read")
	}
	if r.PostForm.Get("client_secret") == "" {
		return nil, refuseLinkedinToken(http.StatusUnauthorized, "invalid_client", "Client authentication failed")
	}
	var answer map[string]any
	err := n.store.in(r.Context(), func(t tx) error {
		var err error
		switch r.PostForm.Get("grant_type") {
		case "authorization_code":
			answer, err = n.firstToken(r.Context(), t, r.PostForm)
		case "refresh_token":
			answer, err = n.nextToken(r.Context(), t, r.PostForm)
		default:
			err = refuseLinkedinToken(http.StatusBadRequest, "unsupported_grant_type",
				"The grant type is not supported")
		}
		return err
	})
	return answer, err
}

func (n *linkedin) firstToken(ctx context.Context, t tx, form url.Values) (map[string]any, error) {
	code, good, err := n.redeem(ctx, t, form)
	if err != nil {
		return nil, err
	}
	if !good {
		return nil, refuseLinkedinToken(http.StatusBadRequest, "invalid_request",
			"Unable to retrieve access token: appid/redirect uri/code verifier does not match authorization code. Or "+
				"authorization code expired.")
	}
	code.redirect, code.challenge = "", ""
	answer, err := n.accessToken(ctx, t, code)
	if err != nil {
		return nil, err
	}
	allowed, err := t.scopes(ctx, linkedinName, code.session)
	answer["scope"] = strings.Join(allowed, ",")
	if err != nil || !slices.Contains(allowed, linkedinWriteCompany) {
		return answer, err
	}
	code.kind = linkedinRefresh
	answer["refresh_token"], err = n.issue(ctx, t, code, linkedinRefreshLife)
	answer["refresh_token_expires_in"] = int64(linkedinRefreshLife / time.Second)
	return answer, err
}

func (n *linkedin) accessToken(ctx context.Context, t tx, of oauthToken) (map[string]any, error) {
	of.kind = kindAccess
	text, err := n.issue(ctx, t, of, linkedinAccessLife)
	return map[string]any{"access_token": text, "expires_in": int64(linkedinAccessLife / time.Second)}, err
}

func (n *linkedin) nextToken(ctx context.Context, t tx, form url.Values) (map[string]any, error) {
	old, good, err := n.find(ctx, t, linkedinRefresh, form.Get("refresh_token"))
	if err != nil {
		return nil, err
	}
	if !good || old.client != form.Get("client_id") {
		return nil, refuseLinkedinToken(http.StatusBadRequest, "invalid_grant",
			"The provided authorization grant or refresh token is invalid, expired or revoked")
	}
	answer, err := n.accessToken(ctx, t, old)
	answer["refresh_token"] = form.Get("refresh_token")
	answer["refresh_token_expires_in"] = int64(old.expires.Sub(n.now()) / time.Second)
	return answer, err
}

// linkedinCaller is the member who makes a request.
type linkedinCaller struct {
	account // the member

	session string
	scopes  []string
}

// caller calls do in a transaction with the member of the request's token.
func (n *linkedin) caller(r *http.Request, do func(tx, linkedinCaller) error) error {
	ctx := r.Context()
	return n.store.in(ctx, func(t tx) error {
		text, isBearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		token, good, err := n.find(ctx, t, kindAccess, text)
		switch {
		case err != nil:
			return err
		case !isBearer || token.kind == "":
			return errLinkedinToken
		case !good && n.now().Before(token.expires):
			return errLinkedinRevoked
		case !good:
			return errLinkedinExpired
		}
		c := linkedinCaller{session: token.session}
		if c.account, _, err = t.account(ctx, linkedinName, token.account); err != nil { // accounts are never deleted
			return err
		}
		if c.scopes, err = t.scopes(ctx, linkedinName, token.session); err != nil {
			return err
		}
		return do(t, c)
	})
}

func (c linkedinCaller) organization() string { return linkedinOrganization(c.handle) }

// writesAs refuses to write for a member or an organization that the caller does not speak for.
func (c linkedinCaller) writesAs(urn string) error {
	return c.speaksFor(urn, linkedinWriteMember, linkedinWriteCompany)
}

func (c linkedinCaller) speaksFor(urn, asMember, asOrganization string) error {
	if urn == c.id && slices.Contains(c.scopes, asMember) || urn == c.organization() && slices.Contains(c.scopes,
		asOrganization) {
		return nil
	}
	return errLinkedinDenied
}

func (n *linkedin) userinfo(r *http.Request) (any, error) {
	var answer map[string]any
	err := n.caller(r, func(_ tx, c linkedinCaller) error {
		if !slices.Contains(c.scopes, "openid") || !slices.Contains(c.scopes, "profile") {
			return errLinkedinDenied
		}
		first, last, _ := strings.Cut(c.displayName, " ")
		answer = map[string]any{
			"sub": strings.TrimPrefix(c.id, "urn:li:person:"), "name": c.displayName, "given_name": first,
			"family_name": last,
			"locale":      map[string]string{"country": "US", "language": "en"},
		}
		return nil
	})
	return answer, err
}

// listOffices lists the caller's roles.
func (n *linkedin) listOffices(r *http.Request) (any, error) {
	query := r.URL.Query()
	if query.Get("q") != "roleAssignee" {
		return nil, linkedinInvalid("q has to be roleAssignee")
	}
	offices := []any{}
	err := n.caller(r, func(_ tx, c linkedinCaller) error {
		if !slices.Contains(c.scopes, linkedinAdmin) {
			return errLinkedinDenied
		}
		if state := query.Get("state"); state == "" || state == "APPROVED" {
			offices = append(offices,
				map[string]string{
					"organization": c.organization(), "role": "ADMINISTRATOR", "roleAssignee": c.id,
					"state": "APPROVED",
				})
		}
		return nil
	})
	return map[string]any{
		"elements": offices, "paging": map[string]any{"start": 0, "count": len(offices), "links": []any{}},
	}, err
}

func (n *linkedin) describeOrganization(r *http.Request) (any, error) {
	var answer map[string]any
	err := n.caller(r, func(t tx, c linkedinCaller) error {
		if !slices.Contains(c.scopes, linkedinAdmin) {
			return errLinkedinDenied
		}
		a, found, err := t.account(r.Context(), linkedinName, "urn:li:organization:"+r.PathValue("id"))
		if err == nil && !found {
			err = errLinkedinMissing
		}
		answer = map[string]any{"localizedName": a.displayName, "vanityName": a.handle}
		return err
	})
	return answer, err
}
