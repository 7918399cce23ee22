package account_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// holderNetwork is a network where one consent covers several accounts. The server of the credentials is the holder.
type holderNetwork struct {
	handleNetwork

	revoked []string // holders
	fail    error
}

func (p *holderNetwork) Connect(_ context.Context, c network.Credentials) (network.Grant, error) {
	return network.Grant{Account: c.Identifier, Username: c.Identifier, AccessToken: "access", Holder: c.Server}, nil
}

func (p *holderNetwork) Revoke(_ context.Context, g network.Grant) error {
	p.revoked = append(p.revoked, g.Holder)
	return p.fail
}

// revokeEnv is an env with a holderNetwork and a clock.
type revokeEnv struct {
	*env
	*holderNetwork

	t     *testing.T
	clock *testkit.Clock
}

func eachRevoke(t *testing.T, run func(t *testing.T, p revokeEnv)) {
	t.Helper()
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		p := revokeEnv{holderNetwork: &holderNetwork{}, t: t,
			clock: testkit.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))}
		p.env = newEnv(t, testkit.Open(t, url, p.clock), p.holderNetwork)
		run(t, p)
	})
}

func (p revokeEnv) connect(holder, name string) account.Account {
	p.t.Helper()
	a := must.Get(p.service.Connect(p.t.Context(), p.team, "bluesky", network.Credentials{Server: holder, Identifier: name}))(p.t)
	return a
}

func (p revokeEnv) disconnect(a account.Account, want account.RevocationState) {
	p.t.Helper()
	if got, err := p.service.Disconnect(p.t.Context(), p.owner, p.team, a.ID); err != nil || got != want {
		p.t.Errorf("revocation of %s is %q, want %q (%v)", a.Username, got, want, err)
	}
}

// checkRevocations checks the states of revocations, newest first, and the number of stored grants.
func (p revokeEnv) checkRevocations(sealed int, want ...account.RevocationState) {
	p.t.Helper()
	found, err := p.service.ListDisconnected(p.t.Context(), p.team)
	var got []account.RevocationState
	for _, one := range found {
		got = append(got, one.State)
	}
	if err != nil || !slices.Equal(got, want) {
		p.t.Errorf("states %v, want %v (%v)", got, want, err)
	}
	var kept int
	if err := p.db.QueryRow(p.t.Context(), `SELECT COUNT(*) FROM grant_revocations
		WHERE length(sealed_grant) > 0`).Scan(&kept); err != nil || kept != sealed {
		p.t.Errorf("%d stored grants, want %d (%v)", kept, sealed, err)
	}
}

// renew advances the clock and calls Renew.
func (p revokeEnv) renew(later time.Duration) {
	p.t.Helper()
	p.clock.Advance(later)
	must.NoError(p.t, p.service.Renew(p.t.Context()))
}

// A consent for several accounts is revoked when the last account is disconnected.
func TestRevokeLastAccount(t *testing.T) {
	eachRevoke(t, func(t *testing.T, p revokeEnv) {
		first, second, other := p.connect("x:ada", "one"), p.connect("x:ada", "two"), p.connect("x:mira", "three")
		p.disconnect(first, account.RevocationKept)
		p.disconnect(other, account.RevocationRevoked)
		p.disconnect(second, account.RevocationRevoked)
		if !slices.Equal(p.revoked, []string{"x:mira", "x:ada"}) {
			t.Errorf("revoked grants of %v", p.revoked)
		}
		p.checkRevocations(0, account.RevocationRevoked, account.RevocationRevoked, account.RevocationKept)
	})
}

// A grant is not revoked while another account has an unknown holder.
func TestRevokeWithUnknownHolder(t *testing.T) {
	eachRevoke(t, func(_ *testing.T, p revokeEnv) {
		known := p.connect("x:ada", "one")
		unknown := p.connect("", "two")
		p.disconnect(known, account.RevocationKept)
		p.disconnect(unknown, account.RevocationRevoked)
	})
}

// Revocation at an unreachable network is retried with growing delays for a day. Then the grant is deleted.
func TestRevokeAgain(t *testing.T) {
	eachRevoke(t, func(t *testing.T, p revokeEnv) {
		p.fail = &network.Error{Class: network.Transient}
		p.disconnect(p.connect("x:ada", "one"), account.RevocationWaiting)
		p.checkRevocations(1, account.RevocationWaiting)
		p.renew(30 * time.Second)
		if len(p.revoked) != 1 {
			t.Fatalf("%d attempts in 30 seconds, want 1", len(p.revoked))
		}
		p.renew(time.Minute)
		p.renew(time.Second)
		if len(p.revoked) != 2 {
			t.Fatalf("%d attempts", len(p.revoked))
		}
		p.fail = nil
		p.renew(6 * time.Minute)
		p.checkRevocations(0, account.RevocationRevoked)
		p.fail = &network.Error{Class: network.Transient}
		p.disconnect(p.connect("x:mira", "two"), account.RevocationWaiting)
		for range 30 {
			p.renew(time.Hour)
		}
		p.checkRevocations(0, account.RevocationFailed, account.RevocationRevoked)
		if tries := len(p.revoked) - 3; tries < 5 || tries > 8 {
			t.Errorf("%d attempts in a day", tries)
		}
	})
}

// A new consent of the same holder cancels the revocation.
func TestReconnectCancelsRevocation(t *testing.T) {
	eachRevoke(t, func(t *testing.T, p revokeEnv) {
		p.fail = &network.Error{Class: network.Transient}
		p.disconnect(p.connect("x:ada", "one"), account.RevocationWaiting)
		p.fail = nil
		p.connect("x:ada", "two")
		p.checkRevocations(0, account.RevocationKept)
		p.renew(time.Hour)
		if len(p.revoked) != 1 {
			t.Errorf("%d attempts", len(p.revoked))
		}
	})
}

// A revocation is not retried if the network rejects it, does not support it, or reports that the grant is invalid.
func TestRevokeRejected(t *testing.T) {
	eachRevoke(t, func(t *testing.T, p revokeEnv) {
		for _, c := range []struct {
			fail error
			want account.RevocationState
		}{
			{&network.Error{Class: network.Rejected}, account.RevocationFailed},
			{&network.Error{Class: network.ReconnectRequired}, account.RevocationRevoked},
			{network.ErrRevokeUnsupported, account.RevocationUnsupported},
		} {
			p.fail = c.fail
			p.disconnect(p.connect("x:ada", "one"), c.want)
		}
		p.renew(time.Hour)
		if len(p.revoked) != 3 {
			t.Errorf("%d attempts", len(p.revoked))
		}
	})
}
