package live

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

const (
	// rereadWindow is how long rows are read again, because rows with lower IDs may become visible later. Transactions
	// that take longer are rare. Open pages miss the changes of such a transaction until something else changes.
	rereadWindow = 10 * time.Second
	maxRows      = 1000 // maximum number of rows per query
)

// row is a recorded event or notification.
type row struct {
	id, owner     int64
	kind, subject string
}

// tail reads the new rows of a table by ID. Rows may not become visible in the order of their IDs. Therefore, tail
// reads the latest rows again for a while and skips the rows that it has already returned.
type tail struct {
	query, lastQuery string
	seen             map[int64]time.Time // when each row above floor was returned, by ID; nil before the first call
	floor            int64
}

// next returns the rows that were added since the last call. The first call returns no rows.
func (t *tail) next(ctx context.Context, d *db.DB) ([]row, error) {
	if t.seen == nil {
		if err := d.QueryRow(ctx, t.lastQuery).Scan(&t.floor); err != nil {
			return nil, fmt.Errorf("finding the last row: %w", err)
		}
		t.seen = map[int64]time.Time{}
		return nil, nil
	}
	newRows, err := db.All(ctx, d, func(rows *sql.Rows, r *row) error {
		return rows.Scan(&r.id, &r.owner, &r.kind, &r.subject)
	}, t.query+` WHERE id > ? ORDER BY id LIMIT ?`, t.floor, maxRows)
	if err != nil {
		return nil, fmt.Errorf("reading new rows: %w", err)
	}
	now := time.Now()
	var out []row
	for _, r := range newRows {
		if _, ok := t.seen[r.id]; !ok {
			t.seen[r.id] = now
			out = append(out, r)
		}
	}
	t.advanceFloor(newRows, now)
	return out, nil
}

// advanceFloor moves the floor past rows that were returned at least rereadWindow ago. If there are many rows, it also
// moves the floor past newer rows.
func (t *tail) advanceFloor(rows []row, now time.Time) {
	for i, r := range rows {
		if now.Sub(t.seen[r.id]) < rereadWindow && len(rows)-i <= maxRows/2 {
			break
		}
		t.floor = r.id
		delete(t.seen, r.id)
	}
}

// jobTail finds jobs whose progress has changed.
type jobTail struct {
	jobs map[string]progress // progress of open and recently finished jobs, by job ID; nil before the first call
}

// progress is the state of a job.
type progress struct {
	id          string
	team        int64
	state       string
	done, total int64
}

// next returns the jobs that have changed since the last call. The first call returns no jobs.
func (t *jobTail) next(ctx context.Context, d *db.DB) ([]progress, error) {
	const columns = `SELECT id, team_id, state, done, total FROM jobs WHERE finished_at `
	scan := func(rows *sql.Rows, j *progress) error { return rows.Scan(&j.id, &j.team, &j.state, &j.done, &j.total) }
	unfinished, err := db.All(ctx, d, scan, columns+`= 0 ORDER BY id LIMIT ?`, maxRows)
	if err != nil {
		return nil, fmt.Errorf("reading open jobs: %w", err)
	}
	finished, err := db.All(ctx, d, scan, columns+`> ? ORDER BY finished_at LIMIT ?`,
		db.Micros(d.Now().Add(-rereadWindow)), maxRows)
	if err != nil {
		return nil, fmt.Errorf("reading finished jobs: %w", err)
	}
	var out []progress
	current := make(map[string]progress, len(unfinished)+len(finished))
	for _, j := range append(unfinished, finished...) { // if a job is in both lists, it has finished: keep its last state
		current[j.id] = j
	}
	for id, j := range current {
		if before, ok := t.jobs[id]; t.jobs != nil && (!ok || before != j) {
			out = append(out, j)
		}
	}
	t.jobs = current
	return out, nil
}
