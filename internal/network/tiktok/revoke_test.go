package tiktok_test

import (
	"errors"
	"testing"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/network/networktest"
)

// What the account allowed ends, also by an access token that has to be renewed for it.
func TestRevoke(t *testing.T) {
	t.Parallel()
	for name, age := range map[string]time.Duration{"at once": 0, "later": 3 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 0)
			g, other := w.connect("harbour.coffee"), w.connect("mira.keller")
			w.clock.Advance(age)
			if err := w.network().Revoke(t.Context(), g); err != nil {
				t.Fatal(err)
			}
			_, err := w.network().Refresh(t.Context(), g)
			networktest.WantClass(t, err, network.AuthDead, "invalid_grant")
			if _, err := w.network().Refresh(t.Context(), other); err != nil {
				t.Errorf("somebody else's grant: %v", err)
			}
			err = w.network().Revoke(t.Context(), g)
			want := network.AuthDead
			if age > 0 {
				want = network.Rejected // whether it stands there is not known
			}
			networktest.WantClass(t, err, want, "invalid_grant")
			g.Holder = ""
			if err := w.network().Revoke(t.Context(), g); !errors.Is(err, network.ErrNoMeans) {
				t.Errorf("of nobody known: %v", err)
			}
		})
	}
}
