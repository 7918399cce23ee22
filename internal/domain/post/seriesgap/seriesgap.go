// Package seriesgap records the occurrences of a series that were skipped because they were too late.
package seriesgap

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// Gap is a sequence of skipped occurrences.
type Gap struct {
	First, Last time.Time
	Skipped     int64
}

// Include adds an occurrence, which must be later than all others.
func (g *Gap) Include(at time.Time) {
	if g.Skipped == 0 {
		g.First = at
	}
	g.Last = at
	g.Skipped++
}

// Record stores the skipped occurrences of a series, if any, and adds an event to the post.
func (g *Gap) Record(ctx context.Context, tx *db.Tx, team int64, post string, series int64) error {
	if g.Skipped == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `INSERT INTO post_series_gaps (series_id, first_at, last_at, skipped, noted_at)
		VALUES (?, ?, ?, ?, ?)`,
		series, db.Micros(g.First), db.Micros(g.Last), g.Skipped, db.Micros(tx.Now()))
	if err != nil {
		return fmt.Errorf("storing skipped occurrences: %w", err)
	}
	return auditlog.Record(ctx, tx, team, auditlog.Actor{}, "series.skipped", post,
		map[string]any{"series": series, "skipped": g.Skipped, "first": db.Micros(g.First), "last": db.Micros(g.Last)})
}

const maxGaps = 5

// Notes returns notes about the skipped occurrences of a series, latest first.
func Notes(ctx context.Context, q db.Querier, call operation.Call, series int64) ([]string, error) {
	gaps, err := db.All(ctx, q, func(rows *sql.Rows, g *Gap) error {
		var first, last int64
		err := rows.Scan(&first, &last, &g.Skipped)
		g.First, g.Last = db.Time(first), db.Time(last)
		return err
	}, `SELECT first_at, last_at, skipped FROM post_series_gaps WHERE series_id = ? ORDER BY id DESC LIMIT ?`, series,
		maxGaps)
	if err != nil {
		return nil, fmt.Errorf("reading skipped occurrences: %w", err)
	}
	notes := make([]string, len(gaps))
	for i, g := range gaps {
		if g.Skipped == 1 {
			notes[i] = fmt.Sprintf("The occurrence of %s was skipped because it was more than an hour late.",
				call.Moment(g.First).Team)
			continue
		}
		notes[i] = fmt.Sprintf("%d occurrences from %s to %s were skipped because they were more than an hour late.",
			g.Skipped, call.Moment(g.First).Team, call.Moment(g.Last).Team)
	}
	return notes, nil
}
