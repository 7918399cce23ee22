package account

import (
	"context"
	"fmt"

	"pressroom.example/pressroom/internal/platform/db"
)

// Newest returns a network's newest connected accounts across all teams, newest first.
func (s *Service) Newest(ctx context.Context, platform string, limit int) ([]Account, error) {
	accounts, err := db.All(ctx, s.db, scan, `SELECT `+columns+` FROM social_accounts WHERE platform = ?
		AND disconnected_at = 0 AND connection_state <> ? ORDER BY id DESC LIMIT ?`, platform, string(Lost), limit)
	if err != nil {
		return nil, fmt.Errorf("listing the newest accounts: %w", err)
	}
	return accounts, nil
}
