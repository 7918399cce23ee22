package account

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/failpoint"
)

// RevocationState is the state of revoking a grant at its network after its account was disconnected.
type RevocationState string

// The states of a revocation.
const (
	RevocationWaiting     RevocationState = "waiting"  // not revoked yet; retried for a day
	RevocationRevoked     RevocationState = "revoked"  // the grant no longer works at the network
	RevocationKept        RevocationState = "kept"     // not revoked, because another account uses the same consent
	RevocationFailed      RevocationState = "failed"   // failed; the person can revoke access in the network's settings
	RevocationUnsupported RevocationState = "no_means" // not supported; the person can revoke access in the network's settings
)

const (
	revokeTimeout = 10 * time.Second // per attempt
	revokeLease   = time.Minute      // how long an attempt is reserved for one node
	revokePeriod  = 24 * time.Hour   // after this, the revocation fails and the grant is deleted
)

// revokeDelays are the delays after failed attempts.
var revokeDelays = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 3 * time.Hour,
	6 * time.Hour, 12 * time.Hour}

// grantToRevoke is the grant of a disconnected account.
type grantToRevoke struct {
	team, account    int64
	platform, holder string
	sealed           []byte
}

// queueRevocation stores a grant for revocation and returns the state and ID of the revocation.
func (s *Service) queueRevocation(ctx context.Context, tx *db.Tx, g grantToRevoke) (RevocationState, int64, error) {
	state, sealed, nextAttempt, endedAt := RevocationWaiting, g.sealed, tx.Now().Add(revokeLease), time.Time{}
	n, err := s.Network(g.platform)
	if _, revocable := n.(network.Revoker); err != nil || !revocable {
		state = RevocationUnsupported
	} else if shared, err := sharesHolder(ctx, tx, g.platform, g.holder); err != nil {
		return "", 0, err
	} else if shared {
		state = RevocationKept
	}
	if state != RevocationWaiting {
		sealed, nextAttempt, endedAt = []byte{}, time.Time{}, tx.Now()
	}
	var id int64
	err = tx.QueryRow(ctx, `INSERT INTO grant_revocations (team_id, account_id, platform, holder, sealed_grant, state,
		next_at, asked_at, ended_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
		g.team, g.account, g.platform, g.holder, sealed, string(state), db.Micros(nextAttempt), db.Micros(tx.Now()),
		db.Micros(endedAt)).Scan(&id)
	if err != nil {
		return "", 0, fmt.Errorf("queueing the revocation of account %d: %w", g.account, err)
	}
	return state, id, nil
}

// sharesHolder reports whether a connected account of any team has a grant with the same holder. It also reports true
// if the holder of another account on the same network is unknown, because that account may share the grant.
func sharesHolder(ctx context.Context, tx *db.Tx, platform, holder string) (bool, error) {
	if holder == "" {
		return false, nil // The network revokes grants individually.
	}
	var n int64
	err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM (SELECT 1 FROM social_accounts WHERE disconnected_at = 0
		AND connection_state <> 'lost' AND (grant_holder = ? OR (grant_holder = '' AND platform = ?))
		LIMIT 1) others`, holder, platform).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("listing other accounts of a grant's holder: %w", err)
	}
	return n > 0, nil
}

// cancelRevocation cancels a holder's pending revocations after the holder has given consent again.
func cancelRevocation(ctx context.Context, tx *db.Tx, holder string) error {
	if holder == "" {
		return nil
	}
	_, err := tx.Exec(ctx, `UPDATE grant_revocations SET state = ?, sealed_grant = ?, next_at = 0, ended_at = ?
		WHERE holder = ? AND next_at > 0`, string(RevocationKept), []byte{}, db.Micros(tx.Now()), holder)
	if err != nil {
		return fmt.Errorf("canceling a revocation: %w", err)
	}
	return nil
}

// retryRevocation retries a revocation unless another node is retrying it.
func (s *Service) retryRevocation(ctx context.Context, id int64) error {
	locked := false
	err := s.db.InTx(ctx, "social.lock_revocation", func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, `UPDATE grant_revocations SET next_at = ? WHERE id = ? AND next_at > 0
			AND next_at <= ?`, db.Micros(tx.Now().Add(revokeLease)), id, db.Micros(tx.Now()))
		locked = n == 1
		return err
	})
	if err != nil || !locked {
		return err
	}
	_, err = s.revokeQueued(ctx, id)
	return err
}

