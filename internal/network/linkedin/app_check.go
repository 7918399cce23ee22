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
	var found []network.Finding
	for _, kind := range n.Kinds() {
		_, err := n.inspect(ctx, n.app(kind), "none")
		found = append(found, network.CredentialsFinding(platform, kind, err))
	}
	return found
}

// tokenInfo is LinkedIn's description of a token.
type tokenInfo struct {
	Active bool   `json:"active"`
	Status string `json:"status"`
	Scope  string `json:"scope"`
}

// inspect returns the network's description of a token.
//
// Source: https://learn.microsoft.com/linkedin/shared/authentication/token-introspection
func (n *Network) inspect(ctx context.Context, app network.OAuthApp, token string) (tokenInfo, error) {
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
	var about tokenInfo
	return about, response.Decode(&about)
}

// CheckAccount reports whether the account's token is valid, and which required scopes it has.
func (n *Network) CheckAccount(ctx context.Context, g network.Grant) []network.Finding {
	const subject = "access token"
	about, err := n.inspect(ctx, n.app(g.Extra[usedApp]), g.AccessToken)
	if err == nil && !about.Active {
		err = &network.Error{Class: network.ReconnectRequired, Status: http.StatusOK, Code: network.Clip(about.Status, maxName)}
	}
	if err != nil {
		return []network.Finding{network.CallFinding(platform, subject, err)}
	}
	found := network.CheckScopes(scopes(about.Scope), n.requiredScopes(g)...)
	for i := range found {
		if found[i].Result == network.CheckFailed {
			found[i].NextStep = network.NextStep(platform, "")
		}
	}
	found = append([]network.Finding{{Subject: subject, Result: network.CheckPassed}}, found...)
	found = append(found, n.checkVersion(ctx, g, scopes(about.Scope)))
	if g.Kind != organization && !slices.Contains(scopes(about.Scope), scopeReadPosts) {
		found = append(found, network.Finding{
			Subject: "list of a member's posts", Result: network.CheckUnclear,
			Detail: "The app lacks " + scopeReadPosts + ", like nearly all apps. If the response to a post is lost, the post has to be " +
				"checked by a person, and metrics are missing.",
		})
	}
	return found
}

// checkVersion reports whether the version of the API is active. Every call to LinkedIn's API needs a scope, so
// checkVersion makes one that the granted scopes allow. This may start an upload, but no file is uploaded or published.
//
// Sources: https://learn.microsoft.com/linkedin/marketing/versioning,
// https://learn.microsoft.com/linkedin/marketing/community-management/shares/images-api
func (n *Network) checkVersion(ctx context.Context, g network.Grant, granted []string) network.Finding {
	write := scopeWriteMember
	if g.Kind == organization {
		write = scopeWriteOrganization
	}
	subject := "API version " + n.opts.Version
	switch {
	case slices.Contains(granted, scopeOrganizationAdmin):
		call := n.newFinder(g, "organizationAcls")
		call.Query = url.Values{"q": {"roleAssignee"}, "state": {"APPROVED"}, "count": {"1"}}
		_, err := n.do(ctx, g, call, nil)
		return network.CallFinding(platform, subject, err)
	case slices.Contains(granted, write):
		return network.CallFinding(platform, subject, n.initializeUpload(ctx, g, "images", map[string]any{}, nil))
	}
	return network.Finding{
		Subject: subject, Result: network.CheckUnclear,
		Detail: "Whether it is active could not be checked, because the app lacks " + write + ".",
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
	identity := scopeOpenID
	if g.Extra[usedApp] == kindCompany {
		identity = scopeBasicProfile
	}
	return []network.RequiredScope{
		{Scope: scopeWriteMember, Effect: network.CannotPublish}, {Scope: identity, Effect: network.CannotConnect},
	}
}
