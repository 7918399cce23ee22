package job

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/platform/db"
)

// StateCount is how many jobs of a type stand in a state.
type StateCount struct {
	Type   Type
	State  State
	Jobs   int64
	Oldest time.Time // when the oldest of them was made
}

// CountUnfinished counts the jobs that have not ended, of every team.
func (s *Store) CountUnfinished(ctx context.Context) ([]StateCount, error) {
	return s.countByState(ctx, `SELECT type, state, COUNT(*), MIN(created_at) FROM jobs WHERE finished_at = 0 GROUP BY type, state ORDER BY type, state`)
}

// CountEnded counts the jobs of every team that ended since a time.
func (s *Store) CountEnded(ctx context.Context, since time.Time) ([]StateCount, error) {
	return s.countByState(ctx, `SELECT type, state, COUNT(*), MIN(created_at) FROM jobs WHERE finished_at > ? GROUP BY type, state ORDER BY type, state`, db.Micros(since))
}

func (s *Store) countByState(ctx context.Context, query string, args ...any) ([]StateCount, error) {
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, l *StateCount) error {
		var oldest int64
		err := rows.Scan(&l.Type, &l.State, &l.Jobs, &oldest)
		l.Oldest = db.Time(oldest)
		return err
	}, query, args...)
	if err != nil {
		return nil, fmt.Errorf("counting jobs: %w", err)
	}
	return out, nil
}

// StuckJob is a job that has taken long, and what it waits for.
type StuckJob struct {
	ID      string
	TeamID  int64
	Type    Type
	State   State
	Since   time.Time // when it was made
	Times   int64     // how often it was taken up
	Held    bool      // somebody works on it now
	WakesAt time.Time // when it is looked at next; zero for never
}

const maxStuck = 50 // that are listed at once

// ListStuck lists jobs of every team that were made before a time and have not ended, the oldest first and 50 at most. Those
// that publish posts are not among them: they are as far as their deliveries. Nor are batches of uploads, which wait for
// people.
func (s *Store) ListStuck(ctx context.Context, before time.Time) ([]StuckJob, error) {
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, j *StuckJob) error {
		var since, lease, wake int64
		err := rows.Scan(&j.ID, &j.TeamID, &j.Type, &j.State, &since, &j.Times, &lease, &wake)
		j.Since, j.Held, j.WakesAt = db.Time(since), db.Time(lease).After(s.db.Now()), db.Time(wake)
		return err
	}, `SELECT id, team_id, type, state, created_at, epoch, lease_until, wake_at FROM jobs
		WHERE finished_at = 0 AND created_at < ? AND type <> ? AND NOT EXISTS (SELECT 1 FROM upload_batches b WHERE b.job_id = jobs.id)
		ORDER BY created_at, id LIMIT ?`, db.Micros(before), string(SocialPost), maxStuck)
	if err != nil {
		return nil, fmt.Errorf("looking for jobs that take long: %w", err)
	}
	return out, nil
}

// Wake has a job looked at now that nobody works on, for the operator: not_found where there is none of this id that
// could be.
func (s *Store) Wake(ctx context.Context, id string) error {
	return s.db.InTx(ctx, "job.wake_by_hand", func(ctx context.Context, tx *db.Tx) error {
		now := db.Micros(tx.Now())
		n, err := tx.Exec(ctx, `UPDATE jobs SET wake_at = ? WHERE id = ? AND finished_at = 0 AND lease_until < ? AND type <> ?
			AND NOT EXISTS (SELECT 1 FROM upload_batches b WHERE b.job_id = jobs.id)`, now, id, now, string(SocialPost))
		if err != nil {
			return fmt.Errorf("waking job %s: %w", id, err)
		}
		if n == 0 {
			return apierr.Missing()
		}
		return nil
	})
}
