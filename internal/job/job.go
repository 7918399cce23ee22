// Package job is work in the background: the record that clients read at a job's address, and the queue that
// wakes the work up. The record is the truth; the queue's own ids are nobody's reference.
package job

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"pressroom/internal/db"
	"pressroom/internal/fault"
)

// Type is what kind of work a job is; the first part of its id.
type Type string

// The types of the contract.
const (
	SocialPost Type = "social_post"
)

// State is how far a job is.
type State string

// The states of the contract.
const (
	Pending            State = "pending"
	Running            State = "running"
	Succeeded          State = "succeeded"
	PartiallySucceeded State = "partially_succeeded"
	Failed             State = "failed"
)

// Record is a job as it is stored.
type Record struct {
	ID         string // <type>:<uuid>
	TeamID     int64
	Type       Type
	State      State
	Subject    string // the id of what the job is about
	Done       int64
	Total      int64
	ErrorCode  string
	CreatedAt  time.Time
	FinishedAt time.Time
}

// Finished tells whether the job has ended.
func (r Record) Finished() bool { return !r.FinishedAt.IsZero() }

// Store keeps the records.
type Store struct {
	db      *db.DB
	results map[Type]Result
}

// NewStore makes the store. The results say what a finished job of each type produced.
func NewStore(d *db.DB, results map[Type]Result) *Store { return &Store{db: d, results: results} }

// Create makes a pending job in the transaction of the work's own record.
func Create(ctx context.Context, tx *db.Tx, team int64, t Type, subject string, total int) (Record, error) {
	r := Record{ID: string(t) + ":" + uuid.Must(uuid.NewV7()).String(), TeamID: team, Type: t, State: Pending, Subject: subject, Total: int64(total), CreatedAt: tx.Now()}
	_, err := tx.Exec(ctx, `INSERT INTO jobs (id, team_id, type, state, subject, total, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		r.ID, team, string(t), string(r.State), subject, r.Total, db.Micros(r.CreatedAt))
	if err != nil {
		return r, fmt.Errorf("creating a job: %w", err)
	}
	return r, nil
}

// Advance notes how much is done and that the job runs.
func Advance(ctx context.Context, tx *db.Tx, id string, done int) error {
	_, err := tx.Exec(ctx, `UPDATE jobs SET state = ?, done = ? WHERE id = ? AND finished_at = 0`, string(Running), done, id)
	if err != nil {
		return fmt.Errorf("advancing job %s: %w", id, err)
	}
	return nil
}

// Finish ends a job in the transaction that ends its work.
func Finish(ctx context.Context, tx *db.Tx, id string, state State, errorCode string) error {
	_, err := tx.Exec(ctx, `UPDATE jobs SET state = ?, done = total, error_code = ?, finished_at = ? WHERE id = ? AND finished_at = 0`,
		string(state), errorCode, db.Micros(tx.Now()), id)
	if err != nil {
		return fmt.Errorf("finishing job %s: %w", id, err)
	}
	return nil
}

// Correct changes the outcome of a job that has ended, when a later look told more than its end did.
func Correct(ctx context.Context, tx *db.Tx, id string, state State, errorCode string) error {
	_, err := tx.Exec(ctx, `UPDATE jobs SET state = ?, error_code = ? WHERE id = ? AND finished_at > 0`, string(state), errorCode, id)
	if err != nil {
		return fmt.Errorf("correcting job %s: %w", id, err)
	}
	return nil
}

const columns = `id, team_id, type, state, subject, done, total, error_code, created_at, finished_at`

// Get reads a job of a team; a missing one and another team's are the same not_found.
func Get(ctx context.Context, q db.Querier, team int64, id string) (Record, error) {
	var r Record
	var kind, state string
	var created, finished int64
	err := q.QueryRow(ctx, `SELECT `+columns+` FROM jobs WHERE id = ? AND team_id = ?`, id, team).
		Scan(&r.ID, &r.TeamID, &kind, &state, &r.Subject, &r.Done, &r.Total, &r.ErrorCode, &created, &finished)
	if errors.Is(err, sql.ErrNoRows) {
		return r, fault.Missing()
	}
	if err != nil {
		return r, fmt.Errorf("reading a job: %w", err)
	}
	r.Type, r.State, r.CreatedAt, r.FinishedAt = Type(kind), State(state), db.Time(created), db.Time(finished)
	return r, nil
}

// Kept is how long a job's record stays after its end.
const Kept = 30 * 24 * time.Hour

// Sweep forgets jobs that ended long ago and are no post's last one.
func (s *Store) Sweep(ctx context.Context) (int64, error) {
	var n int64
	err := s.db.Write(ctx, "job.sweep", func(ctx context.Context, tx *db.Tx) error {
		var err error
		n, err = tx.Exec(ctx, `DELETE FROM jobs WHERE id IN (SELECT j.id FROM jobs j WHERE j.finished_at > 0 AND j.finished_at < ?
			AND NOT EXISTS (SELECT 1 FROM posts p WHERE p.id = j.subject AND p.job_id = j.id) ORDER BY j.finished_at LIMIT 1000)`, db.Micros(tx.Now().Add(-Kept)))
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("sweeping jobs: %w", err)
	}
	return n, nil
}

// Location is a job's address below /api/v1.
func Location(id string) string { return "/jobs/" + strings.ReplaceAll(id, ":", "%3A") }
