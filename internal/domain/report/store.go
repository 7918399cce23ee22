package report

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/platform/db"
)

const columns = `id, team_id, kind, platform, subject, status, job_id, made_by, measured_at, refreshed_at,
	available_until, tracked, frequency_days, next_refresh_at, tracked_by, tracked_key, tracking_ended, created_at`

// scan reads the columns of a row.
func (r *record) scan(scan func(...any) error) error {
	var measuredAt, refreshedAt, availableUntil, tracked, nextRefresh, createdAt int64
	err := scan(&r.id, &r.team, &r.kind, &r.platform, &r.subject, &r.status, &r.lastJobID, &r.creationJobID, &measuredAt, &refreshedAt,
		&availableUntil, &tracked, &r.frequency, &nextRefresh,
		&r.trackedBy, &r.trackedKey, &r.trackingEnded, &createdAt)
	r.measuredAt, r.refreshedAt, r.availableUntil, r.nextRefresh, r.createdAt = db.Time(measuredAt), db.Time(refreshedAt),
		db.Time(availableUntil), db.Time(nextRefresh), db.Time(createdAt)
	r.tracked = tracked != 0
	return err
}

// lockOrCreate locks and returns the report of a subject. It inserts a pending report if there is none or the report
// has expired.
func lockOrCreate(ctx context.Context, tx *db.Tx, team int64, kind, platform, subject string) (record, error) {
	_, err := tx.Exec(ctx, `DELETE FROM reports WHERE team_id = ? AND kind = ? AND platform = ? AND subject = ?
		AND status = ? AND available_until <= ? AND tracked = 0`,
		team, kind, platform, subject, string(Ready), db.Micros(tx.Now()))
	if err != nil {
		return record{}, fmt.Errorf("deleting an expired report: %w", err)
	}
	_, err = tx.Exec(ctx, `INSERT INTO reports (id, team_id, kind, platform, subject, status, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (team_id, kind, platform, subject) DO UPDATE SET subject = excluded.subject`,
		uuid.Must(uuid.NewV7()).String(), team, kind, platform, subject, string(Pending), db.Micros(tx.Now()))
	if err != nil {
		return record{}, fmt.Errorf("inserting a report: %w", err)
	}
	var r record
	err = r.scan(tx.QueryRow(ctx, `SELECT `+columns+` FROM reports WHERE team_id = ? AND kind = ? AND platform = ?
		AND subject = ?`, team, kind, platform, subject).Scan)
	if err != nil {
		return r, fmt.Errorf("reading the report of a subject: %w", err)
	}
	return r, nil
}

// find returns a team's report. It returns not_found if the report does not exist, has expired or belongs to another
// team.
func find(ctx context.Context, q db.Querier, team int64, kind, id string, now int64) (record, error) {
	var r record
	err := r.scan(q.QueryRow(ctx, `SELECT `+columns+` FROM reports WHERE id = ? AND team_id = ? AND kind = ?
		AND (available_until = 0 OR available_until > ? OR tracked = 1)`, id, team, kind, now).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return r, apierr.ItemNotFound()
	}
	if err != nil {
		return r, fmt.Errorf("reading report %s: %w", id, err)
	}
	return r, nil
}

// lock is like find, but locks the row.
func lock(ctx context.Context, tx *db.Tx, team int64, kind, id string) (record, error) {
	if _, err := tx.Exec(ctx, `UPDATE reports SET subject = subject WHERE id = ? AND team_id = ?`, id,
		team); err != nil {
		return record{}, fmt.Errorf("locking report %s: %w", id, err)
	}
	return find(ctx, tx, team, kind, id, db.Micros(tx.Now()))
}
