package threads

import (
	"context"
	"net/http"
	"net/url"

	"pressroom.example/pressroom/internal/network"
)

var _ network.AppChecker = (*Network)(nil)

var scopeRequirements = []network.RequiredScope{
	{Scope: "threads_basic", Effect: network.CannotConnect},
	{Scope: scopePublish, Effect: network.CannotPublish},
	{Scope: "threads_manage_insights", Effect: network.MetricsMissing},
	{Scope: scopeReplies, Effect: "a thread stops if a request gets no response"},
}

// CheckApp reports whether the network accepts the app's ID and secret.
func (n *Network) CheckApp(ctx context.Context) []network.Finding {
	return []network.Finding{n.Client.CheckCredentials(ctx, platform, "", n.opts.GraphHost, "oauth/access_token",
		url.Values{"client_id": {n.opts.ClientID}, "client_secret": {n.opts.ClientSecret}})}
}

// CheckAccount reports what the app may do for an account.
func (n *Network) CheckAccount(ctx context.Context, g network.Grant) []network.Finding {
	var me struct {
		ID string `json:"id"`
	}
	err := n.Client.Do(ctx, n.NewCall(g, http.MethodGet, "me", url.Values{"fields": {"id"}}, &me))
	findings := []network.Finding{network.CallFinding(platform, "access token", err)}
	if err != nil {
		return findings
	}
	granted, err := n.grantedScopes(ctx, g)
	if err != nil {
		findings = append(findings, network.Finding{Subject: "permissions", Result: network.CheckUnclear,
			Detail: "Threads reports the granted permissions only to testers of the app, and rejected the request: " +
				network.CallFinding(platform, "", err).Detail})
	} else {
		findings = append(findings, network.CheckScopes(granted, scopeRequirements...)...)
	}
	return append(findings, n.CheckLimit(ctx, g, "threads_publishing_limit"))
}
