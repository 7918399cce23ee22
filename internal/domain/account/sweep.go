package account

import (
	"context"
	"fmt"

	"pressroom.example/pressroom/internal/platform/db"
)

// Sweep deletes at most 1,000 expired attempts and 1,000 expired links. It returns the number of deleted rows.
func (c *Connector) Sweep(ctx context.Context) (int64, error) {
	var n int64
	err := c.Accounts.db.InTx(ctx, "social.sweep_connecting", func(ctx context.Context, tx *db.Tx) error {
		n = 0
		for _, statement := range []string{
			`DELETE FROM connect_attempts WHERE id IN (SELECT id FROM connect_attempts WHERE expires_at <= ?
				ORDER BY expires_at LIMIT 1000)`,
			`DELETE FROM connect_links WHERE token_hash IN (SELECT token_hash FROM connect_links WHERE expires_at <= ?
				ORDER BY expires_at LIMIT 1000)`,
		} {
			deleted, err := tx.Exec(ctx, statement, db.Micros(tx.Now()))
			if err != nil {
				return err
			}
			n += deleted
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("sweeping attempts to connect: %w", err)
	}
	return n, nil
}
