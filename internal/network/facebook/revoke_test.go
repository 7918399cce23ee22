package facebook_test

import (
	"errors"
	"net/http"
	"testing"

	"pressroom/internal/network"
	"pressroom/internal/network/facebook"
	"pressroom/internal/network/networktest"
)

// What the person allowed is taken back at all Pages; told again, it is over already.
func TestRevoke(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g, twin, other := w.connect("harbour.coffee"), w.connect("harbour.coffee"), w.connect("mira.keller")
	if g.Holder != twin.Holder || g.Holder == other.Holder {
		t.Errorf("the holders are %q, %q and %q", g.Holder, twin.Holder, other.Holder)
	}
	if err := w.network().Revoke(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	_, err := w.network().Refresh(t.Context(), twin)
	networktest.WantClass(t, err, network.AuthDead, "190/463")
	networktest.WantClass(t, w.network().Revoke(t.Context(), twin), network.AuthDead, "190/463")
	if _, err := w.network().Refresh(t.Context(), other); err != nil {
		t.Errorf("somebody else's grant: %v", err)
	}
}

// Of a grant whose person is not known, nothing is ended: it could be more than that grant.
func TestRevokeWithoutHolder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect("harbour.coffee")
	g.Holder = ""
	if err := w.network().Revoke(t.Context(), g); !errors.Is(err, network.ErrNoMeans) {
		t.Errorf("revoked: %v", err)
	}
	if fresh, err := w.network().Refresh(t.Context(), g); err != nil || fresh.Holder == "" {
		t.Errorf("grant %+v, %v", fresh, err)
	}
}

// A network that does not say that it did it, is not believed to have.
func TestRevokeUnsaid(t *testing.T) {
	t.Parallel()
	w := answering(t, func(*http.Request) string { return `{}` })
	err := facebook.New(facebook.Options{GraphHost: w.url}).Revoke(t.Context(), network.Grant{Server: w.url, Holder: "facebook:7", Refresh: "person"})
	networktest.WantClass(t, err, network.Transient, "")
}
