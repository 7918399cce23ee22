// Package account manages a team's accounts on social networks: their connections and the encrypted grants that let
// pressroom act for them.
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

	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// Connection is the state of the connection to an account.
type Connection string

// The states of a connection.
const (
	Connected Connection = "connected"
	Expiring  Connection = "expiring" // ends within a week unless a person reconnects the account
	Lost      Connection = "lost"     // posts fail until a person reconnects the account
)

// Account is a connected account as stored, without its grant.
type Account struct {
	ID          int64
	TeamID      int64
	Platform    string
	NetworkID   string // ID of the account on the network
	Username    string
	DisplayName string
	Connection  Connection
	Probe       string // "refused" if the network rejected the grant, else empty
	Status      string // "needs_reauth" if a person must reconnect, else empty
	Renewed     bool   // set by Connector: whether the account was already connected
}

// Active reports whether posts can be sent to the account.
func (a Account) Active() bool { return a.Connection != Lost }

// Service manages accounts.
type Service struct {
	db       *db.DB
	seal     *tokencrypt.Sealer
	networks map[string]network.Network
	observer Observer
}

// Observer is notified of connections and disconnections, in the transactions that make them.
type Observer interface {
	AccountConnected(ctx context.Context, tx *db.Tx, account int64) error
	AccountDisconnected(ctx context.Context, tx *db.Tx, account int64) error
}

// New returns a Service for the given networks. The observer may be nil.
func New(d *db.DB, s *tokencrypt.Sealer, observer Observer, networks ...network.Network) *Service {
	out := &Service{db: d, seal: s, observer: observer, networks: map[string]network.Network{}}
	for _, n := range networks {
		out.networks[n.Platform()] = n
	}
	return out
}

// Platforms returns the names of the supported networks.
func (s *Service) Platforms() []string { return slices.Sorted(maps.Keys(s.networks)) }

// ErrNoNetwork reports that this installation does not support a network.
var ErrNoNetwork = errors.New("network not supported")

// Network returns a network by its platform.
func (s *Service) Network(platform string) (network.Network, error) {
	n := s.networks[platform]
	if n == nil {
		return nil, fmt.Errorf("%w: %q", ErrNoNetwork, platform)
	}
	return n, nil
}

// Rules returns a network's rules. It reports false if the network is not supported or has no documented rules.
func (s *Service) Rules(platform string) (network.Rules, bool) {
	provider, ok := s.networks[platform].(network.RulesProvider)
	if !ok {
		return network.Rules{}, false
	}
	return provider.Rules(), true
}

// Connect connects or reconnects an account with credentials. If it fails, an existing grant does not change.
func (s *Service) Connect(ctx context.Context, team int64, platform string, c network.Credentials) (Account, error) {
	n, err := s.Network(platform)
	if err != nil {
		return Account{}, err
	}
	grant, err := n.Connect(ctx, c)
	if err != nil {
		return Account{}, fmt.Errorf("connecting to %s: %w", platform, err)
	}
	a := Account{TeamID: team, Platform: platform, NetworkID: grant.Account, Username: grant.Username,
		DisplayName: grant.Username}
	err = s.db.InTx(ctx, "social.connect", func(ctx context.Context, tx *db.Tx) error {
		a, err = s.storeAccount(ctx, tx, a, grant, auditlog.Actor{})
		return err
	})
	return a, err
}

// storeAccount inserts an account with its grant, or updates an existing account with the new grant.
func (s *Service) storeAccount(ctx context.Context, tx *db.Tx, a Account, grant network.Grant,
	actor auditlog.Actor) (Account, error) {
	now := db.Micros(tx.Now())
	a.Connection = connectionState(grant, tx.Now())
	row := tx.QueryRow(ctx, `INSERT INTO social_accounts (team_id, platform, network_id, username, display_name,
		connection_state, sealed_grant, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (team_id, platform, network_id)
		DO UPDATE SET username = excluded.username,
		display_name = excluded.display_name, connection_state = excluded.connection_state, connection_probe = '',
		account_status = '', disconnected_at = 0, updated_at = excluded.updated_at
		RETURNING id`, a.TeamID, a.Platform, a.NetworkID, a.Username, a.DisplayName, string(a.Connection), []byte{},
		now, now)
	if err := row.Scan(&a.ID); err != nil {
		return a, fmt.Errorf("storing an account: %w", err)
	}
	kind, err := connectionEvent(ctx, tx, a.ID)
	if err != nil {
		return a, err
	}
	if err := s.storeGrant(ctx, tx, a.ID, grant); err != nil {
		return a, err
	}
	if err := cancelRevocation(ctx, tx, grant.Holder); err != nil {
		return a, err
	}
	if s.observer != nil {
		if err := s.observer.AccountConnected(ctx, tx, a.ID); err != nil {
			return a, err
		}
	}
	return a, auditlog.Record(ctx, tx, a.TeamID, actor, kind, strconv.FormatInt(a.ID, 10),
		map[string]any{"platform": a.Platform})
}

