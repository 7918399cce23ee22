// Package account is the team's accounts at the networks: which there are, how their connection stands, and the
// sealed grants by which we act for them.
package account

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"pressroom/internal/auth/tokencrypt"
	"pressroom/internal/network"
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/db"
)

// Connection is how the connection to an account stands.
type Connection string

// The states of a connection (contract, Records).
const (
	Connected Connection = "connected"
	Expiring  Connection = "expiring"
	Lost      Connection = "lost"
)

// Account is a connected account as it is stored, without its grant.
type Account struct {
	ID          int64
	TeamID      int64
	Platform    string
	NetworkID   string
	Username    string
	DisplayName string
	Connection  Connection
	Probe       string // "refused" where the network refused us, else empty
	Status      string // "needs_reauth" where a person has to connect again, else empty
}

// Active tells whether posts can go out to the account.
func (a Account) Active() bool { return a.Connection != Lost }

// Service keeps accounts.
type Service struct {
	db       *db.DB
	seal     *tokencrypt.Sealer
	networks map[string]network.Network
	told     func(ctx context.Context, tx *db.Tx, account int64) error
	left     func(ctx context.Context, tx *db.Tx, account int64) error
}

// New makes the service over the networks that the program speaks with.
func New(d *db.DB, s *tokencrypt.Sealer, networks ...network.Network) *Service {
	out := &Service{db: d, seal: s, networks: map[string]network.Network{}}
	for _, n := range networks {
		out.networks[n.Platform()] = n
	}
	return out
}

// OnConnect has somebody learn of each account that is connected, or connected again, in the transaction that does it.
func (s *Service) OnConnect(connected func(ctx context.Context, tx *db.Tx, account int64) error) {
	s.told = connected
}

// Platforms are the networks that the program speaks with, by name.
func (s *Service) Platforms() []string { return slices.Sorted(maps.Keys(s.networks)) }

// ErrNoNetwork says that the program does not speak with a network.
var ErrNoNetwork = errors.New("there is no such network here")

// Network finds a network by its platform.
func (s *Service) Network(platform string) (network.Network, error) {
	n := s.networks[platform]
	if n == nil {
		return nil, fmt.Errorf("%w: %q", ErrNoNetwork, platform)
	}
	return n, nil
}

// Rules are what a network takes of a post here; false for one that does not tell, or that is not spoken with.
func (s *Service) Rules(platform string) (network.Rules, bool) {
	ruled, ok := s.networks[platform].(network.Ruled)
	if !ok {
		return network.Rules{}, false
	}
	return ruled.Takes(), true
}

// Connect connects an account, or connects it again. An older grant stays until the new one has worked.
func (s *Service) Connect(ctx context.Context, team int64, platform string, c network.Credentials) (Account, error) {
	n, err := s.Network(platform)
	if err != nil {
		return Account{}, err
	}
	grant, err := n.Connect(ctx, c)
	if err != nil {
		return Account{}, fmt.Errorf("connecting to %s: %w", platform, err)
	}
	a := Account{TeamID: team, Platform: platform, NetworkID: grant.Account, Username: grant.Username, DisplayName: grant.Username}
	err = s.db.InTx(ctx, "social.connect", func(ctx context.Context, tx *db.Tx) error {
		a, err = s.storeAccount(ctx, tx, a, grant, auditlog.Actor{})
		return err
	})
	return a, err
}

