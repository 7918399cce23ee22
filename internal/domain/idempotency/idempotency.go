// Package idempotency implements the Idempotency-Key header. A call with a key runs once. A repeated call within 24
// hours returns the saved result. The record is written in the same transaction as the call's changes, so a crash
// leaves both or neither, and an error leaves the key unused.
package idempotency

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/pipeline"
	"pressroom.example/pressroom/internal/platform/db"
)

// Retention is how long a key and its result are kept.
const Retention = 24 * time.Hour

// Store stores idempotency keys and the results of their calls.
type Store struct{ db *db.DB }

// New returns a Store that uses a database.
func New(d *db.DB) *Store { return &Store{db: d} }

// Once calls fn if the key is new. Otherwise, it returns the saved result of the key. It reports whether the result
// was saved by an earlier call. Once returns idempotency_key_in_progress while the first call is running. For an unpaid
// call, it returns idempotency_key_reused if the key was used for a different request; requests that differ only in how
// a time is written count as the same request. A paid call whose key was used for a different request is a separate
// call, so Once calls fn.
func (s *Store) Once(
	ctx context.Context, c pipeline.Claim, fn func(context.Context, *db.Tx) (operation.Result, error),
) (operation.Result, bool, error) {
	var (
		out      operation.Result
		replayed bool
		hash     = c.Hash()
	)
	err := s.db.InTx(ctx, "replay.once", func(ctx context.Context, tx *db.Tx) error {
		isNew, err := claim(ctx, tx, c, hash)
		if err != nil {
			return err
		}
		if !isNew {
			replayed = true
			out, err = readResult(ctx, tx, c, hash)
			return err
		}
		if out, err = fn(ctx, tx); err != nil {
			return err
		}
		return saveResult(ctx, tx, c, hash, out)
	})
	if db.IsLockTimeout(err) { // a lock, usually the first call's, was not released during InTx's attempts
		err = errInProgress
	}
	if err != nil {
		return operation.Result{}, false, err
	}
	return out, replayed, nil
}

// claim creates the call's record or replaces an expired record, and reports whether it did. On PostgreSQL, a second
// caller waits here for the first caller's transaction.
func claim(ctx context.Context, tx *db.Tx, c pipeline.Claim, hash []byte) (bool, error) {
	now := db.Micros(tx.Now())
	args := []any{c.APIKey, c.Key, c.Operation, hash, now, now + Retention.Microseconds()}
	if !c.Paid {
		n, err := tx.Exec(ctx, claimUnpaidSQL, append(args, c.InstantHash())...)
		if err != nil || n != 1 {
			return false, wrapClaimError(err)
		}
		return true, checkUnused(ctx, tx, c)
	}
	n, err := tx.Exec(ctx, claimPaidSQL, args...)
	if err == nil && n == 1 {
		_, err = tx.Exec(ctx, markPaidSQL, args...)
	}
	return n == 1, wrapClaimError(err)
}

// errInProgress does not wrap the lock timeout, because InTx would otherwise retry the transaction.
var errInProgress = apierr.New(apierr.IdempotencyKeyInProgress,
	"The first request with this Idempotency-Key is still in progress. Repeat the request to get its result.").
	WithRetryAfter(time.Second)

func wrapClaimError(err error) error {
	if db.IsLockTimeout(err) {
		return errInProgress
	}
	if err != nil {
		return fmt.Errorf("claiming an idempotency key: %w", err)
	}
	return nil
}

const (
	claimUnpaidSQL = `INSERT INTO idempotency_records (key_id, key, operation, request_hash, created_at, expires_at,
		instant_hash) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (key_id, key) DO UPDATE
		SET operation = excluded.operation, request_hash = excluded.request_hash, answer = NULL,
			created_at = excluded.created_at, expires_at = excluded.expires_at, instant_hash = excluded.instant_hash
		WHERE idempotency_records.expires_at <= excluded.created_at`
	// A paid call with the same key but a different request is a separate call.
	claimPaidSQL = `INSERT INTO paid_requests (key_id, key, operation, request_hash, created_at, expires_at)
		VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (key_id, key, request_hash) DO UPDATE
		SET answer = NULL, created_at = excluded.created_at, expires_at = excluded.expires_at
		WHERE paid_requests.expires_at <= excluded.created_at`
	// markPaidSQL reserves the key of a paid call, so that a later unpaid call with the same key is rejected. This
	// record never has a result.
	markPaidSQL = `INSERT INTO idempotency_records (key_id, key, operation, request_hash, created_at, expires_at)
		VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (key_id, key) DO UPDATE
		SET operation = excluded.operation, request_hash = excluded.request_hash, answer = NULL,
			created_at = excluded.created_at, expires_at = excluded.expires_at, instant_hash = NULL
		WHERE idempotency_records.answer IS NULL OR idempotency_records.expires_at <= excluded.created_at`
)