// connectionEvent returns the kind of the audit event for connecting an account. An account that still has a grant
// counts as reconnected.
func connectionEvent(ctx context.Context, tx *db.Tx, id int64) (string, error) {
	var hasGrant bool
	if err := tx.QueryRow(ctx, `SELECT length(sealed_grant) > 0 FROM social_accounts WHERE id = ?`,
		id).Scan(&hasGrant); err != nil {
		return "", fmt.Errorf("reading an account's connection: %w", err)
	}
	if hasGrant {
		return "social_account.reconnected", nil
	}
	return "social_account.connected", nil
}

func (s *Service) storeGrant(ctx context.Context, tx *db.Tx, id int64, g network.Grant) error {
	plaintext, err := json.Marshal(g) //nolint:gosec // encrypted below
	if err != nil {
		return fmt.Errorf("encoding a grant: %w", err)
	}
	sealed, err := s.seal.Seal(plaintext, sealContext(id))
	if err != nil {
		return err
	}
	now := tx.Now()
	_, err = tx.Exec(ctx, `UPDATE social_accounts SET sealed_grant = ?, grant_holder = ?,
		grant_version = grant_version + 1, refreshing_until = 0, refresh_at = ?, ends_at = ?,
		connection_state = CASE WHEN connection_state = ? THEN connection_state ELSE ? END, updated_at = ?
		WHERE id = ?`,
		sealed, g.Holder, db.Micros(renewAt(g, now)), db.Micros(endsAt(g)), string(Lost),
		string(connectionState(g, now)), db.Micros(now), id)
	if err != nil {
		return fmt.Errorf("storing a grant: %w", err)
	}
	return nil
}

// sealContext returns the encryption context of an account's grant, which binds the ciphertext to the account.
func sealContext(id int64) string { return "social_account:" + strconv.FormatInt(id, 10) }

// Grant is a decrypted grant. Version is incremented with every renewal.
type Grant struct {
	network.Grant
	Platform string
	Version  int64
	Lost     bool // whether the connection is lost, so that a person must reconnect the account
}

// Grant returns an account's decrypted grant.
func (s *Service) Grant(ctx context.Context, account int64) (Grant, error) {
	var g Grant
	var state string
	var sealed []byte
	err := s.db.QueryRow(ctx, `SELECT platform, connection_state, sealed_grant, grant_version FROM social_accounts
		WHERE id = ?`, account).
		Scan(&g.Platform, &state, &sealed, &g.Version)
	if err != nil {
		return g, fmt.Errorf("reading the grant of account %d: %w", account, err)
	}
	g.Lost = Connection(state) == Lost
	if g.Lost && len(sealed) == 0 {
		return g, nil // disconnected
	}
	plaintext, err := s.seal.Open(sealed, sealContext(account))
	if err != nil {
		return g, err
	}
	if err := json.Unmarshal(plaintext, &g.Grant); err != nil {
		return g, fmt.Errorf("reading the grant of account %d: %w", account, err)
	}
	return g, nil
}

const (
	refreshLease = 30 * time.Second       // how long a node locks the grant that it refreshes
	refreshPoll  = 250 * time.Millisecond // how often other nodes check for the result
)

// Refresh renews a grant that its network reported as expired, and returns the new grant. The grant is locked, so that
// two nodes never refresh it concurrently: a refresh token works only once. A temporary failure does not change the
// grant. If the refresh token is no longer valid, the connection is lost.
func (s *Service) Refresh(ctx context.Context, account int64, stale Grant) (Grant, error) {
	for {
		g, err := s.Grant(ctx, account)
		if err != nil || g.Version != stale.Version || g.Lost {
			return g, err
		}
		locked, err := s.lockRefresh(ctx, account, stale.Version)
		if err != nil {
			return g, err
		}
		if locked {
			return s.refreshGrant(ctx, account, g)
		}
		select {
		case <-ctx.Done():
			return g, fmt.Errorf("waiting for another node to refresh account %d: %w", account, ctx.Err())
		case <-time.After(refreshPoll):
		}
	}
}