// storeAccount adds an account with its grant; one that the team has gets the new grant.
func (s *Service) storeAccount(ctx context.Context, tx *db.Tx, a Account, grant network.Grant, by auditlog.Actor) (Account, error) {
	now := db.Micros(tx.Now())
	a.Connection = connectionState(grant, tx.Now())
	row := tx.QueryRow(ctx, `INSERT INTO social_accounts (team_id, platform, network_id, username, display_name, connection_state, sealed_grant, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (team_id, platform, network_id) DO UPDATE SET username = excluded.username,
		display_name = excluded.display_name, connection_state = excluded.connection_state, connection_probe = '', account_status = '', disconnected_at = 0, updated_at = excluded.updated_at
		RETURNING id`, a.TeamID, a.Platform, a.NetworkID, a.Username, a.DisplayName, string(a.Connection), []byte{}, now, now)
	if err := row.Scan(&a.ID); err != nil {
		return a, fmt.Errorf("keeping an account: %w", err)
	}
	if err := s.storeGrant(ctx, tx, a.ID, grant); err != nil {
		return a, err
	}
	if err := cancelRevocation(ctx, tx, grant.Holder); err != nil {
		return a, err
	}
	if s.told != nil {
		if err := s.told(ctx, tx, a.ID); err != nil {
			return a, err
		}
	}
	return a, auditlog.Record(ctx, tx, a.TeamID, by, "social_account.connected", strconv.FormatInt(a.ID, 10), map[string]any{"platform": a.Platform})
}

func (s *Service) storeGrant(ctx context.Context, tx *db.Tx, id int64, g network.Grant) error {
	plain, err := json.Marshal(g)
	if err != nil {
		return fmt.Errorf("writing a grant: %w", err)
	}
	sealed, err := s.seal.Seal(plain, sealContext(id))
	if err != nil {
		return err
	}
	now := tx.Now()
	_, err = tx.Exec(ctx, `UPDATE social_accounts SET sealed_grant = ?, grant_holder = ?, grant_version = grant_version + 1, refreshing_until = 0, refresh_at = ?, ends_at = ?,
		connection_state = CASE WHEN connection_state = ? THEN connection_state ELSE ? END, updated_at = ? WHERE id = ?`,
		sealed, g.Holder, db.Micros(renewAt(g, now)), db.Micros(endsAt(g)), string(Lost), string(connectionState(g, now)), db.Micros(now), id)
	if err != nil {
		return fmt.Errorf("keeping a grant: %w", err)
	}
	return nil
}

func sealContext(id int64) string { return "social_account:" + strconv.FormatInt(id, 10) }

// Grant is a network's grant with the version that tells whether it was renewed since.
type Grant struct {
	network.Grant
	Platform string
	Version  int64
	Lost     bool // the connection is lost: a person has to connect the account again
}

// Grant opens an account's grant.
func (s *Service) Grant(ctx context.Context, account int64) (Grant, error) {
	var g Grant
	var state string
	var sealed []byte
	err := s.db.QueryRow(ctx, `SELECT platform, connection_state, sealed_grant, grant_version FROM social_accounts WHERE id = ?`, account).
		Scan(&g.Platform, &state, &sealed, &g.Version)
	if err != nil {
		return g, fmt.Errorf("reading the grant of account %d: %w", account, err)
	}
	g.Lost = Connection(state) == Lost
	if g.Lost && len(sealed) == 0 {
		return g, nil // a person disconnected it
	}
	plain, err := s.seal.Open(sealed, sealContext(account))
	if err != nil {
		return g, err
	}
	if err := json.Unmarshal(plain, &g.Grant); err != nil {
		return g, fmt.Errorf("reading the grant of account %d: %w", account, err)
	}
	return g, nil
}

const (
	refreshLease = 30 * time.Second       // how long one node may take to refresh a grant
	refreshPoll  = 250 * time.Millisecond // how often the others look whether it has
)

// Refresh renews a grant that its network calls expired and returns the new one. Two nodes never refresh one
// grant at once: its refresh token works only once. A failure that may pass leaves everything as it is; a dead
// token loses the connection.
func (s *Service) Refresh(ctx context.Context, account int64, stale Grant) (Grant, error) {
	for {
		g, err := s.Grant(ctx, account)
		if err != nil || g.Version != stale.Version || g.Lost {
			return g, err
		}
		mine, err := s.lockRefresh(ctx, account, stale.Version)
		if err != nil {
			return g, err
		}
		if mine {
			return s.refresh(ctx, account, g)
		}
		select {
		case <-ctx.Done():
			return g, fmt.Errorf("waiting for another node to refresh account %d: %w", account, ctx.Err())
		case <-time.After(refreshPoll):
		}
	}
}

