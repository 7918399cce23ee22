package tiktok

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"pressroom.example/pressroom/internal/network"
)

// holderPrefix is the prefix of Grant.Holder. The account's ID follows. TikTok revokes all of the account's grants for
// the app at once.
const holderPrefix = "tiktok:"

// Revoke revokes the grant. The call needs a valid access token, so an expired token is refreshed first. Source:
// https://developers.tiktok.com/doc/oauth-user-access-token-management (/v2/oauth/revoke/).
func (n *Network) Revoke(ctx context.Context, g network.Grant) error {
	if g.Holder == "" {
		return network.ErrRevokeUnsupported // another grant of the same account may be in use
	}
	if !g.Expires.IsZero() && !n.opts.Now().Before(g.Expires) {
		refreshed, err := n.Refresh(ctx, g)
		if netErr, ok := errors.AsType[*network.Error](err); ok && netErr.Class == network.ReconnectRequired {
			// An earlier attempt may have used up the refresh token. The app may then still have access to the account.
			return &network.Error{
				Class: network.Rejected, Status: http.StatusBadRequest, Code: netErr.Code,
				Err: errors.New("the access token has expired and cannot be refreshed; remove the app in TikTok's settings"),
			}
		}
		if err != nil {
			return err
		}
		g = refreshed
	}
	app := n.appFor(g.Kind)
	_, err := n.callOAuth(ctx, g.Server, "oauth/revoke/",
		url.Values{"client_key": {app.ClientID}, "client_secret": {app.ClientSecret}, "token": {g.AccessToken}})
	return err
}
