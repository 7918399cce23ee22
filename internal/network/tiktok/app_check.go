package tiktok

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/network"
)

var _ network.AppChecker = (*Network)(nil)

var scopeRequirements = []network.RequiredScope{
	{Scope: scopeUserBasic, Effect: network.CannotConnect},
	{Scope: "user.info.profile", Effect: network.CannotConnect},
	{Scope: scopeUserStats, Effect: "the number of followers is missing"},
	{Scope: scopeVideoList, Effect: network.MetricsMissing},
}

// CheckApp reports whether the network accepts each app's key and secret. It does not report whether TikTok has audited
// the app.
//
// Source: https://developers.tiktok.com/doc/client-access-token-management
func (n *Network) CheckApp(ctx context.Context) []network.Finding {
	var findings []network.Finding
	for _, kind := range n.Kinds() {
		app := n.appFor(kind)
		_, err := n.requestToken(ctx, n.opts.APIHost, url.Values{
			"client_key": {app.ClientID}, "client_secret": {app.ClientSecret}, "grant_type": {"client_credentials"},
		})
		findings = append(findings, network.CallFinding(platform, strings.TrimSpace(kind+" client key and secret"), err))
	}
	return findings
}

// CheckAccount reports what the app may do for an account, and what the account's settings allow. TikTok returns the
// settings only to apps that may publish.
func (n *Network) CheckAccount(ctx context.Context, g network.Grant) []network.Finding {
	if slices.Contains(g.Scopes, scopeVideoUpload) && !slices.Contains(g.Scopes, scopeVideoPublish) {
		_, err := n.identify(ctx, g)
		return append([]network.Finding{network.CallFinding(platform, "token", err)},
			network.CheckScopes(g.Scopes, n.requiredScopes(g)...)...)
	}
	info, err := n.readCreatorInfo(ctx, g)
	finding := network.CallFinding(platform, network.CreatorInfo, err)
	if err != nil {
		return []network.Finding{finding}
	}
	finding.Detail = info.describe()
	finding.Creator = &network.Creator{
		Audiences: info.Privacy, NoComment: info.NoComment, NoDuet: info.NoDuet, NoStitch: info.NoStitch,
		MaxVideoDuration: time.Duration(info.MaxVideoSeconds) * time.Second,
	}
	return append([]network.Finding{finding}, network.CheckScopes(g.Scopes, n.requiredScopes(g)...)...)
}

// requiredScopes returns the scopes that an account needs. The scope of inbox mode is required only if the operator
// uses inbox mode. An app that is used only for the inbox needs no scope to publish.
func (n *Network) requiredScopes(g network.Grant) []network.RequiredScope {
	required, scopes := slices.Clone(scopeRequirements), n.appFor(g.Kind).Scopes
	upload := slices.Contains(scopes, scopeVideoUpload)
	if !upload || slices.Contains(scopes, scopeVideoPublish) {
		required = append(required, network.RequiredScope{Scope: scopeVideoPublish, Effect: network.CannotPublish})
	}
	if upload || n.opts.Defaults.Mode == network.TikTokInbox {
		required = append(required, network.RequiredScope{
			Scope: scopeVideoUpload, Effect: "posts cannot be sent to the account's inbox",
		})
	}
	return required
}

// describe returns a summary of the account's settings for people.
func (c creator) describe() string {
	text := "Audiences: " + audienceList(c.Privacy)
	switch {
	case c.MaxVideoSeconds >= 120 && c.MaxVideoSeconds%60 == 0:
		text += fmt.Sprintf(". Longest video: %d minutes", c.MaxVideoSeconds/60)
	case c.MaxVideoSeconds > 0:
		text += fmt.Sprintf(". Longest video: %d seconds", c.MaxVideoSeconds)
	}
	var disabledFeatures []string
	for _, feature := range []struct {
		name     string
		disabled bool
	}{{"comments", c.NoComment}, {"duets", c.NoDuet}, {"stitches", c.NoStitch}} {
		if feature.disabled {
			disabledFeatures = append(disabledFeatures, feature.name)
		}
	}
	if len(disabledFeatures) > 0 {
		text += ". Turned off: " + strings.Join(disabledFeatures, ", ")
	}
	return text
}
