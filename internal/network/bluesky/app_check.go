package bluesky

import (
	"context"
	"errors"
	"net/http"

	"pressroom.example/pressroom/internal/network"
)

var _ network.AppChecker = (*Network)(nil)

// CheckApp returns nil, because Bluesky requires no app registration.
func (*Network) CheckApp(context.Context) []network.Finding { return nil }

// CheckAccount reports whether the account's session is valid, and whether Bluesky's video service currently accepts
// the account's videos.
func (n *Network) CheckAccount(ctx context.Context, g network.Grant) []network.Finding {
	var about struct {
		Active    *bool `json:"active"`
		Confirmed *bool `json:"emailConfirmed"`
	}
	err := n.call(ctx, call{
		purpose: network.PurposeRead, verb: http.MethodGet, method: "com.atproto.server.getSession", server: g.Server,
		token: g.AccessToken, out: &about,
	})
	if err == nil && about.Active != nil && !*about.Active {
		err = &network.Error{Class: network.ReconnectRequired, Code: "AccountInactive", Message: "The account is not active."}
	}
	found := []network.Finding{network.CallFinding(platform, "session", err)}
	if err != nil || !n.usesVideoService(g) {
		return found
	}
	const subject = "videos"
	err = n.checkVideoLimits(ctx, g, 0)
	if errors.Is(err, errNoVideoService) {
		return append(found, network.Finding{
			Subject: subject, Result: network.CheckUnclear,
			Detail: "Bluesky’s video service does not accept uploads from the account. Its videos are processed only after a " +
				"post is published.",
		})
	}
	video := network.CallFinding(platform, subject, err)
	switch {
	case video.Result == network.CheckFailed && about.Confirmed != nil && !*about.Confirmed:
		video.NextStep = "The account's owner has to confirm the email address on Bluesky."
	case video.Result == network.CheckFailed && video.NextStep == "":
		video.NextStep = "The account's owner has to sign in to Bluesky and follow its instructions."
	}
	return append(found, video)
}
