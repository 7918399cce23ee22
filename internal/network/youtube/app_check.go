package youtube

import (
	"context"
	"errors"
	"net/url"
	"slices"

	"pressroom.example/pressroom/internal/network"
)

var _ network.AppChecker = (*Network)(nil)

var scopeRequirements = []network.RequiredScope{
	{Scope: "https://www.googleapis.com/auth/youtube.upload", Effect: network.CannotPublish},
	{Scope: "https://www.googleapis.com/auth/youtube.readonly", Effect: network.MetricsMissing},
	{Scope: reportScope, Effect: "the number of shares is missing"},
}

// CheckApp reports whether the network accepts the app's ID and secret.
func (n *Network) CheckApp(ctx context.Context) []network.Finding {
	_, err := n.requestToken(ctx, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"none"}})
	return []network.Finding{network.CredentialsFinding(platform, "", err)}
}

// CheckAccount reports whether the API is enabled and has quota left, and how long the channel's videos may be. The
// call costs one unit of quota. Only an uploaded video shows whether YouTube keeps uploads private until the app has
// passed its audit.
func (n *Network) CheckAccount(ctx context.Context, g network.Grant) []network.Finding {
	var response struct {
		Items []struct {
			Status struct {
				LongUploads string `json:"longUploadsStatus"`
			} `json:"status"`
		} `json:"items"`
	}
	err := n.read(ctx, g, "channels", url.Values{"part": {"status"}, "mine": {"true"}}, &response)
	if err == nil && len(response.Items) == 0 {
		err = &network.Error{Class: network.ReconnectRequired, Code: codeNoChannel,
			Err: errors.New("the account has no channel")}
	}
	findings := []network.Finding{network.CallFinding(platform, "Data API and quota", err)}
	if err != nil {
		return findings
	}
	findings = append(findings, network.CheckScopes(g.Scopes, n.requiredScopes()...)...)
	longVideos := network.Finding{Subject: "videos longer than 15 minutes", Result: network.CheckPassed}
	if response.Items[0].Status.LongUploads != "allowed" {
		longVideos.Result, longVideos.NextStep = network.CheckUnclear,
			"The channel's owner has to verify the channel at youtube.com/verify."
		longVideos.Detail = "The channel is not verified."
	}
	return append(findings, longVideos)
}

func (n *Network) requiredScopes() []network.RequiredScope {
	edit := network.RequiredScope{Scope: scopeEdit, Effect: "videos cannot be added to playlists"}
	switch {
	case n.opts.Playlists:
	case n.opts.FirstComments:
		edit.Effect = network.CommentsMissing
	default:
		return scopeRequirements
	}
	return append(slices.Clone(scopeRequirements), edit)
}
