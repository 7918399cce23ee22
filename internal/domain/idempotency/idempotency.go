// Package idempotency remembers Idempotency-Keys: a call with a key is done once, and every repeat within 24 hours
// gets the first result. The record is written in the transaction of the work itself, so a crash leaves both
// or neither, and a refusal leaves the key free.
package idempotency

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/core/operation"
	"pressroom/internal/core/pipeline"
	"pressroom/internal/platform/db"
)

// Memory is how long a key is remembered (spec, Authentication 8).
const Memory = 24 * time.Hour

// Store keeps the records.
type Store struct{ db *db.DB }

// New makes a store on a database.
func New(d *db.DB) *Store { return &Store{db: d} }

// Once does the work for a new key and tells the kept result of one that is known. The same key with other
// arguments is idempotency_key_reused; one whose first call still runs elsewhere is idempotency_key_in_progress.
func (s *Store) Once(
	ctx context.Context, c pipeline.Claim, work func(context.Context, *db.Tx) (operation.Result, error),
) (operation.Result, bool, error) {
	var (
		out      operation.Result
		replayed bool
		hash     = c.Hash()
	)
	err := s.db.InTx(ctx, "replay.once", func(ctx context.Context, tx *db.Tx) error {
		mine, err := claim(ctx, tx, c, hash)
		if err != nil {
			return err
		}
		if !mine {
			replayed = true
			out, err = kept(ctx, tx, c, hash)
			return err
		}
		if out, err = work(ctx, tx); err != nil {
			return err
		}
		return keep(ctx, tx, c, hash, out)
	})
	if db.IsLockTimeout(err) { // again and again, by others' calls
		err = errInProgress
	}
	if err != nil {
		return operation.Result{}, false, err
	}
	return out, replayed, nil
}

// claim makes the call's record, or takes over one whose time is over. On PostgreSQL a second caller waits here
// for the first one's transaction.
func claim(ctx context.Context, tx *db.Tx, c pipeline.Claim, hash []byte) (bool, error) {
	now := db.Micros(tx.Now())
	args := []any{c.APIKey, c.Key, c.Operation, hash, now, now + Memory.Microseconds()}
	if !c.Paid {
		n, err := tx.Exec(ctx, claimUnpaid, append(args, c.InstantHash())...)
		if err != nil || n != 1 {
			return false, claiming(err)
		}
		return true, unused(ctx, tx, c)
	}
	n, err := tx.Exec(ctx, claimPaid, args...)
	if err == nil && n == 1 {
		_, err = tx.Exec(ctx, markPaid, args...)
	}
	return n == 1, claiming(err)
}

// errInProgress hides why the database gave up waiting, so that the transaction is not tried again at once.
var errInProgress = apierr.New(apierr.KeyInProgress,
	"The first request with this Idempotency-Key is still in progress. Repeat the request to get its result.").After(time.Second)

func claiming(err error) error {
	if db.IsLockTimeout(err) {
		return errInProgress
	}
	if err != nil {
		return fmt.Errorf("claiming an idempotency key: %w", err)
	}
	return nil
}

const (
	claimUnpaid = `INSERT INTO idempotency_records (key_id, key, operation, request_hash, created_at, expires_at,
		instant_hash) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (key_id, key) DO UPDATE
		SET operation = excluded.operation, request_hash = excluded.request_hash, answer = NULL,
			created_at = excluded.created_at, expires_at = excluded.expires_at, instant_hash = excluded.instant_hash
		WHERE idempotency_records.expires_at <= excluded.created_at`
	// The same key with another request is another call where money is involved.
	claimPaid = `INSERT INTO paid_requests (key_id, key, operation, request_hash, created_at, expires_at)
		VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (key_id, key, request_hash) DO UPDATE
		SET answer = NULL, created_at = excluded.created_at, expires_at = excluded.expires_at
		WHERE paid_requests.expires_at <= excluded.created_at`
	// A write without money that comes with the key of a paid call finds this record, which never has an answer.
	markPaid = `INSERT INTO idempotency_records (key_id, key, operation, request_hash, created_at, expires_at)
		VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (key_id, key) DO UPDATE
		SET operation = excluded.operation, request_hash = excluded.request_hash, answer = NULL,
			created_at = excluded.created_at, expires_at = excluded.expires_at, instant_hash = NULL
		WHERE idempotency_records.answer IS NULL OR idempotency_records.expires_at <= excluded.created_at`
)

