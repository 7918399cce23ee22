package account_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

const day = 24 * time.Hour

// expiringNetwork is a network whose grants expire, with configurable results of a refresh.
type expiringNetwork struct {
	network.Network

	clock     *testkit.Clock
	lifetime  time.Duration
	token     string // refresh token; may be empty
	holder    string // holder of the grants; empty if unknown
	fail      error
	calls     atomic.Int64
	onRefresh func() // called during a refresh
}

func (m *expiringNetwork) Platform() string { return "threads" }

func (m *expiringNetwork) grant() network.Grant {
	return network.Grant{Account: "1", Username: "harbour", AccessToken: "access", RefreshToken: m.token, Holder: m.holder,
		Expires: m.clock.Now().Add(m.lifetime)}
}

func (m *expiringNetwork) Connect(context.Context, network.Credentials) (network.Grant, error) {
	return m.grant(), nil
}

func (m *expiringNetwork) Refresh(context.Context, network.Grant) (network.Grant, error) {
	m.calls.Add(1)
	if m.onRefresh != nil {
		m.onRefresh()
	}
	return m.grant(), m.fail
}

// grantEnv has an account of an expiringNetwork.
type grantEnv struct {
	*expiringNetwork

	t       *testing.T
	db      *db.DB
	service *account.Service
	account account.Account
}

func eachGrant(t *testing.T, life time.Duration, token string, run func(t *testing.T, l *grantEnv)) {
	t.Helper()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
		m := &expiringNetwork{clock: clock, lifetime: life, token: token}
		h := newEnv(t, testkit.Open(t, url, clock), m)
		l := &grantEnv{expiringNetwork: m, t: t, db: h.db, service: h.service}
		var err error
		if l.account, err = h.service.Connect(t.Context(), h.team, "threads", network.Credentials{}); err != nil {
			t.Fatal(err)
		}
		run(t, l)
	})
}

// after advances the clock, calls Renew, and checks the total number of refreshes and the connection's state.
func (l *grantEnv) after(d time.Duration, calls int64, want account.Connection) {
	l.t.Helper()
	l.clock.Advance(d)
	must.NoError(l.t, l.service.Renew(l.t.Context()))
	of, err := l.service.ByID(l.t.Context(), l.db, l.account.TeamID, []int64{l.account.ID})
	if got := of[l.account.ID].Connection; err != nil || got != want || l.calls.Load() != calls {
		l.t.Errorf("%s after %d calls, want %s after %d (%v)", got, l.calls.Load(), want, calls, err)
	}
}

func TestRenewLongLivedGrants(t *testing.T) {
	t.Parallel()
	eachGrant(t, 60*day, "refresh", func(_ *testing.T, l *grantEnv) {
		l.after(0, 0, account.Connected)
		l.after(30*day-time.Second, 0, account.Connected)
		l.after(time.Second, 1, account.Connected)
		l.after(time.Minute, 1, account.Connected)
		l.after(30*day, 2, account.Connected)
	})
}

// Renewal stores the holder of a grant that had none before.
func TestRenewFillsInHolder(t *testing.T) {
	t.Parallel()
	eachGrant(t, 60*day, "refresh", func(t *testing.T, l *grantEnv) {
		checkHolder := func(want string) {
			t.Helper()
			var holder string
			if err := l.db.QueryRow(t.Context(), `SELECT grant_holder FROM social_accounts WHERE id = ?`,
				l.account.ID).Scan(&holder); err != nil || holder != want {
				t.Errorf("holder %q, want %q (%v)", holder, want, err)
			}
		}
		checkHolder("")
		l.holder = "threads:7"
		l.after(30*day, 1, account.Connected)
		checkHolder("threads:7")
	})
}

func TestRenewShortLivedGrants(t *testing.T) {
	t.Parallel()
	eachGrant(t, time.Hour, "refresh", func(_ *testing.T, l *grantEnv) {
		l.after(49*time.Minute, 0, account.Connected)
		l.after(time.Minute, 1, account.Connected)
	})
}

