package delivery

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
)

// Submitter stores deliveries for posts.
type Submitter struct{ queue *job.Queue }

// NewSubmitter returns a Submitter that wakes deliveries with a queue.
func NewSubmitter(queue *job.Queue) Submitter { return Submitter{queue} }

// Submit stores and wakes one delivery for each account, in the caller's transaction. A retry keeps the time of the
// first submission, because that time identifies the publication on the network. A retry of a thread begins with the
// first part that is not published.
func (s Submitter) Submit(ctx context.Context, tx *db.Tx, posts *post.Service, o post.Submission) error {
	deliveries := make([]delivery, len(o.Targets))
	ids := make([]string, len(o.Targets))
	for i, t := range o.Targets {
		d := delivery{TeamID: o.Post.TeamID, PostID: o.Post.ID, AccountID: t.AccountID, Part: o.Post.NextPart(t), JobID: o.Job.ID}
		var err error
		if d.FirstSubmittedAt, err = firstSubmission(ctx, tx, o.Post, t.AccountID); err != nil {
			return err
		}
		if d.Draft, err = hiddenPostDraft(ctx, tx, d); err != nil {
			return err
		}
		if err := insert(ctx, tx, &d, rewakeAfter); err != nil {
			return err
		}
		deliveries[i], ids[i] = d, d.ID
	}
	if o.RejectionCode == "" {
		return s.queue.Wake(ctx, tx, WorkKind, ids...)
	}
	for _, d := range deliveries {
		if err := recordResult(ctx, tx, posts, d, phaseEnded, failedResult(o.RejectionCode, "")); err != nil {
			return err
		}
	}
	return nil
}

// insert stores a new delivery. The waker wakes the delivery after the duration wakeAfter, unless something else wakes
// it earlier.
func insert(ctx context.Context, tx *db.Tx, d *delivery, wakeAfter time.Duration) error {
	d.ID, d.Phase, d.CreatedAt = uuid.Must(uuid.NewV7()).String(), phasePlanned, tx.Now()
	_, err := tx.Exec(ctx, `INSERT INTO deliveries (id, team_id, post_id, account_id, part, job_id, phase, draft, first_at,
		wake_at, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		d.ID, d.TeamID, d.PostID, d.AccountID, d.Part, d.JobID, string(d.Phase), string(d.Draft), db.Micros(d.FirstSubmittedAt),
		db.Micros(d.CreatedAt.Add(wakeAfter)), db.Micros(d.CreatedAt))
	if err != nil {
		return fmt.Errorf("inserting a delivery: %w", err)
	}
	return nil
}

// hiddenPostDraft returns the draft of a rejected delivery whose post the network has but does not show, or nil. Only
// such a failure has a network ID. Its retry continues with that draft, so that the network does not get the post
// twice.
func hiddenPostDraft(ctx context.Context, tx *db.Tx, d delivery) (network.Draft, error) {
	var draft string
	err := tx.QueryRow(ctx, `SELECT draft FROM deliveries WHERE post_id = ? AND account_id = ? AND part = ?
		AND network_id <> '' AND outcome = 'failed' ORDER BY created_at DESC, id DESC LIMIT 1`, d.PostID, d.AccountID,
		d.Part).Scan(&draft)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("reading the draft of a hidden post: %w", err)
	}
	return network.Draft(draft), nil
}

// firstSubmission returns the time that identifies a publication on the network. For a due post it is the scheduled
// time, so that every copy of the database computes the same value. All parts of a thread have the same time.
func firstSubmission(ctx context.Context, tx *db.Tx, p post.Record, account int64) (time.Time, error) {
	var firstSubmittedAt int64
	err := tx.QueryRow(ctx, `SELECT COALESCE(MIN(first_at), 0) FROM deliveries WHERE post_id = ? AND account_id = ?`,
		p.ID, account).Scan(&firstSubmittedAt)
	if err != nil {
		return time.Time{}, fmt.Errorf("reading the first delivery: %w", err)
	}
	switch {
	case firstSubmittedAt > 0:
		return db.Time(firstSubmittedAt), nil
	case !p.ScheduledAt.IsZero() && !p.ScheduledAt.After(tx.Now()):
		return p.ScheduledAt, nil
	}
	return tx.Now(), nil
}

// rewakeAfter is how long the waker waits for the queue before it wakes a delivery again.
const rewakeAfter = 10 * time.Second
