package youtube

import (
	"cmp"
	"context"
	"net/http"
	"net/url"

	"pressroom/internal/network"
)

// holder is how a channel is named as the holder of grants: Google ends all that the one who signed in gave this app.
const holder = "youtube:"

// Revoke ends what the person allowed, by the refresh token, with which all others go (Google Identity, Using OAuth
// 2.0 for Web Server Applications, Revoking a token).
func (n *Network) Revoke(ctx context.Context, g network.Grant) error {
	if g.Holder == "" {
		return network.ErrNoMeans // it is not known whose it is too
	}
	token := cmp.Or(g.Refresh, g.Access)
	answer, err := n.client.Do(ctx, network.Call{
		Purpose: network.Signing, Name: "revoke", Method: http.MethodPost, URL: n.opts.TokenHost + "/revoke",
		Form: url.Values{"token": {token}}, Secrets: []string{token},
	})
	if err != nil || answer.Status == http.StatusOK {
		return err
	}
	refused := unsigned(answer)
	if refused.Code == "invalid_token" {
		refused.Class = network.AuthDead
	}
	return refused
}
