package oauth

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

const (
	unusedRetention = 24 * time.Hour       // how long a registration that was never used is kept
	idleRetention   = 365 * 24 * time.Hour // how long a registration without a grant is kept after its last use
	sweepBatch      = 500                  // maximum number of rows of one kind per transaction
)

// Sweep deletes a batch of expired data: tokens, grants that were not renewed, and unused clients. It also ends the
// connections of the deleted grants. It returns the number of deleted rows.
func (s *Service) Sweep(ctx context.Context) (int64, error) {
	var total int64
	for _, sweep := range []func(context.Context, *db.Tx) (int64, error){s.sweepTokens, s.sweepGrants, s.sweepClients} {
		err := s.db.InTx(ctx, "oauth.sweep", func(ctx context.Context, tx *db.Tx) error {
			n, err := sweep(ctx, tx)
			total += n
			return err
		})
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

func (s *Service) sweepTokens(ctx context.Context, tx *db.Tx) (int64, error) {
	n, err := tx.Exec(ctx,
		`DELETE FROM oauth_tokens WHERE hash IN (SELECT hash FROM oauth_tokens WHERE ends_at <= ?
		ORDER BY ends_at LIMIT ?)`, db.Micros(tx.Now()), sweepBatch)
	if err != nil {
		return 0, fmt.Errorf("deleting expired tokens: %w", err)
	}
	return n, nil
}

// sweepGrants deletes expired grants that have no tokens left, and ends their connections.
func (s *Service) sweepGrants(ctx context.Context, tx *db.Tx) (int64, error) {
	expired, err := db.All(ctx, tx, func(rows *sql.Rows, g *grant) error { return rows.Scan(&g.id, &g.connection) },
		`SELECT g.id, g.connection_id FROM oauth_grants g WHERE g.ends_at <= ? AND NOT EXISTS (SELECT 1
		FROM oauth_tokens t WHERE t.grant_id = g.id) ORDER BY g.ends_at LIMIT ?`, db.Micros(tx.Now()), sweepBatch)
	if err != nil {
		return 0, fmt.Errorf("finding expired grants: %w", err)
	}
	for _, g := range expired {
		if err := s.endGrant(ctx, tx, g, endExpired); err != nil {
			return 0, err
		}
		if err := updateGrant(ctx, tx, `DELETE FROM oauth_grants WHERE id = ?`, g.id); err != nil {
			return 0, err
		}
	}
	return int64(len(expired)), nil
}

func (s *Service) sweepClients(ctx context.Context, tx *db.Tx) (int64, error) {
	now := tx.Now()
	n, err := tx.Exec(ctx, `DELETE FROM oauth_clients WHERE client_id IN (SELECT c.client_id FROM oauth_clients c
		WHERE (c.used_at = 0 AND c.created_at <= ? OR c.used_at > 0 AND c.used_at <= ?) AND NOT EXISTS (SELECT 1
		FROM oauth_grants g WHERE g.client_id = c.client_id) LIMIT ?)`,
		db.Micros(now.Add(-unusedRetention)), db.Micros(now.Add(-idleRetention)), sweepBatch)
	if err != nil {
		return 0, fmt.Errorf("deleting unused clients: %w", err)
	}
	return n, nil
}
