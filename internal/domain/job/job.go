// Package job runs work in the background. It stores job records, which clients read, and provides the queue that
// triggers the work. The record is authoritative. Queue IDs are never exposed.
package job

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/tracing"
)

// Type is a job's kind of work. It is also the first part of the job's ID.
type Type string

// Job types.
const (
	ProfileReport Type = "profile_report"
	HashtagReport Type = "hashtag_report"
	SocialPost    Type = "social_post"
	HashtagSearch Type = "hashtag_search"
	MediaImport   Type = "media_import"
	ContentFetch  Type = "content_fetch"
)

// State is a job's state.
type State string

// Job states, as they appear in the API.
const (
	Pending            State = "pending"
	Running            State = "running"
	Succeeded          State = "succeeded"
	PartiallySucceeded State = "partially_succeeded"
	Failed             State = "failed"
)

// Record is a stored job.
type Record struct {
	ID         string // <type>:<uuid>
	TeamID     int64
	Type       Type
	State      State
	Subject    string // ID of the item that the job works on, such as a post or report
	Done       int64  // number of finished parts
	Total      int64  // number of parts
	ErrorCode  string
	CreatedAt  time.Time
	FinishedAt time.Time
	// Reservation is the ID of the credit reservation for the work, or 0 if there is none. The code that ends the job
	// must charge or refund the reservation.
	Reservation int64
}

// IsFinished reports whether the job has ended.
func (r Record) IsFinished() bool { return !r.FinishedAt.IsZero() }

// Store stores job records.
type Store struct {
	db          *db.DB
	results     map[Type]Result
	maxInFlight int
	waiters     *waiters
}

// NewStore returns a Store. results has an entry for each job type that has a result. maxInFlight is the maximum number
// of unfinished jobs per team.
func NewStore(d *db.DB, results map[Type]Result, maxInFlight int) *Store {
	return &Store{db: d, results: results, maxInFlight: maxInFlight, waiters: newWaiters()}
}

// Params describes a job to create.
type Params struct {
	TeamID      int64
	Type        Type
	Subject     string // see Record
	Total       int    // number of parts
	Reservation int64  // see Record
}

// Create creates a pending job in the transaction that stores the work. It ignores the limit on unfinished jobs,
// because no caller requested the work.
func (s *Store) Create(ctx context.Context, tx *db.Tx, p Params) (Record, error) {
	return create(ctx, tx, p, 0)
}

// Start is like Create, but for work that a caller requested. It returns rate_limited with the scope jobs_in_flight if
// the team has too many unfinished jobs. It locks the team's row, so that concurrent calls cannot exceed the limit.
func (s *Store) Start(ctx context.Context, tx *db.Tx, p Params) (Record, error) {
	var id, unfinishedCount int64
	if err := tx.QueryRow(ctx, `SELECT id FROM teams WHERE id = ?`+s.db.ForUpdate(), p.TeamID).Scan(&id); err != nil {
		return Record{}, fmt.Errorf("locking the team: %w", err)
	}
	if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM jobs WHERE team_id = ? AND is_counted = 1 AND finished_at = 0`,
		p.TeamID).Scan(&unfinishedCount); err != nil {
		return Record{}, fmt.Errorf("counting unfinished jobs: %w", err)
	}
	if unfinishedCount >= int64(s.maxInFlight) {
		return Record{}, apierr.New(apierr.RateLimited,
			"The team has too many unfinished jobs. Wait until one of them has finished.").
			With("scope", "jobs_in_flight").WithRetryAfter(inFlightRetryAfter)
	}
	return create(ctx, tx, p, 1)
}

// inFlightRetryAfter is the suggested delay before a caller tries again.
const inFlightRetryAfter = 5 * time.Second

func create(ctx context.Context, tx *db.Tx, p Params, isCounted int) (Record, error) {
	r := Record{ID: string(p.Type) + ":" + uuid.Must(uuid.NewV7()).String(), TeamID: p.TeamID, Type: p.Type,
		State: Pending, Subject: p.Subject,
		Total: int64(p.Total), CreatedAt: tx.Now(), Reservation: p.Reservation}
	_, err := tx.Exec(ctx, `INSERT INTO jobs (id, team_id, type, state, subject, total, created_at, reservation_id,
		is_counted, trace) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.ID, r.TeamID, string(r.Type), string(r.State), r.Subject, r.Total, db.Micros(r.CreatedAt), r.Reservation,
		isCounted, tracing.Link(ctx))
	if err != nil {
		return r, fmt.Errorf("creating a job: %w", err)
	}
	return r, nil
}