// A network that is unreachable for a long time loses no connection and is retried with delays.
func TestRenewTransientFailureKeepsConnection(t *testing.T) {
	t.Parallel()
	eachGrant(t, time.Hour, "refresh", func(_ *testing.T, l *grantEnv) {
		l.fail = &network.Error{Class: network.Transient, Err: errors.New("cut off")}
		l.after(50*time.Minute, 1, account.Connected)
		l.after(time.Minute, 1, account.Connected)
		l.after(4*time.Minute, 2, account.Connected)
		l.fail = &network.Error{Class: network.RateLimited, RetryAt: l.clock.Now().Add(3 * time.Hour)}
		l.after(5*time.Minute, 3, account.Connected)
		l.after(2*time.Hour, 3, account.Connected)
		l.fail = nil
		l.after(time.Hour, 4, account.Connected)
	})
}

func TestRenewDeadGrant(t *testing.T) {
	t.Parallel()
	eachGrant(t, time.Hour, "refresh", func(_ *testing.T, l *grantEnv) {
		l.fail = &network.Error{Class: network.ReconnectRequired}
		l.after(50*time.Minute, 1, account.Lost)
		l.after(time.Hour, 1, account.Lost)
	})
}

// A grant that cannot be renewed works until it expires. Its connection is expiring for the last week.
func TestGrantWithoutRefreshExpires(t *testing.T) {
	t.Parallel()
	eachGrant(t, 60*day, "", func(t *testing.T, l *grantEnv) {
		l.fail = &network.Error{Class: network.ReconnectRequired}
		l.after(30*day, 1, account.Connected)
		l.after(23*day-time.Second, 1, account.Connected)
		l.after(time.Second, 1, account.Expiring)
		l.after(7*day-time.Second, 1, account.Expiring)
		l.after(time.Second, 1, account.Lost)
		var kinds string
		err := l.db.QueryRow(t.Context(), `SELECT MIN(kind) || ' ' || MAX(kind) FROM events
			WHERE kind <> 'social_account.connected' AND kind LIKE 'social_account.%'`).Scan(&kinds)
		if err != nil || kinds != "social_account.expiring social_account.lost" {
			t.Errorf("events: %q (%v)", kinds, err)
		}
	})
}

// A concurrent renewal or rejection of the old grant does not undo a reconnection.
func TestReconnectDuringRenewal(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]error{"renewed": nil, "refused": &network.Error{Class: network.ReconnectRequired}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachGrant(t, time.Hour, "refresh", func(t *testing.T, l *grantEnv) {
				l.fail = fail
				l.onRefresh = func() {
					l.token = "new"
					if _, err := l.service.Connect(t.Context(), l.account.TeamID, "threads",
						network.Credentials{}); err != nil {
						t.Error(err)
					}
					l.token = "old"
				}
				l.after(50*time.Minute, 1, account.Connected)
				if g, err := l.service.Grant(t.Context(), l.account.ID); err != nil || g.RefreshToken != "new" {
					t.Errorf("the grant is %q (%v)", g.RefreshToken, err)
				}
			})
		})
	}
}

// If a person reconnects the account while a delivery refreshes its grant, the delivery gets the new grant.
func TestReconnectDuringDeliveryRefresh(t *testing.T) {
	t.Parallel()
	eachGrant(t, time.Hour, "refresh", func(t *testing.T, l *grantEnv) {
		stale := must.Get(l.service.Grant(t.Context(), l.account.ID))(t)
		l.fail = &network.Error{Class: network.ReconnectRequired}
		l.onRefresh = func() {
			if _, err := l.service.Connect(t.Context(), l.account.TeamID, "threads",
				network.Credentials{}); err != nil {
				t.Error(err)
			}
		}
		if g, err := l.service.Refresh(t.Context(), l.account.ID, stale); err != nil || g.Lost ||
			g.Version == stale.Version {
			t.Errorf("lost: %t, version %d (%v)", g.Lost, g.Version, err)
		}
	})
}
