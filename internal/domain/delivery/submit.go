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
	"pressroom.example/pressroom/internal/platform/db"
)

// Submitter stores deliveries for posts.
type Submitter struct{ queue *job.Queue }

// NewSubmitter returns a Submitter that wakes deliveries with a queue.
func NewSubmitter(queue *job.Queue) Submitter { return Submitter{queue} }

// Submit stores and wakes one delivery for each account, in the caller's transaction. A retry keeps the time of the first
// submission, which identifies the publication at the network.
func (s Submitter) Submit(ctx context.Context, tx *db.Tx, posts *post.Service, o post.Submission) error {
	deliveries := make([]delivery, len(o.Targets))
	ids := make([]string, len(o.Targets))
	for i, t := range o.Targets {
		first, err := firstSubmission(ctx, tx, o.Post, t.AccountID)
		if err != nil {
			return err
		}
		draft, err := keptDraft(ctx, tx, o.Post.ID, t.AccountID)
		if err != nil {
			return err
		}
		d := delivery{ID: uuid.Must(uuid.NewV7()).String(), TeamID: o.Post.TeamID, PostID: o.Post.ID,
			AccountID: t.AccountID, JobID: o.Job.ID, Phase: planned}
		_, err = tx.Exec(ctx, `INSERT INTO deliveries (id, team_id, post_id, account_id, job_id, phase, draft, first_at,
			wake_at, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			d.ID, d.TeamID, d.PostID, d.AccountID, d.JobID, string(planned), draft, first,
			db.Micros(tx.Now().Add(rewakeAfter)), db.Micros(tx.Now()))
		if err != nil {
			return fmt.Errorf("inserting a delivery: %w", err)
		}
		deliveries[i], ids[i] = d, d.ID
	}
	if o.Rejected == "" {
		return s.queue.Wake(ctx, tx, Work, ids...)
	}
	for _, d := range deliveries {
		if err := recordResult(ctx, tx, posts, d, ended, failedResult(o.Rejected, "")); err != nil {
			return err
		}
	}
	return nil
}

// keptDraft returns the draft of a rejected delivery whose post the network has but does not show, or "". Only such a
// failure has a network ID. Its retry continues with that draft, so that the network does not get the post twice.
func keptDraft(ctx context.Context, tx *db.Tx, post string, account int64) (string, error) {
	var draft string
	err := tx.QueryRow(ctx, `SELECT draft FROM deliveries WHERE post_id = ? AND account_id = ? AND network_id <> ''
		AND outcome = 'failed' ORDER BY created_at DESC, id DESC LIMIT 1`, post, account).Scan(&draft)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("reading the draft of a hidden post: %w", err)
	}
	return draft, nil
}

// firstSubmission returns the time, in microseconds, that identifies a publication at the network. For a due post it is the
// scheduled time, so that every copy of the database computes the same value.
func firstSubmission(ctx context.Context, tx *db.Tx, p post.Record, account int64) (int64, error) {
	var first int64
	err := tx.QueryRow(ctx, `SELECT COALESCE(MIN(first_at), 0) FROM deliveries WHERE post_id = ? AND account_id = ?`,
		p.ID, account).Scan(&first)
	if err != nil {
		return 0, fmt.Errorf("reading the first delivery: %w", err)
	}
	if at := db.Micros(p.ScheduledAt); first == 0 && at > 0 && at <= db.Micros(tx.Now()) {
		first = at
	}
	if first == 0 {
		first = db.Micros(tx.Now())
	}
	return first, nil
}

// rewakeAfter is how long the waker waits for the queue before it wakes a delivery again.
const rewakeAfter = 10 * time.Second
