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
	var sessionInfo struct {
		Active    *bool `json:"active"`
		Confirmed *bool `json:"emailConfirmed"`
	}
	err := n.call(ctx, call{
		purpose: network.PurposeRead, verb: http.MethodGet, method: "com.atproto.server.getSession", server: g.Server,
		token: g.AccessToken, out: &sessionInfo,
	})
	if err == nil && sessionInfo.Active != nil && !*sessionInfo.Active {
		err = &network.Error{Class: network.ReconnectRequired, Code: "AccountInactive", Message: "The account is not active."}
	}
	findings := []network.Finding{network.CallFinding(platform, "session", err)}
	if err != nil || !n.usesVideoService(g) {
		return findings
	}
	const subject = "videos"
	err = n.checkVideoLimits(ctx, g, 0)
	if errors.Is(err, errNoVideoService) {
		return append(findings, network.Finding{
			Subject: subject, Result: network.CheckUnclear,
			Detail: "Bluesky’s video service does not accept uploads from the account. Its videos are processed only after a " +
				"post is published.",
		})
	}
	video := network.CallFinding(platform, subject, err)
	switch {
	case video.Result == network.CheckFailed && sessionInfo.Confirmed != nil && !*sessionInfo.Confirmed:
		video.NextStep = "The account's owner has to confirm the email address on Bluesky."
	case video.Result == network.CheckFailed && video.NextStep == "":
		video.NextStep = "The account's owner has to sign in to Bluesky and follow its instructions."
	}
	return append(findings, video)
}
