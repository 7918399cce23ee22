package instagram

import (
	"context"
	"net/http"
	"net/url"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/graph"
)

var _ network.AppChecker = (*Network)(nil)

// The permissions that each sign-in method requires.
var (
	scopeRequirements = []network.RequiredScope{
		{Scope: "instagram_business_basic", Effect: network.CannotConnect},
		{Scope: scopeInstagramPublish, Effect: network.CannotPublish},
		{Scope: "instagram_business_manage_insights", Effect: network.MetricsMissing},
		{Scope: scopeInstagramComments, Effect: network.CommentsMissing},
	}
	facebookScopeRequirements = []network.RequiredScope{
		{Scope: "instagram_basic", Effect: network.CannotConnect},
		{Scope: scopeFacebookPublish, Effect: network.CannotPublish},
		{Scope: "instagram_manage_insights", Effect: network.MetricsMissing},
		{Scope: scopeFacebookComments, Effect: network.CommentsMissing},
		{Scope: "pages_show_list", Effect: network.CannotConnect},
		{Scope: "pages_read_engagement", Effect: network.CannotConnect},
		{Scope: graph.ScopeBusiness, Effect: "accounts of a business portfolio cannot be found"},
	}
)

// CheckApp reports whether Meta accepts the app for Facebook Login, and which permissions App Review has approved. Meta
// does not offer such a check for the Instagram Login app.
func (n *Network) CheckApp(ctx context.Context) []network.Finding {
	if n.opts.Facebook.ClientID == "" {
		return nil
	}
	return n.login().CheckApp(ctx, platform, "Facebook login:", n.opts.Facebook.GraphHost, facebookScopeRequirements)
}

// CheckAccount reports what the app may do for an account.
func (n *Network) CheckAccount(ctx context.Context, g network.Grant) []network.Finding {
	var findings []network.Finding
	if g.Kind == kindFacebook {
		findings = n.login().CheckToken(ctx, platform, g, facebookScopeRequirements)
	} else {
		var me graph.InstagramAccount
		err := n.Client.Do(ctx, n.NewCall(g, http.MethodGet, "me", url.Values{"fields": {"id,username"}}, &me))
		findings = []network.Finding{network.CallFinding(platform, "access token", err)}
		if err == nil {
			findings = append(findings, network.CheckScopes(g.Scopes, scopeRequirements...)...)
		}
	}
	if findings[0].Result != network.CheckPassed {
		return findings
	}
	return append(findings, n.CheckLimit(ctx, g, "content_publishing_limit"))
}