// revokeQueued revokes a grant at its network and records the result.
func (s *Service) revokeQueued(ctx context.Context, id int64) (RevocationState, error) {
	g := grantToRevoke{}
	err := s.db.QueryRow(ctx, `SELECT team_id, account_id, platform, holder, sealed_grant FROM grant_revocations
		WHERE id = ? AND next_at > 0`, id).Scan(&g.team, &g.account, &g.platform, &g.holder, &g.sealed)
	if errors.Is(err, sql.ErrNoRows) {
		return RevocationKept, nil // The account was reconnected concurrently.
	}
	if err != nil {
		return "", fmt.Errorf("reading a grant to revoke: %w", err)
	}
	ctx = context.WithoutCancel(ctx) // Finish even if the request is canceled.
	return s.recordRevocation(ctx, id, s.callRevoke(ctx, g))
}

// callRevoke calls the network to revoke a grant.
func (s *Service) callRevoke(ctx context.Context, g grantToRevoke) error {
	n, err := s.Network(g.platform)
	if err != nil {
		return network.ErrRevokeUnsupported
	}
	r, ok := n.(network.Revoker)
	if !ok {
		return network.ErrRevokeUnsupported
	}
	plaintext, err := s.seal.Open(g.sealed, sealContext(g.account))
	if err != nil {
		return err
	}
	var grant network.Grant
	if err := json.Unmarshal(plaintext, &grant); err != nil {
		return fmt.Errorf("reading the grant of account %d: %w", g.account, err)
	}
	ctx, cancel := context.WithTimeout(ctx, revokeTimeout)
	defer cancel()
	failpoint.Point("before revoke call")
	defer failpoint.Point("after revoke call")
	return r.Revoke(ctx, grant)
}

// recordRevocation records the result of an attempt and returns the new state. It deletes the grant unless the
// revocation will be retried.
func (s *Service) recordRevocation(ctx context.Context, id int64, revokeErr error) (RevocationState, error) {
	var state RevocationState
	err := s.db.InTx(ctx, "social.revoked", func(ctx context.Context, tx *db.Tx) error {
		var tries int
		var requestedAt int64
		err := tx.QueryRow(ctx, `UPDATE grant_revocations SET tries = tries + 1 WHERE id = ? AND next_at > 0
			RETURNING tries, asked_at`, id).Scan(&tries, &requestedAt)
		if errors.Is(err, sql.ErrNoRows) {
			state = RevocationKept
			return nil
		}
		if err != nil {
			return err
		}
		nextAttempt := tx.Now().Add(revokeDelays[min(tries, len(revokeDelays))-1])
		if state = classifyRevocation(revokeErr); state == RevocationWaiting &&
			nextAttempt.After(db.Time(requestedAt).Add(revokePeriod)) {
			state = RevocationFailed
		}
		if state == RevocationWaiting {
			_, err = tx.Exec(ctx, `UPDATE grant_revocations SET next_at = ? WHERE id = ?`, db.Micros(nextAttempt), id)
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE grant_revocations SET state = ?, sealed_grant = ?, next_at = 0, ended_at = ?
			WHERE id = ?`, string(state), []byte{}, db.Micros(tx.Now()), id)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("recording a revocation: %w", err)
	}
	return state, nil
}

// classifyRevocation returns the state after an attempt. Permanent rejections and internal errors are not retried.
func classifyRevocation(revokeErr error) RevocationState {
	netErr, isNetErr := errors.AsType[*network.Error](revokeErr)
	switch {
	case revokeErr == nil, isInvalidGrant(revokeErr):
		return RevocationRevoked
	case errors.Is(revokeErr, network.ErrRevokeUnsupported):
		return RevocationUnsupported
	case isNetErr && netErr.Class != network.Rejected && netErr.Class != network.AppNotApproved:
		return RevocationWaiting
	}
	return RevocationFailed
}

// DisconnectedAccount is a disconnected account with the state of its grant's revocation.
type DisconnectedAccount struct {
	Username, Platform string
	State              RevocationState
	At                 time.Time // when the account was disconnected
}

const (
	maxDisconnectedAccounts = 10
	disconnectedWindow      = 7 * 24 * time.Hour
)

// ListDisconnected returns the accounts that a team disconnected in the last week, newest first.
func (s *Service) ListDisconnected(ctx context.Context, team int64) ([]DisconnectedAccount, error) {
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, a *DisconnectedAccount) error {
		var at int64
		err := rows.Scan(&a.Username, &a.Platform, &a.State, &at)
		a.At = db.Time(at)
		return err
	}, `SELECT a.username, r.platform, r.state, r.asked_at FROM grant_revocations r
		JOIN social_accounts a ON a.id = r.account_id AND a.team_id = r.team_id AND a.disconnected_at > 0
		WHERE r.team_id = ? AND r.asked_at > ? ORDER BY r.id DESC LIMIT ?`,
		team, db.Micros(s.db.Now().Add(-disconnectedWindow)), maxDisconnectedAccounts)
	if err != nil {
		return nil, fmt.Errorf("listing disconnected accounts: %w", err)
	}
	return out, nil
}
