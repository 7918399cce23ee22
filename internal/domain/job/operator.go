package job

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/platform/db"
)

// StateCount is the number of jobs of one type in one state.
type StateCount struct {
	Type   Type
	State  State
	Jobs   int64
	Oldest time.Time // creation time of the oldest job
}

// CountUnfinished counts the unfinished jobs of all teams by type and state.
func (s *Store) CountUnfinished(ctx context.Context) ([]StateCount, error) {
	return s.countByState(ctx, `SELECT type, state, COUNT(*), MIN(created_at) FROM jobs WHERE finished_at = 0
		GROUP BY type, state ORDER BY type, state`)
}

// CountEnded counts the jobs that ended after since, by type and state, for all teams.
func (s *Store) CountEnded(ctx context.Context, since time.Time) ([]StateCount, error) {
	return s.countByState(ctx, `SELECT type, state, COUNT(*), MIN(created_at) FROM jobs WHERE finished_at > ?
		GROUP BY type, state ORDER BY type, state`, db.Micros(since))
}

func (s *Store) countByState(ctx context.Context, query string, args ...any) ([]StateCount, error) {
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, c *StateCount) error {
		var oldest int64
		err := rows.Scan(&c.Type, &c.State, &c.Jobs, &oldest)
		c.Oldest = db.Time(oldest)
		return err
	}, query, args...)
	if err != nil {
		return nil, fmt.Errorf("counting jobs: %w", err)
	}
	return out, nil
}

// FailedJob is a job that failed.
type FailedJob struct {
	ID        string
	TeamID    int64
	Type      Type
	Subject   string
	ErrorCode string
	At        time.Time
}

const maxFailed = 50

// ListFailed returns up to 50 jobs that failed after since, newest first, for all teams. The operator cannot run them
// again, because their credits were refunded. Only the team may start the work again.
func (s *Store) ListFailed(ctx context.Context, since time.Time) ([]FailedJob, error) {
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, j *FailedJob) error {
		var failedAt int64
		err := rows.Scan(&j.ID, &j.TeamID, &j.Type, &j.Subject, &j.ErrorCode, &failedAt)
		j.At = db.Time(failedAt)
		return err
	}, `SELECT id, team_id, type, subject, error_code, finished_at FROM jobs WHERE finished_at > ? AND state = ?
		ORDER BY finished_at DESC, id LIMIT ?`, db.Micros(since), string(Failed), maxFailed)
	if err != nil {
		return nil, fmt.Errorf("listing failed jobs: %w", err)
	}
	return out, nil
}

// StuckJob is an unfinished job that was created long ago.
type StuckJob struct {
	ID         string
	TeamID     int64
	Type       Type
	State      State
	Since      time.Time // creation time
	Starts     int64     // number of times the job was started
	InProgress bool      // whether a node is working on it
	WakesAt    time.Time // time of the next start; zero if none is scheduled
}

const maxStuck = 50 // per list

// ListStuck returns up to 50 unfinished jobs that were created before a time, oldest first, for all teams. It omits the
// jobs of posts, because delivery.ListStuck lists their deliveries. It also omits the jobs of upload batches, because
// they wait for people.
func (s *Store) ListStuck(ctx context.Context, before time.Time) ([]StuckJob, error) {
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, j *StuckJob) error {
		var createdAt, leaseUntil, wakesAt int64
		err := rows.Scan(&j.ID, &j.TeamID, &j.Type, &j.State, &createdAt, &j.Starts, &leaseUntil, &wakesAt)
		j.Since, j.InProgress, j.WakesAt = db.Time(createdAt), db.Time(leaseUntil).After(s.db.Now()), db.Time(wakesAt)
		return err
	}, `SELECT id, team_id, type, state, created_at, epoch, lease_until, wake_at FROM jobs
		WHERE finished_at = 0 AND created_at < ? AND type <> ? AND NOT EXISTS (SELECT 1 FROM upload_batches b
		WHERE b.job_id = jobs.id)
		ORDER BY created_at, id LIMIT ?`, db.Micros(before), string(SocialPost), maxStuck)
	if err != nil {
		return nil, fmt.Errorf("listing old jobs: %w", err)
	}
	return out, nil
}

// Wake makes a job due immediately, at an operator's request. It returns not_found if there is no such job, or if the
// job has ended, is running, or belongs to a post or upload batch.
func (s *Store) Wake(ctx context.Context, id string) error {
	return s.db.InTx(ctx, "job.wake_by_hand", func(ctx context.Context, tx *db.Tx) error {
		now := db.Micros(tx.Now())
		n, err := tx.Exec(ctx, `UPDATE jobs SET wake_at = ? WHERE id = ? AND finished_at = 0 AND lease_until < ?
			AND type <> ?
			AND NOT EXISTS (SELECT 1 FROM upload_batches b WHERE b.job_id = jobs.id)`, now, id, now, string(SocialPost))
		if err != nil {
			return fmt.Errorf("waking job %s: %w", id, err)
		}
		if n == 0 {
			return apierr.ItemNotFound()
		}
		return nil
	})
}
