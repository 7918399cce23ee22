package instagram

import (
	"context"

	"pressroom/internal/network"
)

// Revoke takes from the app all that the person allowed, where that was by Facebook Login. For Instagram Login the
// network documents no way.
func (n *Network) Revoke(ctx context.Context, g network.Grant) error {
	if g.Kind != byFacebook {
		return network.ErrNoMeans
	}
	return n.login().TakeBack(ctx, g.Server, g.Holder, g.Extra[userToken])
}
