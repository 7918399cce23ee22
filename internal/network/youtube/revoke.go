package youtube

import (
	"cmp"
	"context"
	"net/http"
	"net/url"

	"pressroom.example/pressroom/internal/network"
)

// holderPrefix is the prefix of Grant.Holder. The channel's ID follows. Revoking one grant ends the app's entire access
// to the Google account.
const holderPrefix = "youtube:"

// Revoke revokes the refresh token and thereby all tokens of the grant. Source:
// https://developers.google.com/identity/protocols/oauth2/web-server (Revoking a token).
func (n *Network) Revoke(ctx context.Context, g network.Grant) error {
	if g.Holder == "" {
		return network.ErrRevokeUnsupported // another grant of the same account may be in use
	}
	token := cmp.Or(g.RefreshToken, g.AccessToken)
	response, err := n.client.Do(ctx, network.Call{
		Purpose: network.PurposeAuthorize, Name: "revoke", Method: http.MethodPost, URL: n.opts.TokenHost + "/revoke",
		Form: url.Values{"token": {token}}, Secrets: []string{token},
	})
	if err != nil || response.Status == http.StatusOK {
		return err
	}
	netErr := tokenRejection(response)
	if netErr.Code == "invalid_token" {
		netErr.Class = network.ReconnectRequired
	}
	return netErr
}
