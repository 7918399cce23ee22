package erasure

import (
	"context"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

const (
	linkRetention       = 30 * 24 * time.Hour  // expired links; until then, opening one shows that it has expired
	revocationRetention = 30 * 24 * time.Hour  // revoked grants
	requestRetention    = 365 * 24 * time.Hour // deletion requests, so that people can check their status
)

// sweepStatements are statements that delete old records.
var sweepStatements = []struct {
	statement string
	retention time.Duration
}{
	{`DELETE FROM recoveries WHERE token_hash IN (SELECT token_hash FROM recoveries WHERE expires_at < ?
		ORDER BY expires_at LIMIT 1000)`, linkRetention},
	{`DELETE FROM email_proofs WHERE token_hash IN (SELECT token_hash FROM email_proofs WHERE expires_at < ?
		ORDER BY expires_at LIMIT 1000)`, linkRetention},
	{`DELETE FROM invitations WHERE id IN (SELECT id FROM invitations WHERE expires_at < ? ORDER BY expires_at
		LIMIT 1000)`, linkRetention},
	{`DELETE FROM grant_revocations WHERE id IN (SELECT id FROM grant_revocations WHERE asked_at < ? AND next_at = 0
		ORDER BY asked_at LIMIT 1000)`, revocationRetention},
	{`DELETE FROM network_deletions WHERE code IN (SELECT code FROM network_deletions WHERE asked_at < ?
		ORDER BY asked_at LIMIT 1000)`, requestRetention},
}

// Sweep deletes old invitations, recovery links, email confirmations, grant revocations and deletion requests, at most
// 1,000 of each. It returns the number of deleted rows.
func (s *Service) Sweep(ctx context.Context) (int64, error) {
	var total int64
	for _, sweep := range sweepStatements {
		err := s.DB.InTx(ctx, "leaving.sweep", func(ctx context.Context, tx *db.Tx) error {
			n, err := tx.Exec(ctx, sweep.statement, db.Micros(tx.Now().Add(-sweep.retention)))
			total += n
			return err
		})
		if err != nil {
			return total, fmt.Errorf("deleting old records: %w", err)
		}
	}
	return total, nil
}
