// Package throttle delays attempts to guess secrets. After a few wrong attempts, each further one doubles the delay.
// Attempts are counted either in the memory of each node, or in the database for all nodes.
package throttle

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/platform/db"
)

// Policy defines how long wrong attempts delay the next attempt. After FreeAttempts wrong attempts, each further one
// doubles the delay.
type Policy struct {
	FreeAttempts           int           // wrong attempts without a delay
	InitialDelay, MaxDelay time.Duration // first delay and maximum delay
	Leak                   time.Duration // time until one wrong attempt is forgiven; 0 to forgive all together
}

const (
	// ForgetAfter is the time after the last wrong attempt when all attempts are forgiven.
	ForgetAfter = 24 * time.Hour

	maxLocalTallies  = 65_536  // maximum number of tallies in memory
	maxSharedTallies = 100_000 // maximum number of tallies in the database
	maxLocalAttempts = 2       // number of attempts counted in memory before a tally is written to the database
)

// tally is a number of attempts and the time of the last attempt.
type tally struct {
	count  float64
	lastAt time.Time
}

// countAt returns how many attempts in a tally are not yet forgiven at the time now.
func (p Policy) countAt(t tally, now time.Time) float64 {
	elapsed := max(0, now.Sub(t.lastAt))
	switch {
	case elapsed >= ForgetAfter:
		return 0
	case p.Leak > 0:
		return max(0, t.count-float64(elapsed)/float64(p.Leak))
	}
	return t.count
}

// wait returns how long the next attempt has to wait. The result is 0 or negative if the attempt does not have to wait.
func (p Policy) wait(t tally, now time.Time) time.Duration {
	excess := int(math.Ceil(p.countAt(t, now))) - p.FreeAttempts
	if excess < 0 {
		return 0
	}
	delay := p.MaxDelay
	if excess < 32 {
		delay = min(p.MaxDelay, p.InitialDelay<<excess)
	}
	return t.lastAt.Add(delay).Sub(now)
}

// increment returns a tally with one more attempt.
func (p Policy) increment(t tally, now time.Time) tally { return tally{p.countAt(t, now) + 1, now} }

// Key is the hash of the subject whose attempts are counted, such as an email address.
type Key [sha256.Size]byte

// NewKey returns the hash of a formatted text.
func NewKey(format string, args ...any) Key {
	return sha256.Sum256(fmt.Appendf(nil, format, args...))
}

// Counter counts attempts.
type Counter interface {
	// add counts an attempt, or returns how long the attempt has to wait. Attempts are counted before they are checked,
	// because otherwise concurrent attempts would be unlimited. undo reverts the count.
	add(ctx context.Context, key Key) (undo func(context.Context) error, wait time.Duration, err error)
	// forget forgives all attempts for a key.
	forget(ctx context.Context, key Key) error
}

// Local counts attempts in this process's memory, for a limited number of keys.
type Local struct {
	Policy

	now     func() time.Time
	mu      sync.Mutex
	tallies map[Key]tally
}

// NewLocal returns a Local that gets the current time from now.
func NewLocal(now func() time.Time, p Policy) *Local {
	return &Local{Policy: p, now: now, tallies: map[Key]tally{}}
}

func (c *Local) add(_ context.Context, key Key) (func(context.Context) error, time.Duration, error) {
	undo, wait := c.Count(key)
	return func(context.Context) error { undo(); return nil }, wait, nil
}

// Count counts an attempt and returns a function that reverts the count. If the attempt has to wait, Count does not
// count it and returns how long it has to wait.
func (c *Local) Count(key Key) (func(), time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.countLocked(key)
}

// countFirst counts an attempt if fewer than limit attempts are counted, and returns a function that reverts the count.
// Otherwise, it returns nil.
func (c *Local) countFirst(key Key, limit float64) func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.countAt(c.tallies[key], c.now()) >= limit {
		return nil
	}
	undo, _ := c.countLocked(key)
	return undo
}

func (c *Local) countLocked(key Key) (func(), time.Duration) {
	now, previous := c.now(), c.tallies[key]
	if wait := c.wait(previous, now); wait > 0 {
		return nil, wait
	}
	updated := c.put(key, previous, now)
	return func() { c.undo(key, previous, updated) }, 0
}

// Charge counts an attempt regardless of the delay.
func (c *Local) Charge(key Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(key, c.tallies[key], c.now())
}

func (c *Local) put(key Key, previous tally, now time.Time) tally {
	if _, ok := c.tallies[key]; !ok && len(c.tallies) >= maxLocalTallies {
		c.evict(now)
	}
	c.tallies[key] = c.increment(previous, now)
	return c.tallies[key]
}

