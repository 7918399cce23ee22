package account

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// Disconnect disconnects an account from its team. It returns not_found unless the person is an owner or admin of the
// team. If the network supports revocation, the grant stays encrypted in the database until the network has revoked it
// or the revocation has failed permanently. Published posts are kept, and scheduled posts to the account fail.
// Reconnecting restores the same account.
func (s *Service) Disconnect(ctx context.Context, person, team, account int64) (RevocationState, error) {
	var state RevocationState
	var revocationID int64
	err := s.db.InTx(ctx, "social.disconnect", func(ctx context.Context, tx *db.Tx) error {
		grant := grantToRevoke{team: team, account: account}
		err := tx.QueryRow(ctx, `SELECT a.platform, a.sealed_grant, a.grant_holder FROM social_accounts a
			WHERE a.id = ? AND a.team_id = ? AND a.disconnected_at = 0 AND EXISTS (SELECT 1 FROM memberships m
			WHERE m.team_id = a.team_id AND m.person_id = ? AND m.role IN ('owner', 'admin'))`+s.db.ForUpdate(),
			account, team, person).Scan(&grant.platform, &grant.sealed, &grant.holder)
		if errors.Is(err, sql.ErrNoRows) {
			return apierr.ItemNotFound()
		}
		if err != nil {
			return fmt.Errorf("reading account %d: %w", account, err)
		}
		_, err = tx.Exec(ctx, `UPDATE social_accounts SET connection_state = ?, connection_probe = '',
			account_status = '', sealed_grant = ?, grant_version = grant_version + 1,
			refreshing_until = 0, refresh_at = 0, ends_at = 0, disconnected_at = ?, updated_at = ? WHERE id = ?`,
			string(Lost), []byte{}, db.Micros(tx.Now()), db.Micros(tx.Now()), account)
		if err != nil {
			return fmt.Errorf("disconnecting account %d: %w", account, err)
		}
		if state, revocationID, err = s.queueRevocation(ctx, tx, grant); err != nil {
			return err
		}
		if s.observer != nil {
			if err := s.observer.AccountDisconnected(ctx, tx, account); err != nil {
				return err
			}
		}
		return auditlog.Record(ctx, tx, team, auditlog.Actor{PersonID: person}, "social_account.disconnected",
			strconv.FormatInt(account, 10), map[string]any{"platform": grant.platform})
	})
	if err != nil || state != RevocationWaiting {
		return state, err
	}
	return s.revokeQueued(ctx, revocationID)
}

// FindTeam returns the team of an account. It returns not_found for an unknown or disconnected account. The caller must
// check access to the team.
func (s *Service) FindTeam(ctx context.Context, account int64) (int64, error) {
	var team int64
	err := s.db.QueryRow(ctx, `SELECT team_id FROM social_accounts WHERE id = ? AND disconnected_at = 0`,
		account).Scan(&team)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, apierr.ItemNotFound()
	}
	if err != nil {
		return 0, fmt.Errorf("reading the team of account %d: %w", account, err)
	}
	return team, nil
}

// ConnectionPeriod is the period during which an account is connected.
type ConnectionPeriod struct {
	Since time.Time
	Ends  time.Time // when a person must reconnect the account; zero if unknown or if the connection is lost
}

// ConnectionPeriods returns the connection periods of a team's accounts, by account ID.
func (s *Service) ConnectionPeriods(ctx context.Context, team int64, ids []int64) (map[int64]ConnectionPeriod, error) {
	out := map[int64]ConnectionPeriod{}
	if len(ids) == 0 {
		return out, nil
	}
	type row struct {
		ConnectionPeriod
		id int64
	}
	periods, err := db.All(ctx, s.db, func(rows *sql.Rows, r *row) error {
		var since, endsAt int64
		err := rows.Scan(&r.id, &since, &endsAt)
		r.Since, r.Ends = db.Time(since), db.Time(endsAt)
		return err
	}, `SELECT id, created_at, ends_at FROM social_accounts WHERE team_id = ? AND id IN (`+db.Placeholders(len(ids))+`)`,
		db.Args(team, ids)...)
	if err != nil {
		return nil, fmt.Errorf("reading when connections end: %w", err)
	}
	for _, r := range periods {
		out[r.id] = r.ConnectionPeriod
	}
	return out, nil
}
