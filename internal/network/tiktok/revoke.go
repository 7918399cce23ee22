package tiktok

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"pressroom/internal/network"
)

// holder is how an account is named as the holder of grants: the network ends all that it gave this app.
const holder = "tiktok:"

// Revoke ends what the person allowed (TikTok for Developers, /v2/oauth/revoke/). It takes an access token, which lives
// for two hours: one that is over is renewed first.
func (n *Network) Revoke(ctx context.Context, g network.Grant) error {
	if g.Holder == "" {
		return network.ErrNoMeans // it is not known whose it is too
	}
	if !g.Expires.IsZero() && !n.opts.Now().Before(g.Expires) {
		fresh, err := n.Refresh(ctx, g)
		if refused, ok := errors.AsType[*network.Error](err); ok && refused.Class == network.AuthDead {
			// A try before this one may have spent the refresh token: what the person allowed may stand all the same.
			return &network.Error{
				Class: network.Rejected, Status: http.StatusBadRequest, Code: refused.Code,
				Err: errors.New("the access token is over and cannot be renewed"),
			}
		}
		if err != nil {
			return err
		}
		g = fresh
	}
	app := n.app(g.Kind)
	_, err := n.oauth(ctx, g.Server, "oauth/revoke/",
		url.Values{"client_key": {app.ClientID}, "client_secret": {app.ClientSecret}, "token": {g.Access}})
	return err
}
