package authn

import (
	"context"
	"fmt"
	"sync"
	"time"

	"pressroom/internal/platform/db"
)

// usesEvery is how often the times of use are written, so that reading with a key writes nothing.
const usesEvery = time.Minute

// uses holds the last uses of keys until they are written.
type uses struct {
	mu sync.Mutex
	at map[int64]time.Time // by key ID
}

func (u *uses) note(key int64, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.at[key] = at
}

// last returns when a key was last used, if that is not yet written.
func (u *uses) last(key int64) time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.at[key]
}

// take returns and clears the recorded times.
func (u *uses) take() map[int64]time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	out := u.at
	u.at = map[int64]time.Time{}
	return out
}

// LastUse returns when this process last saw a key, if that is not written yet.
func (a *Authenticator) LastUse(key int64) time.Time { return a.uses.last(key) }

// NoteUses writes when keys were last used since it was last called.
func (a *Authenticator) NoteUses(ctx context.Context) error {
	used := a.uses.take()
	if len(used) == 0 {
		return nil
	}
	err := a.db.InTx(ctx, "team.note_uses", func(ctx context.Context, tx *db.Tx) error {
		for key, at := range used {
			if _, err := tx.Exec(ctx, `UPDATE api_keys SET used_at = ? WHERE id = ? AND used_at < ?`, db.Micros(at),
				key, db.Micros(at)); err != nil {
				return fmt.Errorf("recording the use of a key: %w", err)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("recording which keys are used: %w", err)
	}
	return nil
}

// RunUses regularly writes when keys were used, until ctx is done, and then the rest. It passes errors to report and
// drops what could not be written.
func (a *Authenticator) RunUses(ctx context.Context, report func(error)) {
	tick := time.NewTicker(usesEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastUses)
			defer cancel()
			if err := a.NoteUses(last); err != nil {
				report(err)
			}
			return
		case <-tick.C:
			if err := a.NoteUses(ctx); err != nil && ctx.Err() == nil {
				report(err)
			}
		}
	}
}

// lastUses bounds the last write, which the end of the program waits for.
const lastUses = 5 * time.Second
