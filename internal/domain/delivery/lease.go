package delivery

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/comment"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/restoreguard"
)

// errLeaseLost reports that another worker holds the lease, so that this worker must not write.
var errLeaseLost = errors.New("the lease was lost")

// claim acquires the lease of a delivery. It reports false if the delivery is not due, has ended or is leased, if the
// team is being deleted, or if publishing is on hold.
func (s *Service) claim(ctx context.Context, id string) (delivery, bool, error) {
	d := delivery{ID: id}
	err := s.db.InTx(ctx, "delivery.claim", func(ctx context.Context, tx *db.Tx) error {
		until := db.Micros(tx.Now().Add(s.opts.Lease))
		var phaseText, draft string
		var firstAt, createdAt, dueAt, earlierDeliveries int64
		err := tx.QueryRow(ctx, `UPDATE deliveries SET owner = ?, epoch = epoch + 1, lease_until = ?, wake_at = ?
			WHERE id = ? AND phase <> 'ended' AND lease_until < ? AND not_before <= ?
				AND NOT EXISTS (SELECT 1 FROM teams WHERE teams.id = deliveries.team_id AND teams.deleted_at > 0)
				AND `+restoreguard.NotHeld+`
			RETURNING team_id, post_id, account_id, part, job_id, phase, draft, tries, looks, epoch, network_id, first_at,
			created_at,
				(SELECT scheduled_at FROM posts WHERE posts.id = deliveries.post_id), COALESCE((SELECT trace FROM jobs
				WHERE jobs.id = deliveries.job_id), ''),
				(SELECT COUNT(*) FROM deliveries x WHERE x.post_id = deliveries.post_id
				AND x.account_id = deliveries.account_id AND x.created_at < deliveries.created_at)`,
			s.owner, until, until, id, db.Micros(tx.Now()), db.Micros(tx.Now())).
			Scan(&d.TeamID, &d.PostID, &d.AccountID, &d.Part, &d.JobID, &phaseText, &draft, &d.Tries, &d.Lookups, &d.Epoch,
				&d.NetworkID, &firstAt, &createdAt, &dueAt, &d.Trace, &earlierDeliveries)
		if err != nil {
			return err
		}
		d.Phase, d.Draft, d.FirstSubmittedAt, d.CreatedAt = phase(phaseText), []byte(draft), db.Time(firstAt), db.Time(createdAt)
		d.DueAt = d.CreatedAt
		if dueAt > 0 && dueAt < createdAt && earlierDeliveries == 0 { // The post was neither published early nor retried.
			d.DueAt = db.Time(dueAt)
		}
		if d.Phase == phaseUnconfirmed || d.Phase.isPublished() {
			return nil
		}
		if d.Part != comment.Part {
			if err := post.MarkSending(ctx, tx, d.PostID, d.AccountID); err != nil {
				return err
			}
		}
		return job.Begin(ctx, tx, d.JobID)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return d, false, nil
	}
	if err != nil {
		return d, false, fmt.Errorf("claiming delivery %s: %w", id, err)
	}
	return d, true, nil
}

// renewLease extends the lease.
func (s *Service) renewLease(ctx context.Context, d delivery) error {
	ctx, cancel := context.WithTimeout(ctx, s.opts.Lease/3)
	defer cancel()
	return s.updateLeased(ctx, "delivery.renew", d, `UPDATE deliveries SET lease_until = ?, wake_at = ?`,
		func(tx *db.Tx) []any {
			until := db.Micros(tx.Now().Add(s.opts.Lease))
			return []any{until, until}
		})
}

// updateLeased updates a delivery in a separate transaction. It returns errLeaseLost if the lease is lost.
func (s *Service) updateLeased(ctx context.Context, name string, d delivery, set string,
	args func(*db.Tx) []any) error {
	err := s.db.InTx(ctx, name, func(ctx context.Context, tx *db.Tx) error {
		return updateLeasedTx(ctx, tx, d, set, args(tx)...)
	})
	if err != nil {
		return fmt.Errorf("%s of %s: %w", name, d.ID, err)
	}
	return nil
}

// updateLeasedTx updates a delivery. It returns errLeaseLost if the lease is lost.
func updateLeasedTx(ctx context.Context, tx *db.Tx, d delivery, set string, args ...any) error {
	n, err := tx.Exec(ctx, set+` WHERE id = ? AND epoch = ?`, append(args, d.ID, d.Epoch)...)
	if err != nil {
		return err
	}
	if n == 0 {
		return errLeaseLost
	}
	return nil
}

// instant is a point in time on three clocks. All nodes share the first clock. The machine's wall clock may jump, and
// its monotonic clock may stop while the machine is suspended.
type instant struct{ cluster, wall, monotonic time.Time }

// instant returns the current time on all three clocks.
func (s *Service) instant() instant {
	now := time.Now()
	return instant{s.db.Now(), now.Round(0), now}
}

// elapsed returns the time from i to now: the longest time that any of the three clocks measured.
func (i instant) elapsed(now instant) time.Duration {
	return max(now.cluster.Sub(i.cluster), now.wall.Sub(i.wall), now.monotonic.Sub(i.monotonic))
}

// errLeaseStale reports that a lease was not renewed in time, so that another node may hold the delivery.
var errLeaseStale = errors.New("the lease was not renewed in time; another node may have taken over")

// checkLease returns errLeaseStale if a lease's duration has passed since the last renewal.
func (a *attempt) checkLease() error {
	if a.leaseConfirmed.Load().elapsed(a.s.instant()) >= a.s.opts.Lease {
		return errLeaseStale
	}
	return nil
}
