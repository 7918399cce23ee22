package facebook

import (
	"context"

	"pressroom/internal/network"
)

// Revoke takes from the app all that the person allowed whose Pages these are (Graph API, /{user-id}/permissions).
func (n *Network) Revoke(ctx context.Context, g network.Grant) error {
	return n.login().TakeBack(ctx, g.Server, g.Holder, g.Refresh)
}
