package report

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// MeasuredAt returns when the metrics of a team's report on a hashtag were measured. It returns the zero time if the
// team has no such report.
func (s *Service) MeasuredAt(ctx context.Context, q db.Querier, team int64, platform,
	hashtag string) (time.Time, error) {
	var at int64
	err := q.QueryRow(ctx, `SELECT measured_at FROM reports WHERE team_id = ? AND kind = ? AND platform = ?
		AND subject = ? AND status = ? AND (tracked = 1 OR available_until > ?)`,
		team, Hashtag, platform, hashtag, string(Ready), db.Micros(s.db.Now())).Scan(&at)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, fmt.Errorf("finding the report on a hashtag: %w", err)
	}
	return db.Time(at), nil
}
