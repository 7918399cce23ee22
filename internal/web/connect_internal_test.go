package web

import (
	"testing"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/instagram"
	"pressroom.example/pressroom/internal/network/linkedin"
)

// Each way to sign in has a hint on networks with several ways.
func TestWayHints(t *testing.T) {
	t.Parallel()
	app := network.App{ClientID: "1"}
	for _, n := range []network.Authorizer{
		instagram.New(instagram.Options{App: app, Facebook: instagram.Facebook{ClientID: "2"}}),
		linkedin.New(linkedin.Options{App: app, Company: network.OAuthApp{ClientID: "2"}}),
	} {
		kinds := n.Kinds()
		if len(kinds) < 2 {
			t.Errorf("%s has %q", n.Platform(), kinds)
		}
		for _, kind := range kinds {
			if methodHint(n.Platform(), kind) == "" {
				t.Errorf("%s/%s has no hint", n.Platform(), kind)
			}
			if methodTitle(n.Platform(), kind) == "" {
				t.Errorf("%s/%s has no title", n.Platform(), kind)
			}
		}
	}
}
