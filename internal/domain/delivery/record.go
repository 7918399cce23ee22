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
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/restoreguard"
)

// beginCall records a call in the delivery's history before the call is made, and returns the ID of the entry. For a
// commit, it also changes the phase to committing.
func (a *attempt) beginCall(ctx context.Context, call string) (int64, error) {
	var id int64
	err := a.s.db.InTx(ctx, "delivery."+call, func(ctx context.Context, tx *db.Tx) error {
		if call == "commit" {
			if err := checkNotHeld(ctx, tx); err != nil {
				return err
			}
			if err := updateLeasedTx(ctx, tx, a.d, `UPDATE deliveries SET phase = ?, tries = ?`, string(phaseCommitting),
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
		a.d.Phase = phaseCommitting
	}
	return id, nil
}

// checkNotHeld returns errLeaseLost if publishing is on hold. The hold may have begun after the delivery was claimed,
// for example because a PostgreSQL replica took over.
func checkNotHeld(ctx context.Context, tx *db.Tx) error {
	state, err := restoreguard.Read(ctx, tx)
	if err == nil && state.IsHeld() {
		err = errLeaseLost
	}
	return err
}

// saveDraft stores the phase and the draft.
func (a *attempt) saveDraft(ctx context.Context, name string) error {
	a.refreshed = false // The access token may expire again in the next phase.
	return a.s.updateLeased(ctx, name, a.d, `UPDATE deliveries SET phase = ?, draft = ?`, func(*db.Tx) []any {
		return []any{string(a.d.Phase), string(a.d.Draft)}
	})
}

// recordCallResult stores the result of a call in the delivery's history. If that fails, it only logs the error.
func (a *attempt) recordCallResult(ctx context.Context, attemptID int64, cause error) {
	result, code, text := describeCallResult(cause)
	err := a.s.db.InTx(ctx, "delivery.note", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE delivery_attempts SET ended_at = ?, result = ?, network_code = ?,
			network_text = ? WHERE id = ?`, db.Micros(tx.Now()), result, code, text, attemptID)
		return err
	})
	if err != nil {
		a.s.log.WarnContext(ctx, "Storing a network's response failed", "delivery", a.d.ID, "error", err)
	}
}

// recordFailedCall stores a failed call that publishes nothing. Such a call is recorded only afterwards.
func (a *attempt) recordFailedCall(ctx context.Context, call string, started time.Time, cause error) {
	result, code, text := describeCallResult(cause)
	err := a.s.db.InTx(ctx, "delivery.note", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO delivery_attempts (delivery_id, epoch, call, started_at, ended_at, result,
			network_code, network_text) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			a.d.ID, a.d.Epoch, call, db.Micros(started), db.Micros(tx.Now()), result, code, text)
		return err
	})
	if err != nil {
		a.s.log.WarnContext(ctx, "Storing a network's response failed", "delivery", a.d.ID, "error", err)
	}
}

// describeCallResult returns the result of a call with the network's code and text. If the network's response has no
// code, the HTTP status is the code. So the code of a network.Error is empty only if there was no response.
func describeCallResult(cause error) (string, string, string) {
	if e, ok := errors.AsType[*network.Error](cause); ok {
		code := e.Code
		if code == "" && e.Status > 0 {
			code = fmt.Sprintf("HTTP %d", e.Status)
		}
		return string(e.Class), code, e.Message
	}
	return "answered", "", ""
}

// postpone releases the lease and schedules the next attempt. After an inconclusive commit, the next attempt begins
// with a lookup, even if the last lookup found nothing.
func (a *attempt) postpone(ctx context.Context, wait time.Duration) error {
	a.done = true
	err := a.s.db.InTx(ctx, "delivery.later", func(ctx context.Context, tx *db.Tx) error {
		return a.postponeTx(ctx, tx, wait)
	})
	if err != nil {
		return fmt.Errorf("postponing %s: %w", a.d.ID, err)
	}
	return nil
}

// postponeTx is like postpone, but uses the caller's transaction.
func (a *attempt) postponeTx(ctx context.Context, tx *db.Tx, wait time.Duration) error {
	a.done = true
	if a.committedBefore && a.d.Phase == phasePrepared {
		a.d.Phase = phaseCommitting
	}
	at := db.Micros(tx.Now().Add(wait))
	return updateLeasedTx(ctx, tx, a.d, `UPDATE deliveries SET phase = ?, tries = ?, looks = ?,
		owner = '', lease_until = 0, not_before = ?, wake_at = ?`,
		string(a.d.Phase), a.d.Tries, a.d.Lookups, at, at)
}

// recordPublished ends the delivery as published.
func (a *attempt) recordPublished(ctx context.Context, attemptID int64, receipt network.Receipt) error {
	at := receipt.At
	if at.IsZero() {
		at = a.s.db.Now()
	}
	a.done = true
	newPhase := phaseEnded
	switch {
	case receipt.Permalink == "" && receipt.ID != "" && a.hasPermalink():
		newPhase = phaseLinking
	case len(a.finishStepNames()) > 0:
		newPhase = phaseFinishing
	}
	err := a.s.db.InTx(ctx, "delivery.published", func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `UPDATE delivery_attempts SET ended_at = ?, result = 'published' WHERE id = ?`,
			db.Micros(tx.Now()), attemptID); err != nil {
			return err
		}
		result := post.Result{State: post.TargetPublished, PublishedAt: at.Truncate(time.Microsecond),
			Permalink: receipt.Permalink, NetworkID: receipt.ID}
		if a.d.Phase == phaseUnconfirmed { // The job has ended.
			return endThread(ctx, tx, a.s.posts, a.d, newPhase, result, failedResult(threadInterrupted, ""))
		}
		return recordResult(ctx, tx, a.s.posts, a.d, newPhase, result)
	})
	if err != nil {
		return fmt.Errorf("recording that %s is published: %w", a.d.ID, err)
	}
	if a.s.opts.OnPublished != nil {
		a.s.opts.OnPublished(a.s.db.Now().Sub(a.d.DueAt))
	}
	return nil
}

// hasPermalink reports whether the network can provide a permalink for the part. A comment has a permalink only on
// networks where it is a reply.
func (a *attempt) hasPermalink() bool {
	provider, ok := a.net.(network.RulesProvider)
	return a.d.Part != comment.Part || ok && provider.Rules().Thread
}

// finish ends the attempt with a result and the next phase.
func (a *attempt) finish(ctx context.Context, newPhase phase, result post.Result) error {
	a.done = true
	err := a.s.db.InTx(ctx, "delivery.ended", func(ctx context.Context, tx *db.Tx) error {
		return a.finishTx(ctx, tx, newPhase, result)
	})
	if err != nil {
		return fmt.Errorf("ending delivery %s: %w", a.d.ID, err)
	}
	return nil
}

// finishTx is like finish, but uses the caller's transaction.
func (a *attempt) finishTx(ctx context.Context, tx *db.Tx, newPhase phase, result post.Result) error {
	a.done = true
	return recordResult(ctx, tx, a.s.posts, a.d, newPhase, result)
}

// failedResult returns the result of an account that failed.
func failedResult(code, networkText string) post.Result {
	return post.Result{State: post.TargetFailed, ErrorCode: code, NetworkText: networkText}
}

// unconfirmedResult returns the result of an account whose outcome is unknown.
func unconfirmedResult(message string) post.Result {
	return post.Result{State: post.TargetUnconfirmed, ErrorCode: "not_confirmed", NetworkText: message}
}

// recordResult stores the result of a delivery and the next phase. It updates the post and the job. If another part or
// the first comment follows, it inserts the delivery of that part.
func recordResult(
	ctx context.Context, tx *db.Tx, posts *post.Service, d delivery, newPhase phase, result post.Result,
) error {
	nextPart, hasMore, err := storeResult(ctx, tx, posts, d, newPhase, result)
	if err != nil {
		return err
	}
	if hasMore {
		if _, err := insertPart(ctx, tx, d, nextPart); err != nil {
			return err
		}
	}
	return updateJob(ctx, tx, d.JobID)
}

// storeResult stores the result of a delivery and the next phase, and updates the post. If another part or the first
// comment follows, it returns the number of that part and true.
func storeResult(
	ctx context.Context, tx *db.Tx, posts *post.Service, d delivery, newPhase phase, result post.Result,
) (int, bool, error) {
	now := db.Micros(tx.Now())
	wake := int64(0)
	switch newPhase {
	case phaseUnconfirmed:
		wake = db.Micros(tx.Now().Add(lookupInterval(d.Lookups)))
	case phaseLinking:
		d.Lookups, wake = 0, db.Micros(tx.Now().Add(firstPermalinkDelay))
	case phaseFinishing:
		d.Lookups, wake = 0, now
	case phasePlanned, phasePrepared, phaseCommitting, phaseEnded:
	}
	n, err := tx.Exec(ctx, `UPDATE deliveries SET phase = ?, outcome = ?, error_code = ?, network_text = ?,
		permalink = ?, network_id = ?, looks = ?, owner = '', lease_until = 0, not_before = 0, wake_at = ?,
		ended_at = CASE WHEN ended_at = 0 THEN ? ELSE ended_at END WHERE id = ? AND epoch = ?`,
		string(newPhase), string(result.State), result.ErrorCode, result.NetworkText, result.Permalink,
		result.NetworkID, d.Lookups, wake, now,
		d.ID, d.Epoch)
	if err != nil {
		return 0, false, fmt.Errorf("ending delivery %s: %w", d.ID, err)
	}
	if n == 0 {
		return 0, false, errLeaseLost
	}
	result.Part = d.Part
	return posts.RecordResult(ctx, tx, d.TeamID, d.PostID, d.AccountID, result)
}

// countedSQL is an SQL condition. It selects the deliveries d that determine the result of their job. First comments
// count only in a job that retries nothing else.
const countedSQL = `(d.part >= 0 OR NOT EXISTS (SELECT 1 FROM deliveries other WHERE other.job_id = d.job_id AND other.part >= 0))`

// updateJob finishes a job after its last delivery, and corrects the job if a later lookup changes a result.
func updateJob(ctx context.Context, tx *db.Tx, id string) error {
	type part struct {
		state post.TargetState
		code  string
		ended int64
	}
	parts, err := db.All(ctx, tx, func(rows *sql.Rows, p *part) error {
		return rows.Scan(&p.state, &p.code, &p.ended)
	}, `SELECT outcome, error_code, ended_at FROM deliveries d WHERE job_id = ? AND `+countedSQL+` ORDER BY created_at, id`, id)
	if err != nil {
		return fmt.Errorf("reading a job's deliveries: %w", err)
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
