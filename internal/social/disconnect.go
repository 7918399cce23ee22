package social

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"pressroom/internal/db"
	"pressroom/internal/event"
	"pressroom/internal/fault"
	"pressroom/internal/network"
)

// TellLeft has somebody learn of each account that a person disconnects, in the transaction that does it.
func (s *Service) TellLeft(left func(ctx context.Context, tx *db.Tx, account int64) error) {
	s.left = left
}

// Revoked says what the network learned of a disconnection.
type Revoked string

// What it can have learned.
const (
	RevokedThere Revoked = "revoked"  // the grant is worth nothing there any more
	NotRevoked   Revoked = "failed"   // it could not be told
	NotOffered   Revoked = "no_means" // it cannot be told by us: a person can, in its settings
)

const revokeWithin = 10 * time.Second

// Disconnect takes an account from its team for a person who is owner or admin of it; not_found for everybody else. The
// grant is deleted and, where the network has a way, revoked there. What was published stays; what is still to go out to
// the account fails as it does without a connection. Connected again, it is the same account.
func (s *Service) Disconnect(ctx context.Context, person, team, account int64) (Revoked, error) {
	var platform string
	var sealed []byte
	err := s.db.Write(ctx, "social.disconnect", func(ctx context.Context, tx *db.Tx) error {
		err := tx.QueryRow(ctx, `SELECT a.platform, a.sealed_grant FROM social_accounts a
			WHERE a.id = ? AND a.team_id = ? AND a.disconnected_at = 0 AND EXISTS (SELECT 1 FROM memberships m WHERE m.team_id = a.team_id AND m.person_id = ? AND m.role IN ('owner', 'admin'))`+s.db.ForUpdate(),
			account, team, person).Scan(&platform, &sealed)
		if errors.Is(err, sql.ErrNoRows) {
			return fault.Missing()
		}
		if err != nil {
			return fmt.Errorf("reading account %d: %w", account, err)
		}
		_, err = tx.Exec(ctx, `UPDATE social_accounts SET connection_state = ?, connection_probe = '', account_status = '', sealed_grant = ?, grant_version = grant_version + 1,
			refreshing_until = 0, refresh_at = 0, ends_at = 0, disconnected_at = ?, updated_at = ? WHERE id = ?`,
			string(Lost), []byte{}, db.Micros(tx.Now()), db.Micros(tx.Now()), account)
		if err != nil {
			return fmt.Errorf("disconnecting account %d: %w", account, err)
		}
		if s.left != nil {
			if err := s.left(ctx, tx, account); err != nil {
				return err
			}
		}
		return event.Record(ctx, tx, team, event.Actor{PersonID: person}, "social_account.disconnected", strconv.FormatInt(account, 10), map[string]any{"platform": platform})
	})
	if err != nil {
		return "", err
	}
	return s.revoke(ctx, account, platform, sealed), nil
}

// revoke tells the network, after our own copy is gone: nothing is left to be done where it fails.
func (s *Service) revoke(ctx context.Context, account int64, platform string, sealed []byte) Revoked {
	n, err := s.Network(platform)
	if err != nil {
		return NotOffered
	}
	r, ok := n.(network.Revoker)
	if !ok {
		return NotOffered
	}
	plain, err := s.seal.Open(sealed, bond(account))
	if err != nil {
		return NotRevoked
	}
	var g network.Grant
	if err := json.Unmarshal(plain, &g); err != nil {
		return NotRevoked
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), revokeWithin)
	defer cancel()
	if err := r.Revoke(ctx, g); err != nil {
		return NotRevoked
	}
	return RevokedThere
}

// TeamOf is whose an account is; not_found of one that is not there or was disconnected. Whoever asks has to look whether
// the team is theirs.
func (s *Service) TeamOf(ctx context.Context, account int64) (int64, error) {
	var team int64
	err := s.db.QueryRow(ctx, `SELECT team_id FROM social_accounts WHERE id = ? AND disconnected_at = 0`, account).Scan(&team)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, fault.Missing()
	}
	if err != nil {
		return 0, fmt.Errorf("looking whose account %d is: %w", account, err)
	}
	return team, nil
}

// Life is from when to when an account's connection goes.
type Life struct {
	Since time.Time
	Ends  time.Time // zero where the network does not say, and of one that is lost
}

// Lives are those of some accounts of a team.
func (s *Service) Lives(ctx context.Context, team int64, ids []int64) (map[int64]Life, error) {
	out := map[int64]Life{}
	if len(ids) == 0 {
		return out, nil
	}
	args := []any{team}
	for _, id := range ids {
		args = append(args, id)
	}
	type row struct {
		Life
		id int64
	}
	found, err := db.All(ctx, s.db, func(rows *sql.Rows, r *row) error {
		var since, ends int64
		err := rows.Scan(&r.id, &since, &ends)
		r.Since, r.Ends = db.Time(since), db.Time(ends)
		return err
	}, `SELECT id, created_at, ends_at FROM social_accounts WHERE team_id = ? AND id IN (`+db.Marks(len(ids))+`)`, args...)
	if err != nil {
		return nil, fmt.Errorf("reading when connections end: %w", err)
	}
	for _, r := range found {
		out[r.id] = r.Life
	}
	return out, nil
}
