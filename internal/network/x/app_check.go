package x

import (
	"context"
	"net/url"

	"pressroom.example/pressroom/internal/network"
)

var _ network.AppChecker = (*Network)(nil)

var scopeRequirements = []network.RequiredScope{
	{Scope: "tweet.read", Effect: network.MetricsMissing},
	{Scope: "tweet.write", Effect: network.CannotPublish},
	{Scope: "users.read", Effect: network.CannotConnect},
	{Scope: "media.write", Effect: "images and videos cannot be published"},
	{Scope: "offline.access", Effect: "the connection ends after two hours"},
}

// CheckApp reports whether the network accepts the app's ID and secret.
func (n *Network) CheckApp(ctx context.Context) []network.Finding {
	_, err := n.requestToken(ctx, n.opts.APIHost, url.Values{
		"grant_type": {"refresh_token"}, "refresh_token": {"none"},
	})
	return []network.Finding{network.CredentialsFinding(platform, "", err)}
}

// CheckAccount reports whether the app has credit, and what the app may do for an account. X charges for the call as
// for reading one user.
func (n *Network) CheckAccount(ctx context.Context, g network.Grant) []network.Finding {
	_, err := n.identify(ctx, g)
	findings := []network.Finding{network.CallFinding(platform, "credit and access token", err)}
	if err != nil {
		return findings
	}
	return append(findings, network.CheckScopes(g.Scopes, scopeRequirements...)...)
}