// Begin records that a pending job is running. It does not change jobs in other states.
func Begin(ctx context.Context, tx *db.Tx, id string) error {
	if _, err := tx.Exec(ctx, `UPDATE jobs SET state = ? WHERE id = ? AND state = ?`, string(Running), id,
		string(Pending)); err != nil {
		return fmt.Errorf("starting job %s: %w", id, err)
	}
	return nil
}

// Advance records that an unfinished job is running, and how many of its parts are finished.
func Advance(ctx context.Context, tx *db.Tx, id string, done int) error {
	_, err := tx.Exec(ctx, `UPDATE jobs SET state = ?, done = ? WHERE id = ? AND finished_at = 0`, string(Running),
		done, id)
	if err != nil {
		return fmt.Errorf("advancing job %s: %w", id, err)
	}
	return nil
}

// Finish ends a job in the transaction that ends its work.
func Finish(ctx context.Context, tx *db.Tx, id string, state State, errorCode string) error {
	_, err := tx.Exec(ctx, `UPDATE jobs SET state = ?, done = total, error_code = ?, finished_at = ?, owner = '',
		lease_until = 0, wake_at = 0 WHERE id = ? AND finished_at = 0`,
		string(state), errorCode, db.Micros(tx.Now()), id)
	if err != nil {
		return fmt.Errorf("finishing job %s: %w", id, err)
	}
	return nil
}

// Correct changes the state and error code of a job that has already ended.
func Correct(ctx context.Context, tx *db.Tx, id string, state State, errorCode string) error {
	_, err := tx.Exec(ctx, `UPDATE jobs SET state = ?, error_code = ? WHERE id = ? AND finished_at > 0`,
		string(state), errorCode, id)
	if err != nil {
		return fmt.Errorf("correcting job %s: %w", id, err)
	}
	return nil
}

const columns = `id, team_id, type, state, subject, done, total, error_code, created_at, finished_at, reservation_id`

// Get returns a team's job. It returns not_found if the team has no such job.
func Get(ctx context.Context, q db.Querier, team int64, id string) (Record, error) {
	var r Record
	var kind, state string
	var createdAt, finishedAt int64
	err := q.QueryRow(ctx, `SELECT `+columns+` FROM jobs WHERE id = ? AND team_id = ?`, id, team).
		Scan(&r.ID, &r.TeamID, &kind, &state, &r.Subject, &r.Done, &r.Total, &r.ErrorCode, &createdAt, &finishedAt,
			&r.Reservation)
	if errors.Is(err, sql.ErrNoRows) {
		return r, apierr.ItemNotFound()
	}
	if err != nil {
		return r, fmt.Errorf("reading a job: %w", err)
	}
	r.Type, r.State, r.CreatedAt, r.FinishedAt = Type(kind), State(state), db.Time(createdAt), db.Time(finishedAt)
	return r, nil
}

// FindTeam returns the ID of the team that a job belongs to. It returns not_found unless the team is one of teams.
func (s *Store) FindTeam(ctx context.Context, id string, teams []int64) (int64, error) {
	teamID, err := db.OwningTeam(ctx, s.db, `jobs WHERE id = ?`, id, teams)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, apierr.ItemNotFound()
	}
	return teamID, err
}

// RecordLifetime is how long a job's record is kept after the job ends.
const RecordLifetime = 30 * 24 * time.Hour

// Sweep deletes at most 1,000 jobs that ended more than RecordLifetime ago, except the last job of each post. It
// returns the number of deleted jobs.
func (s *Store) Sweep(ctx context.Context) (int64, error) {
	var n int64
	err := s.db.InTx(ctx, "job.sweep", func(ctx context.Context, tx *db.Tx) error {
		var err error
		n, err = tx.Exec(ctx, `DELETE FROM jobs WHERE id IN (SELECT j.id FROM jobs j WHERE j.finished_at > 0
			AND j.finished_at < ?
			AND NOT EXISTS (SELECT 1 FROM posts p WHERE p.id = j.subject AND p.job_id = j.id) ORDER BY j.finished_at
			LIMIT 1000)`, db.Micros(tx.Now().Add(-RecordLifetime)))
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("sweeping jobs: %w", err)
	}
	return n, nil
}

// Location returns a job's path under /api/v1.
func Location(id string) string { return "/jobs/" + strings.ReplaceAll(id, ":", "%3A") }