func (s *Service) lockRefresh(ctx context.Context, account, version int64) (bool, error) {
	var mine bool
	err := s.db.InTx(ctx, "social.lock_refresh", func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, `UPDATE social_accounts SET refreshing_until = ? WHERE id = ? AND grant_version = ? AND refreshing_until < ?`,
			db.Micros(tx.Now().Add(refreshLease)), account, version, db.Micros(tx.Now()))
		mine = n == 1
		return err
	})
	if err != nil {
		return false, fmt.Errorf("locking the refresh of account %d: %w", account, err)
	}
	return mine, nil
}

func (s *Service) refresh(ctx context.Context, account int64, g Grant) (Grant, error) {
	err := s.exchangeGrant(ctx, account, g)
	switch {
	case isDead(err):
		return s.loseRefused(ctx, account, g, err)
	case err != nil:
		return g, errors.Join(err, s.unlockRefresh(ctx, account))
	}
	return s.Grant(ctx, account)
}

// loseRefused loses the connection, unless a person has connected the account anew meanwhile.
func (s *Service) loseRefused(ctx context.Context, account int64, g Grant, why error) (Grant, error) {
	if err := s.markLost(ctx, account, g.Version, "refused"); err != nil {
		return g, errors.Join(why, err)
	}
	if now, err := s.Grant(ctx, account); err == nil && now.Version != g.Version && !now.Lost {
		return now, nil
	}
	return g, why
}

// exchangeGrant gets a new grant for one and keeps it, unless a person has connected the account anew meanwhile.
func (s *Service) exchangeGrant(ctx context.Context, account int64, g Grant) error {
	n, err := s.Network(g.Platform)
	if err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, refreshLease-5*time.Second)
	defer cancel()
	fresh, err := n.Refresh(bounded, g.Grant)
	if err != nil {
		return fmt.Errorf("refreshing the grant of account %d: %w", account, err)
	}
	err = s.db.InTx(ctx, "social.refreshed", func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, `UPDATE social_accounts SET refreshing_until = 0 WHERE id = ? AND grant_version = ?`, account, g.Version)
		if err != nil || n == 0 {
			return err
		}
		return s.storeGrant(ctx, tx, account, fresh)
	})
	if err != nil {
		return fmt.Errorf("keeping the new grant of account %d: %w", account, err)
	}
	return nil
}

// isDead tells whether a network said that a grant is worth nothing any more.
func isDead(err error) bool {
	refused, ok := errors.AsType[*network.Error](err)
	return ok && refused.Class == network.AuthDead
}

func (s *Service) unlockRefresh(ctx context.Context, account int64) error {
	return s.db.InTx(context.WithoutCancel(ctx), "social.unlock_refresh", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE social_accounts SET refreshing_until = 0 WHERE id = ?`, account)
		return err
	})
}

// AnyGrant stands for whichever grant an account has.
var AnyGrant = Grant{Version: math.MaxInt64}

// MarkLost notes that an account's connection is lost until a person connects it again, as its network refused this grant; one that was
// made or renewed since is left alone.
func (s *Service) MarkLost(ctx context.Context, account int64, refused Grant) error {
	return s.markLost(ctx, account, refused.Version, "refused")
}

// markLost loses a connection whose grant has no newer version than this.
func (s *Service) markLost(ctx context.Context, account, version int64, probe string) error {
	return s.db.InTx(ctx, "social.lose", func(ctx context.Context, tx *db.Tx) error {
		var team int64
		err := tx.QueryRow(ctx, `UPDATE social_accounts SET connection_state = ?, connection_probe = ?, account_status = 'needs_reauth', refreshing_until = 0, refresh_at = 0,
			ends_at = 0, updated_at = ? WHERE id = ? AND grant_version <= ? AND connection_state <> ? RETURNING team_id`,
			string(Lost), probe, db.Micros(tx.Now()), account, version, string(Lost)).Scan(&team)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("losing account %d: %w", account, err)
		}
		return auditlog.Record(ctx, tx, team, auditlog.Actor{}, "social_account.lost", strconv.FormatInt(account, 10), nil)
	})
}
