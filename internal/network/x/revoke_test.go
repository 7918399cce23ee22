package x_test

import (
	"testing"

	"pressroom/internal/network"
	"pressroom/internal/network/networktest"
)

// Both tokens end, and those of another consent of the same account do not; told again, it is over already.
func TestRevoke(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g, twin := w.connect(), w.connect()
	for range 2 {
		if err := w.network().Revoke(t.Context(), g); err != nil {
			t.Fatal(err)
		}
	}
	_, err := w.network().Refresh(t.Context(), g)
	networktest.WantClass(t, err, network.AuthDead, "invalid_request")
	_, err = w.network().Commit(t.Context(), g, w.prepared(g, "too late"), nil)
	networktest.WantClass(t, err, network.AuthRefresh, "")
	if _, err := w.network().Refresh(t.Context(), twin); err != nil {
		t.Errorf("another consent: %v", err)
	}
	w.wantHeld(0)
}

// A network that is out of order is told again.
func TestRevokeFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect()
	w.wire.lose = "oauth2/revoke"
	networktest.WantClass(t, w.network().Revoke(t.Context(), g), network.Transient, "")
}
