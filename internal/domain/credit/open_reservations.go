package credit

import (
	"context"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// OpenReservations adds up the open reservations of all teams.
type OpenReservations struct {
	Reservations, Credits int64
	Oldest                time.Time // creation time of the oldest reservation; zero if there is none
}

// OpenReservations counts the open reservations of all teams and adds up their credits.
func (s *Service) OpenReservations(ctx context.Context) (OpenReservations, error) {
	var out OpenReservations
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
