package instagram_test

import (
	"errors"
	"testing"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/network/networktest"
)

// By Facebook Login all accounts of the person end together; by Instagram Login there is no way.
func TestRevoke(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	direct, paged := w.harbour(), w.connect("facebook", "harbour.coffee")
	if err := w.network().Revoke(t.Context(), direct); !errors.Is(err, network.ErrNoMeans) {
		t.Errorf("by Instagram Login: %v", err)
	}
	if err := w.network().Revoke(t.Context(), paged); err != nil {
		t.Fatal(err)
	}
	w.clock.Advance(25 * time.Hour)
	_, err := w.network().Refresh(t.Context(), paged)
	networktest.WantClass(t, err, network.AuthDead, "190/463")
}
