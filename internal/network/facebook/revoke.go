package facebook

import (
	"context"

	"pressroom.example/pressroom/internal/network"
)

// Revoke revokes all permissions that the person granted to the app.
//
// Source: https://developers.facebook.com/docs/graph-api/reference/user/permissions
func (n *Network) Revoke(ctx context.Context, g network.Grant) error {
	return n.login().RevokePermissions(ctx, g.Server, g.Holder, g.RefreshToken)
}
