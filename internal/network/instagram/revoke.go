package instagram

import (
	"context"

	"pressroom.example/pressroom/internal/network"
)

// Revoke revokes all permissions that the person granted with Facebook Login. Instagram Login does not document a way
// to revoke a grant.
func (n *Network) Revoke(ctx context.Context, g network.Grant) error {
	if g.Kind != kindFacebook {
		return network.ErrRevokeUnsupported
	}
	return n.login().RevokePermissions(ctx, g.Server, g.Holder, g.Extra[userTokenKey])
}