func (s *Service) lockRefresh(ctx context.Context, account, version int64) (bool, error) {
	var locked bool
	err := s.db.InTx(ctx, "social.lock_refresh", func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, `UPDATE social_accounts SET refreshing_until = ? WHERE id = ? AND grant_version = ?
			AND refreshing_until < ?`,
			db.Micros(tx.Now().Add(refreshLease)), account, version, db.Micros(tx.Now()))
		locked = n == 1
		return err
	})
	if err != nil {
		return false, fmt.Errorf("locking the refresh of account %d: %w", account, err)
	}
	return locked, nil
}

func (s *Service) refreshGrant(ctx context.Context, account int64, g Grant) (Grant, error) {
	err := s.exchangeGrant(ctx, account, g)
	switch {
	case isInvalidGrant(err):
		return s.markRejected(ctx, account, g, err)
	case err != nil:
		return g, errors.Join(err, s.unlockRefresh(ctx, account))
	}
	return s.Grant(ctx, account)
}

// markRejected marks the connection as lost unless a person has reconnected the account since.
func (s *Service) markRejected(ctx context.Context, account int64, g Grant, rejection error) (Grant, error) {
	if err := s.markLost(ctx, account, g.Version, "refused"); err != nil {
		return g, errors.Join(rejection, err)
	}
	if current, err := s.Grant(ctx, account); err == nil && current.Version != g.Version && !current.Lost {
		return current, nil
	}
	return g, rejection
}

// exchangeGrant exchanges a grant for a new one and stores it unless a person has reconnected the account since.
func (s *Service) exchangeGrant(ctx context.Context, account int64, g Grant) error {
	n, err := s.Network(g.Platform)
	if err != nil {
		return err
	}
	refreshCtx, cancel := context.WithTimeout(ctx, refreshLease-5*time.Second)
	defer cancel()
	newGrant, err := n.Refresh(refreshCtx, g.Grant)
	if err != nil {
		return fmt.Errorf("refreshing the grant of account %d: %w", account, err)
	}
	err = s.db.InTx(ctx, "social.refreshed", func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, `UPDATE social_accounts SET refreshing_until = 0 WHERE id = ? AND grant_version = ?`,
			account, g.Version)
		if err != nil || n == 0 {
			return err
		}
		return s.storeGrant(ctx, tx, account, newGrant)
	})
	if err != nil {
		return fmt.Errorf("storing the new grant of account %d: %w", account, err)
	}
	return nil
}

// isInvalidGrant reports whether a network said that a grant is no longer valid.
func isInvalidGrant(err error) bool {
	networkErr, ok := errors.AsType[*network.Error](err)
	return ok && networkErr.Class == network.ReconnectRequired
}

func (s *Service) unlockRefresh(ctx context.Context, account int64) error {
	return s.db.InTx(context.WithoutCancel(ctx), "social.unlock_refresh", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE social_accounts SET refreshing_until = 0 WHERE id = ?`, account)
		return err
	})
}

// AnyGrant is an argument of MarkLost that matches every version of an account's grant.
var AnyGrant = Grant{Version: math.MaxInt64}

// MarkLost marks an account's connection as lost because its network rejected this grant. It does nothing if the
// account has a newer grant.
func (s *Service) MarkLost(ctx context.Context, account int64, rejected Grant) error {
	return s.markLost(ctx, account, rejected.Version, "refused")
}

// MarkLostTx is like MarkLost but uses the caller's transaction.
func (s *Service) MarkLostTx(ctx context.Context, tx *db.Tx, account int64, rejected Grant) error {
	return markLostTx(ctx, tx, account, rejected.Version, "refused")
}

// markLost marks a connection as lost unless its grant has a newer version.
func (s *Service) markLost(ctx context.Context, account, version int64, probe string) error {
	return s.db.InTx(ctx, "social.lose", func(ctx context.Context, tx *db.Tx) error {
		return markLostTx(ctx, tx, account, version, probe)
	})
}

func markLostTx(ctx context.Context, tx *db.Tx, account, version int64, probe string) error {
	var team int64
	err := tx.QueryRow(ctx,
		`UPDATE social_accounts SET connection_state = ?, connection_probe = ?, account_status = 'needs_reauth',
		refreshing_until = 0, refresh_at = 0, ends_at = 0, updated_at = ?
		WHERE id = ? AND grant_version <= ? AND connection_state <> ? RETURNING team_id`,
		string(Lost), probe, db.Micros(tx.Now()), account, version, string(Lost)).Scan(&team)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("marking account %d as lost: %w", account, err)
	}
	return auditlog.Record(ctx, tx, team, auditlog.Actor{}, "social_account.lost", strconv.FormatInt(account, 10), nil)
}
