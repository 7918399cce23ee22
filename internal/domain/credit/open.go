package credit

import (
	"context"
	"fmt"
	"time"

	"pressroom/internal/platform/db"
)

// Open is what is set aside for paid work that has not ended, of every team.
type Open struct {
	Reservations, Credits int64
	Oldest                time.Time // zero where there is none
}

// Open counts the reservations that are open.
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