// evict deletes forgiven tallies. If that is not enough, it deletes random tallies until an eighth of the space is
// free. Deleting all tallies would allow attackers to bypass the delays.
func (c *Local) evict(now time.Time) {
	for key, t := range c.tallies {
		if c.countAt(t, now) == 0 {
			delete(c.tallies, key)
		}
	}
	for key := range c.tallies {
		if len(c.tallies) < maxLocalTallies*7/8 {
			return
		}
		delete(c.tallies, key)
	}
}

func (c *Local) undo(key Key, previous, updated tally) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch t := c.tallies[key]; {
	case t == updated && previous.count == 0:
		delete(c.tallies, key)
	case t == updated:
		c.tallies[key] = previous
	case t.count > 1:
		c.tallies[key] = tally{t.count - 1, t.lastAt} // other attempts were made in the meantime
	}
}

func (c *Local) forget(_ context.Context, key Key) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.tallies, key)
	return nil
}

func (c *Local) get(key Key) tally {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tallies[key]
}

// Shared counts attempts in the database for all nodes. It counts the first attempts for each key in memory, so that
// attempts with many different keys do not each need a write. Once the database contains maxSharedTallies tallies,
// Shared counts attempts for new keys in memory. Its Policy must not set Leak.
type Shared struct {
	local *Local // its Policy also applies to the tallies in the database
	db    *db.DB

	mu        sync.Mutex
	rows      int64     // approximate number of rows
	countedAt time.Time // when the rows were counted
}

// NewShared returns a counter that all nodes with the same database share.
func NewShared(d *db.DB, p Policy) *Shared {
	return &Shared{local: NewLocal(d.Now, p), db: d}
}

func (c *Shared) add(ctx context.Context, key Key) (func(context.Context) error, time.Duration, error) {
	t, ok, err := readTally(ctx, c.db, key, "")
	if err != nil {
		return nil, 0, err
	}
	if ok {
		if wait := c.local.wait(t, c.db.Now()); wait > 0 { // rejected without a write
			return nil, wait, nil
		}
		return c.countShared(ctx, key)
	}
	if undo := c.local.countFirst(key, maxLocalAttempts); undo != nil {
		return func(context.Context) error { undo(); return nil }, 0, nil
	}
	full, err := c.isFull(ctx)
	if err != nil {
		return nil, 0, err
	}
	if full {
		return c.local.add(ctx, key)
	}
	return c.countShared(ctx, key)
}

// countShared counts an attempt in the database.
func (c *Shared) countShared(ctx context.Context, key Key) (func(context.Context) error, time.Duration, error) {
	var previous, updated tally
	var wait time.Duration
	err := c.db.InTx(ctx, "team.count_try", func(ctx context.Context, tx *db.Tx) error {
		seed := c.local.get(key)
		_, err := tx.Exec(ctx,
			`INSERT INTO sign_in_tries (key_hash, n, at) VALUES (?, ?, ?) ON CONFLICT (key_hash) DO NOTHING`, key[:],
			int64(seed.count), db.Micros(seed.lastAt))
		if err != nil {
			return fmt.Errorf("counting an attempt: %w", err)
		}
		if previous, _, err = readTally(ctx, tx, key, c.db.ForUpdate()); err != nil {
			return err
		}
		if wait = c.local.wait(previous, tx.Now()); wait > 0 {
			return nil
		}
		updated = c.local.increment(previous, tx.Now())
		return setTally(ctx, tx, key, updated)
	})
	return func(ctx context.Context) error { return c.undo(ctx, key, previous, updated) }, wait, err
}

func (c *Shared) undo(ctx context.Context, key Key, previous, updated tally) error {
	return c.db.InTx(ctx, "team.uncount_try", func(ctx context.Context, tx *db.Tx) error {
		t, ok, err := readTally(ctx, tx, key, c.db.ForUpdate())
		switch {
		case err != nil || !ok:
			return err
		case t == updated:
			return setTally(ctx, tx, key, previous)
		}
		return setTally(ctx, tx, key, tally{max(0, t.count-1), t.lastAt})
	})
}

func (c *Shared) forget(ctx context.Context, key Key) error {
	_ = c.local.forget(ctx, key) // a Local never fails
	_, ok, err := readTally(ctx, c.db, key, "")
	if err != nil || !ok {
		return err
	}
	return c.db.InTx(ctx, "team.forget_tries", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `DELETE FROM sign_in_tries WHERE key_hash = ?`, key[:])
		return err
	})
}

