package youtube_test

import (
	"errors"
	"testing"

	"pressroom/internal/network"
	"pressroom/internal/network/networktest"
)

// With the refresh token all that the person allowed ends.
func TestRevoke(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g, twin, other := w.connect("harbour.coffee"), w.connect("harbour.coffee"), w.connect("mira.keller")
	if err := w.network().Revoke(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	_, err := w.network().Refresh(t.Context(), twin)
	networktest.WantClass(t, err, network.AuthDead, "invalid_grant")
	networktest.WantClass(t, w.network().Revoke(t.Context(), g), network.AuthDead, "invalid_token")
	if _, err := w.network().Refresh(t.Context(), other); err != nil {
		t.Errorf("somebody else's grant: %v", err)
	}
	g.Holder = ""
	if err := w.network().Revoke(t.Context(), g); !errors.Is(err, network.ErrNoMeans) {
		t.Errorf("of nobody known: %v", err)
	}
}
