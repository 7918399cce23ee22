package pinterest

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"pressroom.example/pressroom/internal/network"
)

var _ network.AppChecker = (*Network)(nil)

var scopeRequirements = []network.RequiredScope{
	{Scope: "user_accounts:read", Effect: network.CannotConnect},
	{Scope: "boards:read", Effect: network.CannotConnect},
	{Scope: "boards:write", Effect: network.CannotPublish},
	{Scope: "pins:read", Effect: network.MetricsMissing},
	{Scope: "pins:write", Effect: network.CannotPublish},
}

// CheckApp reports whether the network accepts the app's ID and secret, and whether the app publishes in Pinterest's
// own sandbox.
func (n *Network) CheckApp(ctx context.Context) []network.Finding {
	_, err := n.requestToken(ctx, n.opts.APIHost, url.Values{
		"grant_type": {"refresh_token"}, "refresh_token": {"none"},
	}, "none")
	findings := []network.Finding{network.CredentialsFinding(platform, "", err)}
	netErr, ok := errors.AsType[*network.Error](err)
	if ok && netErr.Class == network.ReconnectRequired && netErr.Status == http.StatusUnauthorized {
		findings[0].Result = network.CheckUnclear // Pinterest may have rejected the invalid token rather than the app
	}
	if strings.Contains(n.opts.APIHost, "api-sandbox.") {
		findings = append(findings, network.Finding{
			Subject: "api_host", Result: network.CheckUnclear,
			Detail:   "The app publishes in Pinterest's sandbox, where nobody else can see Pins.",
			NextStep: "After Pinterest has given the app Standard access, remove \"api_host\" from the settings.",
		})
	}
	return findings
}

// CheckAccount reports what the app may do for an account. Trial access is only detected when the app creates a Pin.
func (n *Network) CheckAccount(ctx context.Context, g network.Grant) []network.Finding {
	var me struct {
		ID string `json:"id"`
	}
	err := n.do(ctx, n.newCall(g, http.MethodGet, "user_account"), &me)
	findings := []network.Finding{network.CallFinding(platform, "access token", err)}
	if err != nil {
		return findings
	}
	return append(findings, network.CheckScopes(g.Scopes, scopeRequirements...)...)
}
