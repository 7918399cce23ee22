package x

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"pressroom.example/pressroom/internal/network"
)

// Revoke revokes the tokens of a grant, starting with the refresh token. Other grants of the same account remain valid.
// Source: https://docs.x.com/resources/fundamentals/authentication/oauth-2-0/authorization-code.
func (n *Network) Revoke(ctx context.Context, g network.Grant) error {
	for _, token := range []struct{ text, hint string }{{g.RefreshToken, "refresh_token"}, {g.AccessToken, "access_token"}} {
		if token.text == "" {
			continue
		}
		err := n.revokeToken(ctx, g.Server, token.text, token.hint)
		if netErr, ok := errors.AsType[*network.Error](err); ok && netErr.Class == network.ReconnectRequired {
			continue // already invalid
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (n *Network) revokeToken(ctx context.Context, server, token, hint string) error {
	c := n.newCall(network.Grant{Server: server}, http.MethodPost, "oauth2/revoke")
	c.Purpose, c.Secrets = network.PurposeAuthorize, []string{n.opts.ClientSecret, token}
	c.Form = url.Values{"client_id": {n.opts.ClientID}, "token": {token}, "token_type_hint": {hint}}
	c.Header = n.basicAuth()
	var response struct {
		Revoked bool `json:"revoked"`
	}
	return n.do(ctx, c, &response)
}