var reused = apierr.New(apierr.KeyReused,
	"This Idempotency-Key was already used for another request. Nothing was done. Use a new key for a new request.")

// unused refuses a key for a write without money that a paid call used when an earlier write still had the record.
func unused(ctx context.Context, tx *db.Tx, c pipeline.Claim) error {
	var n int64
	err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM paid_requests WHERE key_id = ? AND key = ? AND expires_at > ?`,
		c.APIKey, c.Key, db.Micros(tx.Now())).Scan(&n)
	if err != nil {
		return fmt.Errorf("reading paid requests: %w", err)
	}
	if n > 0 {
		return reused
	}
	return nil
}

func kept(ctx context.Context, tx *db.Tx, c pipeline.Claim, hash []byte) (operation.Result, error) {
	var first, instants, answer []byte
	query, args := `SELECT request_hash, instant_hash, answer FROM idempotency_records WHERE key_id = ? AND key = ?`,
		[]any{c.APIKey, c.Key}
	if c.Paid {
		query, args = `SELECT request_hash, NULL, answer FROM paid_requests
		WHERE key_id = ? AND key = ? AND request_hash = ?`, append(args, hash)
	}
	if err := tx.QueryRow(ctx, query, args...).Scan(&first, &instants, &answer); err != nil {
		return operation.Result{}, fmt.Errorf("reading an idempotency record: %w", err)
	}
	sameInstants := len(instants) > 0 && bytes.Equal(instants, c.InstantHash())
	if !bytes.Equal(first, hash) && !sameInstants {
		return operation.Result{}, reused
	}
	out, err := operation.DecodeResult(answer)
	if err != nil {
		return operation.Result{}, fmt.Errorf("reading a kept answer: %w", err)
	}
	return out, nil
}

func keep(ctx context.Context, tx *db.Tx, c pipeline.Claim, hash []byte, out operation.Result) error {
	var raw bytes.Buffer
	enc := json.NewEncoder(&raw)
	enc.SetEscapeHTML(false) // each edge escapes as it does, so that a repeat is the first answer byte for byte
	if err := enc.Encode(out.ForStorage()); err != nil {
		return fmt.Errorf("writing an answer to keep: %w", err)
	}
	update, args := `UPDATE idempotency_records SET answer = ? WHERE key_id = ? AND key = ?`, []any{
		raw.Bytes(), c.APIKey, c.Key,
	}
	if c.Paid {
		update, args = `UPDATE paid_requests SET answer = ? WHERE key_id = ? AND key = ? AND request_hash = ?`,
			append(args, hash)
	}
	if _, err := tx.Exec(ctx, update, args...); err != nil {
		return fmt.Errorf("keeping an answer: %w", err)
	}
	return nil
}

// sweepBatch bounds one sweep's transaction, so that it holds up nobody.
const sweepBatch = 1000

// Sweep forgets keys whose time is over and tells how many. That a key paid for a request stays known by the
// reservation.
func (s *Store) Sweep(ctx context.Context) (int64, error) {
	var n int64
	err := s.db.InTx(ctx, "replay.sweep", func(ctx context.Context, tx *db.Tx) error {
		n = 0
		now := db.Micros(tx.Now())
		for _, forget := range []string{
			// The time stands outside as well: a record that a new call takes over meanwhile is looked at anew by that
			// alone.
			`DELETE FROM idempotency_records WHERE expires_at <= ? AND (key_id, key) IN
				(SELECT key_id, key FROM idempotency_records WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`,
			`DELETE FROM paid_requests WHERE expires_at <= ? AND (key_id, key, request_hash) IN
				(SELECT key_id, key, request_hash FROM paid_requests WHERE expires_at <= ?
		ORDER BY expires_at LIMIT ?)`,
		} {
			gone, err := tx.Exec(ctx, forget, now, now, sweepBatch)
			if err != nil {
				return err
			}
			n += gone
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("sweeping idempotency records: %w", err)
	}
	return n, nil
}
