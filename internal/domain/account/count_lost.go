package account

import (
	"context"
	"database/sql"
	"fmt"

	"pressroom.example/pressroom/internal/platform/db"
)

// LostCount is the number of accounts on a network that must be reconnected.
type LostCount struct {
	Platform string
	Accounts int64
}

// CountLost counts the accounts that must be reconnected, across all teams.
func (s *Service) CountLost(ctx context.Context) ([]LostCount, error) {
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, l *LostCount) error {
		return rows.Scan(&l.Platform, &l.Accounts)
	},
		`SELECT platform, COUNT(*) FROM social_accounts WHERE account_status = 'needs_reauth' AND disconnected_at = 0
			GROUP BY platform ORDER BY platform`)
	if err != nil {
		return nil, fmt.Errorf("counting lost accounts: %w", err)
	}
	return out, nil
}
