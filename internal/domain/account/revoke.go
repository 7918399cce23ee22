package account

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/platform/db"
	"pressroom/internal/platform/failpoint"
)

// Revocation says what the network learned of a disconnection.
type Revocation string

// What it can have learned.
const (
	RevocationWaiting Revocation = "waiting"  // it could not be told yet, and is told again for a day
	RevocationRevoked Revocation = "revoked"  // the grant is worth nothing there any more
	RevocationKept    Revocation = "kept"     // nothing: another account here rests on what the same person allowed, and would end too
	RevocationFailed  Revocation = "failed"   // it could not be told: a person can, in its settings
	RevocationNoMeans Revocation = "no_means" // it cannot be told by us: a person can, in its settings
)

const (
	revokeTimeout = 10 * time.Second // one try
	revokeLease   = time.Minute      // how long one node may take for a try
	revokePeriod  = 24 * time.Hour   // until it is given up, and the grant deleted
)

// revokeRetries is how long after a try that failed the next one comes.
var revokeRetries = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour}

// revokedGrant is the grant of an account that leaves.
type revokedGrant struct {
	team, account    int64
	platform, holder string
	sealed           []byte
}

// queueRevocation notes that a grant is to end at its network, and whether it can.
func (s *Service) queueRevocation(ctx context.Context, tx *db.Tx, g revokedGrant) (Revocation, int64, error) {
	state, sealed, next, ended := RevocationWaiting, g.sealed, tx.Now().Add(revokeLease), time.Time{}
	n, err := s.Network(g.platform)
	if _, can := n.(network.Revoker); err != nil || !can {
		state = RevocationNoMeans
	} else if shared, err := sharesHolder(ctx, tx, g.platform, g.holder); err != nil {
		return "", 0, err
	} else if shared {
		state = RevocationKept
	}
	if state != RevocationWaiting {
		sealed, next, ended = []byte{}, time.Time{}, tx.Now()
	}
	var id int64
	err = tx.QueryRow(ctx, `INSERT INTO grant_revocations (team_id, account_id, platform, holder, sealed_grant, state, next_at, asked_at, ended_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
		g.team, g.account, g.platform, g.holder, sealed, string(state), db.Micros(next), db.Micros(tx.Now()), db.Micros(ended)).Scan(&id)
	if err != nil {
		return "", 0, fmt.Errorf("noting that the grant of account %d is taken back: %w", g.account, err)
	}
	return state, id, nil
}

// sharesHolder tells whether an account that is connected, in whichever team, has a grant of the same holder. One of the same
// network whose holder is not known yet may have.
func sharesHolder(ctx context.Context, tx *db.Tx, platform, holder string) (bool, error) {
	if holder == "" {
		return false, nil // each of its grants ends by itself
	}
	var n int64
	err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM (SELECT 1 FROM social_accounts WHERE disconnected_at = 0 AND connection_state <> 'lost' AND (grant_holder = ? OR (grant_holder = '' AND platform = ?)) LIMIT 1) others`, holder, platform).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("looking for other accounts of a grant's holder: %w", err)
	}
	return n > 0, nil
}

// cancelRevocation gives up to end what a person allowed who has just allowed it again.
func cancelRevocation(ctx context.Context, tx *db.Tx, holder string) error {
	if holder == "" {
		return nil
	}
	_, err := tx.Exec(ctx, `UPDATE grant_revocations SET state = ?, sealed_grant = ?, next_at = 0, ended_at = ? WHERE holder = ? AND next_at > 0`, string(RevocationKept), []byte{}, db.Micros(tx.Now()), holder)
	if err != nil {
		return fmt.Errorf("keeping what was to be taken back: %w", err)
	}
	return nil
}

// retryRevocation tells a network once more, if no other node is at it.
func (s *Service) retryRevocation(ctx context.Context, id int64) error {
	mine := false
	err := s.db.InTx(ctx, "social.lock_revocation", func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, `UPDATE grant_revocations SET next_at = ? WHERE id = ? AND next_at > 0 AND next_at <= ?`, db.Micros(tx.Now().Add(revokeLease)), id, db.Micros(tx.Now()))
		mine = n == 1
		return err
	})
	if err != nil || !mine {
		return err
	}
	_, err = s.revokeQueued(ctx, id)
	return err
}

