package delivery

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pressroom/internal/domain/job"
	"pressroom/internal/domain/post"
	"pressroom/internal/network"
	"pressroom/internal/platform/db"
	"pressroom/internal/platform/restoreguard"
)

// beginCall records an attempt before its call is made and returns its ID.
func (a *attempt) beginCall(ctx context.Context, call string) (int64, error) {
	var id int64
	err := a.s.db.InTx(ctx, "delivery."+call, func(ctx context.Context, tx *db.Tx) error {
		if call == "commit" {
			if err := checkNotHeld(ctx, tx); err != nil {
				return err
			}
			if err := updateLeasedTx(ctx, tx, a.d, `UPDATE deliveries SET phase = ?, tries = ?`, string(committing),
				a.d.Tries); err != nil {
				return err
			}
		}
		return tx.QueryRow(ctx, `INSERT INTO delivery_attempts (delivery_id, epoch, call, started_at)
			VALUES (?, ?, ?, ?) RETURNING id`,
			a.d.ID, a.d.Epoch, call, db.Micros(tx.Now())).Scan(&id)
	})
	if err != nil {
		return 0, fmt.Errorf("recording the start of %s for %s: %w", call, a.d.ID, err)
	}
	if call == "commit" {
		a.d.Phase = committing
	}
	return id, nil
}

// checkNotHeld returns an error while publishing is on hold, because a PostgreSQL replica may have taken over since the
// delivery was claimed.
func checkNotHeld(ctx context.Context, tx *db.Tx) error {
	state, err := restoreguard.Read(ctx, tx)
	if err == nil && state.IsHeld() {
		err = errLeaseLost
	}
	return err
}

// saveDraft stores the phase and the draft.
func (a *attempt) saveDraft(ctx context.Context, name string) error {
	a.refreshed = false // the next phase may outlast the token
	return a.s.updateLeased(ctx, name, a.d, `UPDATE deliveries SET phase = ?, draft = ?`, func(*db.Tx) []any {
		return []any{string(a.d.Phase), string(a.d.Draft)}
	})
}

