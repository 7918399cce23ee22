package account_test

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// rotatingNetwork is a network whose refresh tokens work only once.
type rotatingNetwork struct {
	network.Network
	mu     sync.Mutex
	serial int
	used   map[string]bool
	fail   *network.Error
	calls  atomic.Int64
}

func (n *rotatingNetwork) Platform() string { return "bluesky" }

func (n *rotatingNetwork) grant() network.Grant {
	n.serial++
	serial := string(rune('a' + n.serial))
	return network.Grant{Server: "https://example.test", Account: "did:test:1", Username: "harbour.test",
		AccessToken: "access-" + serial, RefreshToken: "refresh-" + serial}
}

func (n *rotatingNetwork) Connect(context.Context, network.Credentials) (network.Grant, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.grant(), nil
}

func (n *rotatingNetwork) Refresh(_ context.Context, g network.Grant) (network.Grant, error) {
	n.calls.Add(1)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.fail != nil {
		return network.Grant{}, n.fail
	}
	if n.used[g.RefreshToken] {
		return network.Grant{}, &network.Error{Class: network.ReconnectRequired, Code: "ExpiredToken"}
	}
	n.used[g.RefreshToken] = true
	return n.grant(), nil
}

func connectAccount(t *testing.T, d *db.DB, n *rotatingNetwork) (*account.Service, account.Account) {
	t.Helper()
	n.used = map[string]bool{}
	key := must.Get(tokencrypt.NewKey())(t)
	sealer := must.Get(tokencrypt.New(key))(t)
	teams := team.New(d, nil, plan.Default())
	owner := must.Get(teams.AddPerson(t.Context(), "Ada", "ada@example.com", ""))(t)
	made := must.Get(teams.AddTeam(t.Context(), team.Team{Name: "Harbour", Timezone: "UTC", Language: "en", Plan: "team"},
		owner.ID))(t)
	s := account.New(d, sealer, nil, n)
	a := must.Get(s.Connect(t.Context(), made.ID, "bluesky", network.Credentials{}))(t)
	return s, a
}

func eachDatabase(t *testing.T, run func(t *testing.T, d *db.DB)) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) { run(t, testkit.Open(t, url, nil)) })
}

// If 20 workers find an expired token concurrently, it is refreshed once, and all get the new token.
func TestConcurrentRefresh(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d *db.DB) {
		n := &rotatingNetwork{}
		s, a := connectAccount(t, d, n)
		stale := must.Get(s.Grant(t.Context(), a.ID))(t)
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				fresh, err := s.Refresh(t.Context(), a.ID, stale)
				if err != nil || fresh.Lost || fresh.AccessToken == stale.AccessToken {
					t.Errorf("got %s, lost %t (%v)", fresh.AccessToken, fresh.Lost, err)
				}
			})
		}
		wg.Wait()
		if n.calls.Load() != 1 {
			t.Errorf("the token was refreshed %d times", n.calls.Load())
		}
	})
}

// After a transient failure the account stays connected and its grant works again.
func TestTransientFailureKeepsTheConnection(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d *db.DB) {
		n := &rotatingNetwork{}
		s, a := connectAccount(t, d, n)
		stale := must.Get(s.Grant(t.Context(), a.ID))(t)
		n.fail = &network.Error{Class: network.Transient, Err: errors.New("cut off")}
		if _, err := s.Refresh(t.Context(), a.ID, stale); err == nil {
			t.Fatal("Refresh returned no error")
		}
		n.fail = nil
		fresh, err := s.Refresh(t.Context(), a.ID, stale)
		if err != nil || fresh.Lost || fresh.Version == stale.Version {
			t.Fatalf("%+v (%v)", fresh.Version, err)
		}
	})
}

// An invalid token loses the connection. Reconnecting restores the same account.
func TestReconnectRestoresLostAccount(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d *db.DB) {
		n := &rotatingNetwork{}
		s, a := connectAccount(t, d, n)
		stale := must.Get(s.Grant(t.Context(), a.ID))(t)
		n.fail = &network.Error{Class: network.ReconnectRequired, Code: "ExpiredToken"}
		if _, err := s.Refresh(t.Context(), a.ID, stale); err == nil {
			t.Fatal("Refresh with an invalid token succeeded")
		}
		if g, err := s.Grant(t.Context(), a.ID); err != nil || !g.Lost {
			t.Fatalf("lost: %t (%v)", g.Lost, err)
		}
		again, err := s.Connect(t.Context(), a.TeamID, "bluesky", network.Credentials{})
		if err != nil || again.ID != a.ID {
			t.Fatalf("account %d became %d (%v)", a.ID, again.ID, err)
		}
		if g, err := s.Grant(t.Context(), a.ID); err != nil || g.Lost || g.AccessToken == stale.AccessToken {
			t.Fatalf("lost: %t (%v)", g.Lost, err)
		}
		var kinds string
		err = d.QueryRow(t.Context(),
			`SELECT MIN(kind) || ' ' || MAX(kind) FROM events WHERE kind LIKE 'social_account.%connected'`).Scan(&kinds)
		if err != nil || kinds != "social_account.connected social_account.reconnected" {
			t.Errorf("events: %q (%v)", kinds, err)
		}
	})
}

// A node that crashed during a refresh delays other nodes by at most 30 seconds.
func TestRefreshTakeover(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
		d := testkit.Open(t, url, clock)
		n := &rotatingNetwork{}
		s, a := connectAccount(t, d, n)
		stale := must.Get(s.Grant(t.Context(), a.ID))(t)
		must.NoError(t, d.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE social_accounts SET refreshing_until = ?`,
				db.Micros(tx.Now().Add(30*time.Second)))
			return err
		}))
		clock.Advance(31 * time.Second)
		if fresh, err := s.Refresh(t.Context(), a.ID, stale); err != nil || fresh.Version == stale.Version {
			t.Fatalf("%v", err)
		}
	})
}

// Grants are encrypted, and a grant that is copied to another account cannot be decrypted.
func TestGrantsSealedPerAccount(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d *db.DB) {
		n := &rotatingNetwork{}
		s, a := connectAccount(t, d, n)
		var sealed []byte
		must.NoError(t, d.QueryRow(t.Context(), `SELECT sealed_grant FROM social_accounts WHERE id = ?`,
			a.ID).Scan(&sealed))
		if bytes.Contains(sealed, []byte("refresh-")) {
			t.Fatal("the stored grant contains a plain token")
		}
		must.NoError(t, d.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, `INSERT INTO social_accounts (team_id, platform, network_id, username,
				display_name, connection_state, sealed_grant, created_at, updated_at)
				VALUES (?, 'bluesky', 'did:test:2', 'x', 'x', 'connected', ?, 1, 1)`, a.TeamID, sealed)
			return err
		}))
		if _, err := s.Grant(t.Context(), a.ID+1); err == nil {
			t.Fatal("a copied grant was decrypted")
		}
	})
}