// isFull reports whether the database contains the maximum number of tallies. It counts the rows at most once a minute.
func (c *Shared) isFull(ctx context.Context) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.db.Now(); c.countedAt.IsZero() || now.Sub(c.countedAt) >= time.Minute {
		if err := c.db.QueryRow(ctx, `SELECT COUNT(*) FROM sign_in_tries`).Scan(&c.rows); err != nil {
			return false, fmt.Errorf("counting the tallies: %w", err)
		}
		c.countedAt = now
	}
	c.rows++
	return c.rows > maxSharedTallies, nil
}

func readTally(ctx context.Context, q db.Querier, key Key, lock string) (tally, bool, error) {
	var n, at int64
	err := q.QueryRow(ctx, `SELECT n, at FROM sign_in_tries WHERE key_hash = ?`+lock, key[:]).Scan(&n, &at)
	if errors.Is(err, sql.ErrNoRows) {
		return tally{}, false, nil
	}
	if err != nil {
		return tally{}, false, fmt.Errorf("reading the number of attempts: %w", err)
	}
	return tally{float64(n), db.Time(at)}, true, nil
}

func setTally(ctx context.Context, tx *db.Tx, key Key, t tally) error {
	if _, err := tx.Exec(ctx, `UPDATE sign_in_tries SET n = ?, at = ? WHERE key_hash = ?`, int64(t.count), db.Micros(t.lastAt),
		key[:]); err != nil {
		return fmt.Errorf("counting an attempt: %w", err)
	}
	return nil
}

// Limit is a counter with the key whose attempts it counts.
type Limit struct {
	Counter

	Key            Key
	ResetOnSuccess bool   // reset the counter after a successful attempt, because the wrong attempts were typing errors
	Rejection      string // first sentence of the error
}

// Attempt counts an attempt in each of the limits and runs check. If a limit requires the attempt to wait, Attempt
// returns an error and does not run check.
func Attempt(ctx context.Context, limits []Limit, check func() error) error {
	undos := make([]func(context.Context) error, 0, len(limits))
	undo := func() error {
		var undoErr error
		for _, u := range undos {
			undoErr = errors.Join(undoErr, u(context.WithoutCancel(ctx)))
		}
		return undoErr
	}
	for _, limit := range limits {
		u, wait, err := limit.add(ctx, limit.Key)
		if err == nil && wait > 0 {
			err = NewTooManyError(limit.Rejection, wait)
		}
		if err != nil {
			return errors.Join(err, undo())
		}
		undos = append(undos, u)
	}
	err := check()
	if IsWrong(err) {
		return err
	}
	if undoErr := undo(); err != nil || undoErr != nil {
		return errors.Join(err, undoErr)
	}
	for _, limit := range limits {
		if limit.ResetOnSuccess {
			if err := limit.forget(ctx, limit.Key); err != nil {
				return err
			}
		}
	}
	return nil
}

// IsWrong reports whether an error from check means that the attempt was wrong. These errors are not_found and
// unauthorized.
func IsWrong(err error) bool {
	return apierr.Is(err, apierr.NotFound) || apierr.Is(err, apierr.Unauthorized)
}

// NewTooManyError returns the error for an attempt that has to wait.
func NewTooManyError(rejection string, wait time.Duration) error {
	wait = (wait + time.Second - 1).Truncate(time.Second)
	out := apierr.Newf(apierr.RateLimited, "%s Try again in %d minutes.", locale.Key(rejection), int64((wait+time.Minute-1)/time.Minute))
	switch n := int64(wait / time.Second); {
	case n == 1:
		out = apierr.Newf(apierr.RateLimited, "%s Try again in 1 second.", locale.Key(rejection))
	case n <= 120:
		out = apierr.Newf(apierr.RateLimited, "%s Try again in %d seconds.", locale.Key(rejection), n)
	}
	return out.With("scope", "sign_in").WithRetryAfter(wait)
}

// Sweep deletes up to 1,000 tallies whose attempts are all forgiven. It returns the number of deleted tallies.
func Sweep(ctx context.Context, tx *db.Tx) (int64, error) {
	deleted, err := tx.Exec(ctx, `DELETE FROM sign_in_tries WHERE key_hash IN (SELECT key_hash FROM sign_in_tries WHERE at <= ?
		ORDER BY at LIMIT 1000)`, db.Micros(tx.Now().Add(-ForgetAfter)))
	if err != nil {
		return 0, fmt.Errorf("deleting forgiven attempts: %w", err)
	}
	return deleted, nil
}
