package facebook

import (
	"context"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/graph"
)

var _ network.AppChecker = (*Network)(nil)

var scopeRequirements = []network.RequiredScope{
	{Scope: "pages_show_list", Effect: network.CannotConnect},
	{Scope: "pages_read_engagement", Effect: network.CannotPublish},
	{Scope: "pages_manage_posts", Effect: network.CannotPublish},
	{Scope: insightsScope, Effect: network.MetricsMissing},
	{Scope: scopeComments, Effect: network.CommentsMissing},
	{Scope: graph.ScopeBusiness, Effect: "Pages of a business portfolio cannot be found"},
}

// CheckApp reports whether Meta accepts the app, and which permissions App Review has approved.
func (n *Network) CheckApp(ctx context.Context) []network.Finding {
	return n.login().CheckApp(ctx, platform, "", n.opts.GraphHost, scopeRequirements)
}

// CheckAccount reports what the app may do for a Page.
func (n *Network) CheckAccount(ctx context.Context, g network.Grant) []network.Finding {
	return n.login().CheckToken(ctx, platform, g, scopeRequirements)
}