// revokeQueued tells a network that a grant is over, and notes what came of it.
func (s *Service) revokeQueued(ctx context.Context, id int64) (Revocation, error) {
	g := revokedGrant{}
	err := s.db.QueryRow(ctx, `SELECT team_id, account_id, platform, holder, sealed_grant FROM grant_revocations WHERE id = ? AND next_at > 0`, id).Scan(&g.team, &g.account, &g.platform, &g.holder, &g.sealed)
	if errors.Is(err, sql.ErrNoRows) {
		return RevocationKept, nil // the person has connected it again meanwhile
	}
	if err != nil {
		return "", fmt.Errorf("reading a grant that is taken back: %w", err)
	}
	ctx = context.WithoutCancel(ctx) // who asked for it may be gone
	return s.recordRevocation(ctx, id, s.callRevoke(ctx, g))
}

// callRevoke is one try.
func (s *Service) callRevoke(ctx context.Context, g revokedGrant) error {
	n, err := s.Network(g.platform)
	if err != nil {
		return network.ErrNoMeans
	}
	r, ok := n.(network.Revoker)
	if !ok {
		return network.ErrNoMeans
	}
	plain, err := s.seal.Open(g.sealed, sealContext(g.account))
	if err != nil {
		return err
	}
	var grant network.Grant
	if err := json.Unmarshal(plain, &grant); err != nil {
		return fmt.Errorf("reading the grant of account %d: %w", g.account, err)
	}
	ctx, cancel := context.WithTimeout(ctx, revokeTimeout)
	defer cancel()
	failpoint.Point("before revoke call")
	defer failpoint.Point("after revoke call")
	return r.Revoke(ctx, grant)
}

// recordRevocation notes how a try ended. The grant is deleted once nothing more is to be done with it.
func (s *Service) recordRevocation(ctx context.Context, id int64, failed error) (Revocation, error) {
	var state Revocation
	err := s.db.InTx(ctx, "social.revoked", func(ctx context.Context, tx *db.Tx) error {
		var tries int
		var asked int64
		err := tx.QueryRow(ctx, `UPDATE grant_revocations SET tries = tries + 1 WHERE id = ? AND next_at > 0 RETURNING tries, asked_at`, id).Scan(&tries, &asked)
		if errors.Is(err, sql.ErrNoRows) {
			state = RevocationKept
			return nil
		}
		if err != nil {
			return err
		}
		next := tx.Now().Add(revokeRetries[min(tries, len(revokeRetries))-1])
		if state = revocationOf(failed); state == RevocationWaiting && next.After(db.Time(asked).Add(revokePeriod)) {
			state = RevocationFailed
		}
		if state == RevocationWaiting {
			_, err = tx.Exec(ctx, `UPDATE grant_revocations SET next_at = ? WHERE id = ?`, db.Micros(next), id)
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE grant_revocations SET state = ?, sealed_grant = ?, next_at = 0, ended_at = ? WHERE id = ?`, string(state), []byte{}, db.Micros(tx.Now()), id)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("noting what a network learned: %w", err)
	}
	return state, nil
}

// revocationOf is what a try came to. What the network refuses for good, and what is wrong on our side, is not tried again.
func revocationOf(failed error) Revocation {
	said, theirs := errors.AsType[*network.Error](failed)
	switch {
	case failed == nil, isDead(failed):
		return RevocationRevoked
	case errors.Is(failed, network.ErrNoMeans):
		return RevocationNoMeans
	case theirs && said.Class != network.Rejected && said.Class != network.Unapproved:
		return RevocationWaiting
	}
	return RevocationFailed
}

// DisconnectedAccount is what became of the grant of an account that was disconnected.
type DisconnectedAccount struct {
	Username, Platform string
	State              Revocation
	At                 time.Time // when the account was disconnected
}

const (
	shownTakenBack = 10
	takenBackFor   = 7 * 24 * time.Hour
)

// ListDisconnected tells of the newest accounts that a team disconnected in the last week.
func (s *Service) ListDisconnected(ctx context.Context, team int64) ([]DisconnectedAccount, error) {
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, t *DisconnectedAccount) error {
		var at int64
		err := rows.Scan(&t.Username, &t.Platform, &t.State, &at)
		t.At = db.Time(at)
		return err
	}, `SELECT a.username, r.platform, r.state, r.asked_at FROM grant_revocations r JOIN social_accounts a ON a.id = r.account_id AND a.team_id = r.team_id AND a.disconnected_at > 0 WHERE r.team_id = ? AND r.asked_at > ? ORDER BY r.id DESC LIMIT ?`,
		team, db.Micros(s.db.Now().Add(-takenBackFor)), shownTakenBack)
	if err != nil {
		return nil, fmt.Errorf("reading what was taken back: %w", err)
	}
	return out, nil
}
