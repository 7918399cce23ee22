package post

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"pressroom/internal/core/operation"
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/db"
)

// gap is a run of skipped occurrences.
type gap struct {
	first, last time.Time
	skipped     int64
}

func (g *gap) include(at time.Time) {
	if g.skipped == 0 {
		g.first = at
	}
	g.last = at
	g.skipped++
}

// record stores the skipped occurrences of a series and adds an event to the post.
func (g *gap) record(ctx context.Context, tx *db.Tx, post Record, series int64) error {
	if g.skipped == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `INSERT INTO post_series_gaps (series_id, first_at, last_at, skipped, noted_at)
		VALUES (?, ?, ?, ?, ?)`,
		series, db.Micros(g.first), db.Micros(g.last), g.skipped, db.Micros(tx.Now()))
	if err != nil {
		return fmt.Errorf("storing skipped occurrences: %w", err)
	}
	return auditlog.Record(ctx, tx, post.TeamID, auditlog.Actor{}, "series.skipped", post.ID,
		map[string]any{"series": series, "skipped": g.skipped, "first": db.Micros(g.first), "last": db.Micros(g.last)})
}

const maxGaps = 5

// gapNotes returns notes about the skipped occurrences of a series, the latest first.
func (s *Service) gapNotes(ctx context.Context, call operation.Call, series int64) ([]string, error) {
	gaps, err := db.All(ctx, s.db, func(rows *sql.Rows, g *gap) error {
		var first, last int64
		err := rows.Scan(&first, &last, &g.skipped)
		g.first, g.last = db.Time(first), db.Time(last)
		return err
	}, `SELECT first_at, last_at, skipped FROM post_series_gaps WHERE series_id = ? ORDER BY id DESC LIMIT ?`, series,
		maxGaps)
	if err != nil {
		return nil, fmt.Errorf("reading skipped occurrences: %w", err)
	}
	notes := make([]string, len(gaps))
	for i, g := range gaps {
		if g.skipped == 1 {
			notes[i] = fmt.Sprintf("The occurrence of %s was skipped because it was more than an hour late.",
				call.Moment(g.first).Team)
			continue
		}
		notes[i] = fmt.Sprintf("%d occurrences from %s to %s were skipped because they were more than an hour late.",
			g.skipped, call.Moment(g.first).Team, call.Moment(g.last).Team)
	}
	return notes, nil
}
