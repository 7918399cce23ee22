package credit

import (
	"context"
	"fmt"
	"time"

	"pressroom/internal/platform/db"
)

// Open is the total of all teams' open reservations.
type Open struct {
	Reservations, Credits int64
	Oldest                time.Time // zero if there is none
}

// Open returns the total of open reservations.
func (s *Service) Open(ctx context.Context) (Open, error) {
	var out Open
	var oldest int64
	err := s.db.QueryRow(ctx,
		`SELECT COUNT(*), COALESCE(SUM(charged), 0), COALESCE(MIN(created_at), 0) FROM reservations
		WHERE state = 'open'`).
		Scan(&out.Reservations, &out.Credits, &oldest)
	if err != nil {
		return out, fmt.Errorf("counting open reservations: %w", err)
	}
	out.Oldest = db.Time(oldest)
	return out, nil
}
