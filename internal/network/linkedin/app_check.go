package linkedin

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"pressroom.example/pressroom/internal/network"
)

var _ network.AppChecker = (*Network)(nil)

// CheckApp reports whether the network accepts each app's ID and secret. It requests the state of an unknown token.
// LinkedIn first checks the credentials, and then describes the token as not active.
func (n *Network) CheckApp(ctx context.Context) []network.Finding {
	var findings []network.Finding
	for _, kind := range n.Kinds() {
		_, err := n.inspectToken(ctx, n.appFor(kind), "none")
		findings = append(findings, network.CredentialsFinding(platform, kind, err))
	}
	return findings
}

// tokenInfo is LinkedIn's description of a token.
type tokenInfo struct {
	Active bool   `json:"active"`
	Status string `json:"status"`
	Scope  string `json:"scope"`
}

// inspectToken returns the network's description of a token.
//
// Source: https://learn.microsoft.com/linkedin/shared/authentication/token-introspection
func (n *Network) inspectToken(ctx context.Context, app network.OAuthApp, token string) (tokenInfo, error) {
	const path = "oauth/v2/introspectToken"
	response, err := n.client.Do(ctx, network.Call{
		Purpose: network.PurposeAuthorize, Name: path, Method: http.MethodPost, URL: n.opts.AuthorizeHost + "/" + path,
		Form:    url.Values{"client_id": {app.ClientID}, "client_secret": {app.ClientSecret}, "token": {token}},
		Secrets: []string{app.ClientSecret, token},
	})
	if err != nil {
		return tokenInfo{}, err
	}
	if response.Status != http.StatusOK {
		return tokenInfo{}, n.tokenError(response, false)
	}
	var info tokenInfo
	return info, response.Decode(&info)
}

// CheckAccount reports whether the account's token is valid, and which required scopes it has.
func (n *Network) CheckAccount(ctx context.Context, g network.Grant) []network.Finding {
	const subject = "access token"
	info, err := n.inspectToken(ctx, n.appFor(g.Extra[appKey]), g.AccessToken)
	if err == nil && !info.Active {
		err = &network.Error{Class: network.ReconnectRequired, Status: http.StatusOK, Code: network.Clip(info.Status, maxName)}
	}
	if err != nil {
		return []network.Finding{network.CallFinding(platform, subject, err)}
	}
	findings := network.CheckScopes(splitScopes(info.Scope), n.requiredScopes(g)...)
	for i := range findings {
		if findings[i].Result == network.CheckFailed {
			findings[i].NextStep = network.NextStep(platform, "")
		}
	}
	findings = append([]network.Finding{{Subject: subject, Result: network.CheckPassed}}, findings...)
	findings = append(findings, n.checkVersion(ctx, g, splitScopes(info.Scope)))
	if g.Kind != organization && !slices.Contains(splitScopes(info.Scope), scopeReadPosts) {
		findings = append(findings, network.Finding{
			Subject: "list of a member's posts", Result: network.CheckUnclear,
			Detail: "The app lacks " + scopeReadPosts + ", like nearly all apps. If the response to a post is lost, the post has to be " +
				"checked by a person, and metrics are missing.",
		})
	}
	return findings
}

// checkVersion reports whether the version of the API is active. Every call to LinkedIn's API needs a scope, so
// checkVersion makes one that the granted scopes allow. This may start an upload, but no file is uploaded or published.
//
// Sources: https://learn.microsoft.com/linkedin/marketing/versioning,
// https://learn.microsoft.com/linkedin/marketing/community-management/shares/images-api
func (n *Network) checkVersion(ctx context.Context, g network.Grant, granted []string) network.Finding {
	writeScope := scopeWriteMember
	if g.Kind == organization {
		writeScope = scopeWriteOrganization
	}
	subject := "API version " + n.opts.Version
	switch {
	case slices.Contains(granted, scopeOrganizationAdmin):
		call := n.newFinder(g, "organizationAcls")
		call.Query = url.Values{"q": {"roleAssignee"}, "state": {"APPROVED"}, "count": {"1"}}
		_, err := n.do(ctx, g, call, nil)
		return network.CallFinding(platform, subject, err)
	case slices.Contains(granted, writeScope):
		return network.CallFinding(platform, subject, n.initializeUpload(ctx, g, "images", map[string]any{}, nil))
	}
	return network.Finding{
		Subject: subject, Result: network.CheckUnclear,
		Detail: "Whether it is active could not be checked, because the app lacks " + writeScope + ".",
	}
}

// requiredScopes returns the scopes that an account needs, depending on its kind and its app's products.
func (n *Network) requiredScopes(g network.Grant) []network.RequiredScope {
	if g.Kind == organization {
		return []network.RequiredScope{
			{Scope: scopeWriteOrganization, Effect: network.CannotPublish},
			{Scope: "r_organization_social", Effect: network.MetricsMissing},
			{Scope: scopeOrganizationAdmin, Effect: network.CannotConnect},
		}
	}
	identityScope := scopeOpenID
	if g.Extra[appKey] == kindCompany {
		identityScope = scopeBasicProfile
	}
	return []network.RequiredScope{
		{Scope: scopeWriteMember, Effect: network.CannotPublish}, {Scope: identityScope, Effect: network.CannotConnect},
	}
}