// recordAnswer stores the answer to a call for the post's history. Failures are only logged.
func (a *attempt) recordAnswer(ctx context.Context, attempt int64, cause error) {
	result, code, text := describeAnswer(cause)
	err := a.s.db.InTx(ctx, "delivery.note", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE delivery_attempts SET ended_at = ?, result = ?, network_code = ?,
			network_text = ? WHERE id = ?`, db.Micros(tx.Now()), result, code, text, attempt)
		return err
	})
	if err != nil {
		a.s.log.WarnContext(ctx, "Storing the answer of a network failed", "delivery", a.d.ID, "error", err)
	}
}

// recordFailedCall stores a failed call that was not recorded when it began, because it publishes nothing.
func (a *attempt) recordFailedCall(ctx context.Context, call string, began time.Time, cause error) {
	result, code, text := describeAnswer(cause)
	err := a.s.db.InTx(ctx, "delivery.note", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO delivery_attempts (delivery_id, epoch, call, started_at, ended_at, result,
			network_code, network_text) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			a.d.ID, a.d.Epoch, call, db.Micros(began), db.Micros(tx.Now()), result, code, text)
		return err
	})
	if err != nil {
		a.s.log.WarnContext(ctx, "Storing the answer of a network failed", "delivery", a.d.ID, "error", err)
	}
}

// describeAnswer returns the result of a call and the network's own code and text. An answer without a code has
// its HTTP status as code, so that only a missing answer has none.
func describeAnswer(cause error) (string, string, string) {
	if e, ok := errors.AsType[*network.Error](cause); ok {
		code := e.Code
		if code == "" && e.Status > 0 {
			code = fmt.Sprintf("HTTP %d", e.Status)
		}
		return string(e.Class), code, e.Message
	}
	return "answered", "", ""
}

// postpone releases the lease for some time. After a commit without an answer the delivery continues with a lookup,
// even if the last lookup found nothing.
func (a *attempt) postpone(ctx context.Context, wait time.Duration) error {
	a.done = true
	err := a.s.db.InTx(ctx, "delivery.later", func(ctx context.Context, tx *db.Tx) error {
		return a.postponeTx(ctx, tx, wait)
	})
	if err != nil {
		return fmt.Errorf("delivery.later of %s: %w", a.d.ID, err)
	}
	return nil
}

// postponeTx is postpone in a transaction of the caller.
func (a *attempt) postponeTx(ctx context.Context, tx *db.Tx, wait time.Duration) error {
	a.done = true
	if a.sentBefore && a.d.Phase == prepared {
		a.d.Phase = committing
	}
	at := db.Micros(tx.Now().Add(wait))
	return updateLeasedTx(ctx, tx, a.d, `UPDATE deliveries SET phase = ?, tries = ?, looks = ?,
		owner = '', lease_until = 0, not_before = ?, wake_at = ?`,
		string(a.d.Phase), a.d.Tries, a.d.Lookups, at, at)
}

// recordPublished ends the delivery as published.
func (a *attempt) recordPublished(ctx context.Context, attempt int64, r network.Receipt) error {
	at := r.At
	if at.IsZero() {
		at = a.s.db.Now()
	}
	a.done = true
	into := ended
	switch {
	case r.Permalink == "" && r.ID != "":
		into = linking
	case len(a.stepsOf()) > 0:
		into = finishing
	}
	err := a.s.db.InTx(ctx, "delivery.published", func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `UPDATE delivery_attempts SET ended_at = ?, result = 'published' WHERE id = ?`,
			db.Micros(tx.Now()), attempt); err != nil {
			return err
		}
		return recordResult(ctx, tx, a.s.posts, a.d, into, post.Result{State: post.TargetPublished,
			PublishedAt: at.Truncate(time.Microsecond), Permalink: r.Permalink, NetworkID: r.ID})
	})
	if err != nil {
		return fmt.Errorf("recording that %s is published: %w", a.d.ID, err)
	}
	if a.s.opts.OnPublished != nil {
		a.s.opts.OnPublished(a.s.db.Now().Sub(a.d.DueAt))
	}
	return nil
}

// finish ends the attempt with a result.
func (a *attempt) finish(ctx context.Context, into phase, r post.Result) error {
	a.done = true
	err := a.s.db.InTx(ctx, "delivery.ended", func(ctx context.Context, tx *db.Tx) error {
		return a.finishTx(ctx, tx, into, r)
	})
	if err != nil {
		return fmt.Errorf("ending delivery %s: %w", a.d.ID, err)
	}
	return nil
}

// finishTx is finish in a transaction of the caller.
func (a *attempt) finishTx(ctx context.Context, tx *db.Tx, into phase, r post.Result) error {
	a.done = true
	return recordResult(ctx, tx, a.s.posts, a.d, into, r)
}

// failedResult returns the result of an account that failed.
func failedResult(code, networkText string) post.Result {
	return post.Result{State: post.TargetFailed, ErrorCode: code, NetworkText: networkText}
}

// unconfirmedResult returns the result of an account whose outcome is unknown.
func unconfirmedResult(message string) post.Result {
	return post.Result{State: post.TargetUnconfirmed, ErrorCode: "not_confirmed", NetworkText: message}
}

// recordResult stores a delivery's result, in the post and, with the last delivery, in the job.
func recordResult(
	ctx context.Context, tx *db.Tx, posts *post.Service, d delivery, into phase, r post.Result,
) error {
	now := db.Micros(tx.Now())
	wake := int64(0)
	switch into {
	case doubtful:
		wake = db.Micros(tx.Now().Add(lookupInterval(d.Lookups)))
	case linking:
		d.Lookups, wake = 0, db.Micros(tx.Now().Add(firstPermalinkDelay))
	case finishing:
		d.Lookups, wake = 0, now
	case planned, prepared, committing, ended:
	}
	n, err := tx.Exec(ctx, `UPDATE deliveries SET phase = ?, outcome = ?, error_code = ?, network_text = ?,
		permalink = ?, network_id = ?, looks = ?, owner = '', lease_until = 0, not_before = 0, wake_at = ?,
		ended_at = CASE WHEN ended_at = 0 THEN ? ELSE ended_at END WHERE id = ? AND epoch = ?`,
		string(into), string(r.State), r.ErrorCode, r.NetworkText, r.Permalink, r.NetworkID, d.Lookups, wake, now,
		d.ID, d.Epoch)
	if err != nil {
		return fmt.Errorf("ending delivery %s: %w", d.ID, err)
	}
	if n == 0 {
		return errLeaseLost
	}
	if err := posts.RecordResult(ctx, tx, d.TeamID, d.PostID, d.AccountID, r); err != nil {
		return err
	}
	return updateJob(ctx, tx, d.JobID)
}

// updateJob finishes a job after its last delivery, and corrects it when a later lookup changes a result.
func updateJob(ctx context.Context, tx *db.Tx, id string) error {
	type part struct {
		state post.TargetState
		code  string
		ended int64
	}
	parts, err := db.All(ctx, tx, func(rows *sql.Rows, p *part) error {
		return rows.Scan(&p.state, &p.code, &p.ended)
	}, `SELECT outcome, error_code, ended_at FROM deliveries WHERE job_id = ? ORDER BY created_at, id`, id)
	if err != nil {
		return fmt.Errorf("reading the deliveries of a job: %w", err)
	}
	states, code, done := []post.TargetState{}, "", 0
	for _, p := range parts {
		states = append(states, p.state)
		if p.ended != 0 {
			done++
		}
		if code == "" || p.code == "not_confirmed" {
			code = p.code
		}
	}
	if done < len(parts) {
		return job.Advance(ctx, tx, id, done)
	}
	if err := job.Finish(ctx, tx, id, post.JobState(states), code); err != nil {
		return err
	}
	return job.Correct(ctx, tx, id, post.JobState(states), code)
}
