package youtube

import (
	"context"
	"errors"
	"net/url"
	"slices"

	"pressroom.example/pressroom/internal/network"
)

var _ network.AppChecker = (*Network)(nil)

var needs = []network.RequiredScope{
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
	var answer struct {
		Items []struct {
			Status struct {
				LongUploads string `json:"longUploadsStatus"`
			} `json:"status"`
		} `json:"items"`
	}
	err := n.read(ctx, g, "channels", url.Values{"part": {"status"}, "mine": {"true"}}, &answer)
	if err == nil && len(answer.Items) == 0 {
		err = &network.Error{Class: network.ReconnectRequired, Code: codeNoChannel,
			Err: errors.New("the account has no channel")}
	}
	found := []network.Finding{network.CallFinding(platform, "Data API and quota", err)}
	if err != nil {
		return found
	}
	found = append(found, network.CheckScopes(g.Scopes, n.requiredScopes()...)...)
	long := network.Finding{Subject: "videos longer than 15 minutes", Result: network.CheckPassed}
	if answer.Items[0].Status.LongUploads != "allowed" {
		long.Result, long.NextStep = network.CheckUnclear,
			"The channel's owner has to verify the channel at youtube.com/verify."
		long.Detail = "The channel is not verified."
	}
	return append(found, long)
}

func (n *Network) requiredScopes() []network.RequiredScope {
	edit := network.RequiredScope{Scope: scopeEdit, Effect: "videos cannot be added to playlists"}
	switch {
	case n.opts.Playlists:
	case n.opts.FirstComments:
		edit.Effect = network.CommentsMissing
	default:
		return needs
	}
	return append(slices.Clone(needs), edit)
}
