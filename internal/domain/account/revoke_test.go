package account_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"pressroom/internal/domain/account"
	"pressroom/internal/network"
	"pressroom/internal/testkit"
)

// permitted is a network on which a person allows several accounts at once: the name before the dot is the person's.
type permitted struct {
	handles

	told []string // holders
	fail error
}

func (p *permitted) Connect(_ context.Context, c network.Credentials) (network.Grant, error) {
	return network.Grant{Account: c.Identifier, Username: c.Identifier, Access: "access", Holder: c.Server}, nil
}

func (p *permitted) Revoke(_ context.Context, g network.Grant) error {
	p.told = append(p.told, g.Holder)
	return p.fail
}

// permission is a home on such a network, with a clock.
type permission struct {
	*home
	*permitted

	t     *testing.T
	clock *testkit.Clock
}

func eachPermission(t *testing.T, run func(t *testing.T, p permission)) {
	t.Helper()
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		p := permission{permitted: &permitted{}, t: t, clock: testkit.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))}
		p.home = furnish(t, testkit.Open(t, url, p.clock), p.permitted)
		run(t, p)
	})
}

func (p permission) allows(holder, name string) account.Account {
	p.t.Helper()
	a, err := p.service.Connect(p.t.Context(), p.team, "bluesky", network.Credentials{Server: holder, Identifier: name})
	if err != nil {
		p.t.Fatal(err)
	}
	return a
}

func (p permission) leaves(a account.Account, want account.Revoked) {
	p.t.Helper()
	if got, err := p.service.Disconnect(p.t.Context(), p.owner, p.team, a.ID); err != nil || got != want {
		p.t.Errorf("%s is disconnected as %q, want %q (%v)", a.Username, got, want, err)
	}
}

// stands tells what the team sees became of its grants, the newest first, and how many are kept.
func (p permission) stands(sealed int, want ...account.Revoked) {
	p.t.Helper()
	found, err := p.service.TakenBack(p.t.Context(), p.team)
	var got []account.Revoked
	for _, one := range found {
		got = append(got, one.State)
	}
	if err != nil || !slices.Equal(got, want) {
		p.t.Errorf("the team is told %v, want %v (%v)", got, want, err)
	}
	var kept int
	if err := p.db.QueryRow(p.t.Context(), `SELECT COUNT(*) FROM grant_revocations WHERE length(sealed_grant) > 0`).Scan(&kept); err != nil || kept != sealed {
		p.t.Errorf("%d grants are kept, want %d (%v)", kept, sealed, err)
	}
}

// renew runs a round at a later time.
func (p permission) renew(later time.Duration) {
	p.t.Helper()
	p.clock.Advance(later)
	if err := p.service.Renew(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
}

// What one person allowed for several accounts is taken back with the last of them.
func TestRevokeWithTheLast(t *testing.T) {
	eachPermission(t, func(t *testing.T, p permission) {
		first, second, other := p.allows("x:ada", "one"), p.allows("x:ada", "two"), p.allows("x:mira", "three")
		p.leaves(first, account.KeptThere)
		p.leaves(other, account.RevokedThere)
		p.leaves(second, account.RevokedThere)
		if !slices.Equal(p.told, []string{"x:mira", "x:ada"}) {
			t.Errorf("told of %v", p.told)
		}
		p.stands(0, account.RevokedThere, account.RevokedThere, account.KeptThere)
	})
}

// Where it is not known whose permission another account rests on, nothing is taken back.
func TestRevokeBesideUnknown(t *testing.T) {
	eachPermission(t, func(_ *testing.T, p permission) {
		known := p.allows("x:ada", "one")
		unknown := p.allows("", "two")
		p.leaves(known, account.KeptThere)
		p.leaves(unknown, account.RevokedThere)
	})
}

// A network that is out of reach is told again, at longer and longer distances, and for a day at most; then the grant is
// deleted all the same.
func TestRevokeAgain(t *testing.T) {
	eachPermission(t, func(t *testing.T, p permission) {
		p.fail = &network.Error{Class: network.Transient}
		p.leaves(p.allows("x:ada", "one"), account.Revoking)
		p.stands(1, account.Revoking)
		p.renew(30 * time.Second)
		if len(p.told) != 1 {
			t.Fatalf("told %d times in half a minute", len(p.told))
		}
		p.renew(time.Minute)
		p.renew(time.Second)
		if len(p.told) != 2 {
			t.Fatalf("told %d times", len(p.told))
		}
		p.fail = nil
		p.renew(6 * time.Minute)
		p.stands(0, account.RevokedThere)
		p.fail = &network.Error{Class: network.Transient}
		p.leaves(p.allows("x:mira", "two"), account.Revoking)
		for range 30 {
			p.renew(time.Hour)
		}
		p.stands(0, account.NotRevoked, account.RevokedThere)
		if tries := len(p.told) - 3; tries < 5 || tries > 8 {
			t.Errorf("tried %d times in a day", tries)
		}
	})
}

// Whoever allows it again meanwhile keeps what was allowed.
func TestRevokeNoMore(t *testing.T) {
	eachPermission(t, func(t *testing.T, p permission) {
		p.fail = &network.Error{Class: network.Transient}
		p.leaves(p.allows("x:ada", "one"), account.Revoking)
		p.fail = nil
		p.allows("x:ada", "two")
		p.stands(0, account.KeptThere)
		p.renew(time.Hour)
		if len(p.told) != 1 {
			t.Errorf("told %d times", len(p.told))
		}
	})
}

// What a network refuses for good, has no way for, or calls dead, is not tried again.
func TestRevokeRefused(t *testing.T) {
	eachPermission(t, func(t *testing.T, p permission) {
		for _, c := range []struct {
			fail error
			want account.Revoked
		}{
			{&network.Error{Class: network.Rejected}, account.NotRevoked},
			{&network.Error{Class: network.AuthDead}, account.RevokedThere},
			{network.ErrNoMeans, account.NotOffered},
		} {
			p.fail = c.fail
			p.leaves(p.allows("x:ada", "one"), c.want)
		}
		p.renew(time.Hour)
		if len(p.told) != 3 {
			t.Errorf("told %d times", len(p.told))
		}
	})
}
