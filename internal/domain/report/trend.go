package report

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// maxTrendAge is the maximum age of a measurement in a trend.
const maxTrendAge = 90 * day

// trendQuery selects the recent samples of a team's reports, oldest first.
const trendQuery = `SELECT s.report_id, s.measured_at, s.sample FROM report_samples s
	JOIN reports r ON r.id = s.report_id WHERE s.report_id IN (%s) AND s.measured_at >= ? AND r.team_id = ?
	ORDER BY s.report_id, s.measured_at`

// Trends returns the follower samples of a team's reports from the last 90 days, oldest first. The keys are report IDs.
func (s *Service) Trends(ctx context.Context, team int64, reports []string) (map[string][]FollowerSample, error) {
	out := map[string][]FollowerSample{}
	if len(reports) == 0 {
		return out, nil
	}
	var args []any
	for _, id := range reports {
		args = append(args, id)
	}
	type row struct {
		id    string
		size  FollowerSample
		known bool
	}
	samples, err := db.All(ctx, s.db, func(rows *sql.Rows, r *row) error {
		var at int64
		var text string
		err := rows.Scan(&r.id, &at, &text)
		if err == nil {
			r.size, r.known, err = parseFollowerSample(db.Time(at), text)
		}
		return err
	}, fmt.Sprintf(trendQuery, db.Placeholders(len(reports))), append(args, db.Micros(s.db.Now().Add(-maxTrendAge)), team)...)
	if err != nil {
		return nil, fmt.Errorf("reading the samples of reports: %w", err)
	}
	for _, r := range samples {
		if r.known {
			out[r.id] = append(out[r.id], r.size)
		}
	}
	return out, nil
}

// parseFollowerSample decodes a stored sample. It reports false if the number of followers is unknown.
func parseFollowerSample(at time.Time, text string) (FollowerSample, bool, error) {
	var stored sample
	if err := json.Unmarshal([]byte(text), &stored); err != nil {
		return FollowerSample{}, false, fmt.Errorf("decoding a sample: %w", err)
	}
	if stored.Followers == nil {
		return FollowerSample{}, false, nil
	}
	return FollowerSample{at, *stored.Followers, stored.Engagement}, true, nil
}
