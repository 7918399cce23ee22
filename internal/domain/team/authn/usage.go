package authn

import (
	"context"
	"fmt"
	"sync"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// flushInterval is how often usage times are stored. They are not stored on each call, so that calls that only read do
// not write to the database.
const flushInterval = time.Minute

// pendingUses holds the times of the last uses of keys, until they are stored.
type pendingUses struct {
	mu    sync.Mutex
	byKey map[int64]time.Time // by key ID
}

func (u *pendingUses) record(key int64, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.byKey[key] = at
}

// lastUse returns the pending usage time of a key, or the zero time.
func (u *pendingUses) lastUse(key int64) time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.byKey[key]
}

// drain returns and clears the pending times.
func (u *pendingUses) drain() map[int64]time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	out := u.byKey
	u.byKey = map[int64]time.Time{}
	return out
}

// LastUse returns when a key was last used in this process, if that is not stored yet. Otherwise it returns the zero
// time.
func (a *Authenticator) LastUse(key int64) time.Time { return a.uses.lastUse(key) }

// FlushUses stores the pending usage times of keys. If that fails, they are lost.
func (a *Authenticator) FlushUses(ctx context.Context) error {
	uses := a.uses.drain()
	if len(uses) == 0 {
		return nil
	}
	err := a.db.InTx(ctx, "team.note_uses", func(ctx context.Context, tx *db.Tx) error {
		for key, at := range uses {
			if _, err := tx.Exec(ctx, `UPDATE api_keys SET used_at = ? WHERE id = ? AND used_at < ?`, db.Micros(at),
				key, db.Micros(at)); err != nil {
				return fmt.Errorf("recording the use of a key: %w", err)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("storing usage times of keys: %w", err)
	}
	return nil
}

// RunFlush regularly stores usage times until ctx is canceled, and once more before it returns. It passes errors to
// report and drops times that could not be stored.
func (a *Authenticator) RunFlush(ctx context.Context, report func(error)) {
	tick := time.NewTicker(flushInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			finalCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finalFlushTimeout)
			defer cancel()
			if err := a.FlushUses(finalCtx); err != nil {
				report(err)
			}
			return
		case <-tick.C:
			if err := a.FlushUses(ctx); err != nil && ctx.Err() == nil {
				report(err)
			}
		}
	}
}

// finalFlushTimeout limits how long the final write may delay the shutdown.
const finalFlushTimeout = 5 * time.Second
