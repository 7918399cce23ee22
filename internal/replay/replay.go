// Package replay remembers Idempotency-Keys: a call with a key is done once, and every repeat within 24 hours
// gets the first result. The record is written in the transaction of the work itself, so a crash leaves both
// or neither, and a refusal leaves the key free.
package replay

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"pressroom/internal/db"
	"pressroom/internal/fault"
	"pressroom/internal/operation"
	"pressroom/internal/pipeline"
)

// Memory is how long a key is remembered (spec, Authentication 8).
const Memory = 24 * time.Hour

// Store keeps the records.
type Store struct{ db *db.DB }

// New makes a store on a database.
func New(d *db.DB) *Store { return &Store{db: d} }

// Once does the work for a new key and tells the kept result of one that is known. The same key with other
// arguments is idempotency_key_reused; one whose first call still runs elsewhere is idempotency_key_in_progress.
func (s *Store) Once(ctx context.Context, c pipeline.Claim, work func(context.Context) (operation.Result, error)) (operation.Result, bool, error) {
	var (
		out      operation.Result
		replayed bool
		hash     = requestHash(c)
	)
	err := s.db.Write(ctx, "replay.once", func(ctx context.Context, tx *db.Tx) error {
		mine, err := claim(ctx, tx, c, hash)
		if err != nil {
			return err
		}
		if !mine {
			replayed = true
			out, err = kept(ctx, tx, c, hash)
			return err
		}
		if out, err = work(ctx); err != nil {
			return err
		}
		return keep(ctx, tx, c, out)
	})
	if db.Blocked(err) {
		err = fault.New(fault.KeyInProgress, "The first call with this Idempotency-Key is still running. Repeat it for its result.").After(time.Second).Wrap(err)
	}
	if err != nil {
		return operation.Result{}, false, err
	}
	return out, replayed, nil
}

// claim makes the key's record, or takes over one whose time is over. On PostgreSQL a second caller waits here
// for the first one's transaction.
func claim(ctx context.Context, tx *db.Tx, c pipeline.Claim, hash []byte) (bool, error) {
	now := db.Micros(tx.Now())
	n, err := tx.Exec(ctx, `INSERT INTO idempotency_records (key_id, key, operation, request_hash, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (key_id, key) DO UPDATE SET operation = excluded.operation, request_hash = excluded.request_hash, answer = NULL,
			created_at = excluded.created_at, expires_at = excluded.expires_at
		WHERE idempotency_records.expires_at <= excluded.created_at`,
		c.APIKey, c.Key, c.Operation, hash, now, now+Memory.Microseconds())
	if err != nil {
		return false, fmt.Errorf("claiming an idempotency key: %w", err)
	}
	return n == 1, nil
}

func kept(ctx context.Context, tx *db.Tx, c pipeline.Claim, hash []byte) (operation.Result, error) {
	var first, answer []byte
	err := tx.QueryRow(ctx, `SELECT request_hash, answer FROM idempotency_records WHERE key_id = ? AND key = ?`, c.APIKey, c.Key).Scan(&first, &answer)
	if err != nil {
		return operation.Result{}, fmt.Errorf("reading an idempotency record: %w", err)
	}
	if !bytes.Equal(first, hash) {
		return operation.Result{}, fault.New(fault.KeyReused, "This Idempotency-Key was used before for another request. Nothing was done; take a new key for a new request.")
	}
	out, err := operation.Kept(answer)
	if err != nil {
		return operation.Result{}, fmt.Errorf("reading a kept answer: %w", err)
	}
	return out, nil
}

func keep(ctx context.Context, tx *db.Tx, c pipeline.Claim, out operation.Result) error {
	raw, err := json.Marshal(out)
	if err != nil {
		return fmt.Errorf("writing an answer to keep: %w", err)
	}
	if _, err := tx.Exec(ctx, `UPDATE idempotency_records SET answer = ? WHERE key_id = ? AND key = ?`, raw, c.APIKey, c.Key); err != nil {
		return fmt.Errorf("keeping an answer: %w", err)
	}
	return nil
}

// requestHash is what sameness means: the operation and its arguments, those of the path among them.
func requestHash(c pipeline.Claim) []byte {
	sum := sha256.Sum256(append([]byte(c.Operation+"\n"), c.Arguments...))
	return sum[:]
}

// sweepBatch bounds one sweep's transaction, so that it holds up nobody.
const sweepBatch = 1000

// Sweep forgets keys whose time is over and tells how many.
func (s *Store) Sweep(ctx context.Context) (int64, error) {
	var n int64
	err := s.db.Write(ctx, "replay.sweep", func(ctx context.Context, tx *db.Tx) error {
		var err error
		n, err = tx.Exec(ctx, `DELETE FROM idempotency_records WHERE (key_id, key) IN
			(SELECT key_id, key FROM idempotency_records WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`, db.Micros(tx.Now()), sweepBatch)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("sweeping idempotency records: %w", err)
	}
	return n, nil
}