var errKeyReused = apierr.New(apierr.IdempotencyKeyReused,
	"This Idempotency-Key was already used for another request. Nothing was done. Use a new key for a new request.")

// checkUnused returns idempotency_key_reused if a paid call has used the key. claimUnpaidSQL does not detect this if
// the key had a record of an unpaid call when the paid call was made, because markPaidSQL does not overwrite that
// record.
func checkUnused(ctx context.Context, tx *db.Tx, c pipeline.Claim) error {
	var n int64
	err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM paid_requests WHERE key_id = ? AND key = ? AND expires_at > ?`,
		c.APIKey, c.Key, db.Micros(tx.Now())).Scan(&n)
	if err != nil {
		return fmt.Errorf("reading paid requests: %w", err)
	}
	if n > 0 {
		return errKeyReused
	}
	return nil
}

func readResult(ctx context.Context, tx *db.Tx, c pipeline.Claim, hash []byte) (operation.Result, error) {
	var storedHash, instantHash, response []byte
	query, args := `SELECT request_hash, instant_hash, answer FROM idempotency_records WHERE key_id = ? AND key = ?`,
		[]any{c.APIKey, c.Key}
	if c.Paid {
		query, args = `SELECT request_hash, NULL, answer FROM paid_requests
		WHERE key_id = ? AND key = ? AND request_hash = ?`, append(args, hash)
	}
	if err := tx.QueryRow(ctx, query, args...).Scan(&storedHash, &instantHash, &response); err != nil {
		return operation.Result{}, fmt.Errorf("reading an idempotency record: %w", err)
	}
	sameInstants := len(instantHash) > 0 && bytes.Equal(instantHash, c.InstantHash())
	if !bytes.Equal(storedHash, hash) && !sameInstants {
		return operation.Result{}, errKeyReused
	}
	out, err := operation.DecodeResult(response)
	if err != nil {
		return operation.Result{}, fmt.Errorf("decoding a saved result: %w", err)
	}
	return out, nil
}

func saveResult(ctx context.Context, tx *db.Tx, c pipeline.Claim, hash []byte, out operation.Result) error {
	var raw bytes.Buffer
	enc := json.NewEncoder(&raw)
	enc.SetEscapeHTML(false) // REST responses are not escaped either, and a repeat must return the same bytes
	if err := enc.Encode(out.ForStorage()); err != nil {
		return fmt.Errorf("encoding a result: %w", err)
	}
	update, args := `UPDATE idempotency_records SET answer = ? WHERE key_id = ? AND key = ?`, []any{
		raw.Bytes(), c.APIKey, c.Key,
	}
	if c.Paid {
		update, args = `UPDATE paid_requests SET answer = ? WHERE key_id = ? AND key = ? AND request_hash = ?`,
			append(args, hash)
	}
	if _, err := tx.Exec(ctx, update, args...); err != nil {
		return fmt.Errorf("saving a result: %w", err)
	}
	return nil
}

// sweepBatch is the maximum number of records that Sweep deletes from each of the two tables.
const sweepBatch = 1000

// Sweep deletes a batch of expired records and returns their number. The keys of paid calls remain recorded in the
// credit reservations.
func (s *Store) Sweep(ctx context.Context) (int64, error) {
	var n int64
	err := s.db.InTx(ctx, "replay.sweep", func(ctx context.Context, tx *db.Tx) error {
		n = 0
		now := db.Micros(tx.Now())
		for _, statement := range []string{
			// The outer condition excludes a record that a concurrent call replaced after the subquery found it.
			`DELETE FROM idempotency_records WHERE expires_at <= ? AND (key_id, key) IN
				(SELECT key_id, key FROM idempotency_records WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`,
			`DELETE FROM paid_requests WHERE expires_at <= ? AND (key_id, key, request_hash) IN
				(SELECT key_id, key, request_hash FROM paid_requests WHERE expires_at <= ?
		ORDER BY expires_at LIMIT ?)`,
		} {
			deletedCount, err := tx.Exec(ctx, statement, now, now, sweepBatch)
			if err != nil {
				return err
			}
			n += deletedCount
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("sweeping idempotency records: %w", err)
	}
	return n, nil
}
