package team

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/platform/db"
)

// pace says how wrong tries turn into a delay. The first ones are free. After that the delay doubles with each.
type pace struct {
	free        int           // wrong tries without a delay
	first, most time.Duration // the first delay, and the longest
	leak        time.Duration // in which one wrong try is forgiven; 0 if they are forgiven only all together
}

const (
	forgetAfter  = 24 * time.Hour // without another wrong try, all of them are forgiven
	localTallies = 65_536         // tallies in memory at most
	sharedRows   = 100_000        // tallies in the database at most
	sharedFrom   = 2              // tries that are counted in memory before a tally is written to the database
)

// tally is how many tries are counted, and when the last one came.
type tally struct {
	n  float64
	at time.Time
}

// left returns what a tally counts for at a later time.
func (p pace) left(t tally, now time.Time) float64 {
	since := max(0, now.Sub(t.at))
	switch {
	case since >= forgetAfter:
		return 0
	case p.leak > 0:
		return max(0, t.n-float64(since)/float64(p.leak))
	}
	return t.n
}

// wait returns how long the next try has to wait; 0 or less if it need not.
func (p pace) wait(t tally, now time.Time) time.Duration {
	over := int(math.Ceil(p.left(t, now))) - p.free
	if over < 0 {
		return 0
	}
	delay := p.most
	if over < 32 {
		delay = min(p.most, p.first<<over)
	}
	return t.at.Add(delay).Sub(now)
}

// plus returns a tally with one more try.
func (p pace) plus(t tally, now time.Time) tally { return tally{p.left(t, now) + 1, now} }

// tryKey is the hash of what tries are counted by.
type tryKey [sha256.Size]byte

func keyOf(format string, args ...any) tryKey {
	return sha256.Sum256(fmt.Appendf(nil, format, args...))
}

// counter counts tries.
type counter interface {
	// add counts a try, or returns how long it has to wait and counts nothing. The try is counted before it is known
	// to be wrong: otherwise many at once would all be let through. The function takes it back.
	add(ctx context.Context, key tryKey) (undo func(context.Context) error, wait time.Duration, err error)
	// forget forgives all tries of a key.
	forget(ctx context.Context, key tryKey) error
}

// localCounter counts in this process. It keeps a bounded number of tallies.
type localCounter struct {
	pace

	now func() time.Time
	mu  sync.Mutex
	of  map[tryKey]tally
}

func newLocalCounter(now func() time.Time, p pace) *localCounter {
	return &localCounter{pace: p, now: now, of: map[tryKey]tally{}}
}

func (c *localCounter) add(_ context.Context, key tryKey) (func(context.Context) error, time.Duration, error) {
	undo, wait := c.count(key)
	return func(context.Context) error { undo(); return nil }, wait, nil
}

// count counts a try and returns what takes it back, or how long it has to wait.
func (c *localCounter) count(key tryKey) (func(), time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.countLocked(key)
}

// countFirst counts a try if there were fewer than most before it, and returns nil if there were not.
func (c *localCounter) countFirst(key tryKey, most float64) func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left(c.of[key], c.now()) >= most {
		return nil
	}
	undo, _ := c.countLocked(key)
	return undo
}

func (c *localCounter) countLocked(key tryKey) (func(), time.Duration) {
	now, before := c.now(), c.of[key]
	if wait := c.wait(before, now); wait > 0 {
		return nil, wait
	}
	mine := c.put(key, before, now)
	return func() { c.undo(key, before, mine) }, 0
}

// charge counts a try even if it should have waited.
func (c *localCounter) charge(key tryKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(key, c.of[key], c.now())
}

func (c *localCounter) put(key tryKey, before tally, now time.Time) tally {
	if _, found := c.of[key]; !found && len(c.of) >= localTallies {
		c.evict(now)
	}
	c.of[key] = c.plus(before, now)
	return c.of[key]
}

// evict drops what is forgiven, and if that is not enough an eighth of the rest at random: dropping all of it would
// be a way around the delays.
func (c *localCounter) evict(now time.Time) {
	for key, t := range c.of {
		if c.left(t, now) == 0 {
			delete(c.of, key)
		}
	}
	for key := range c.of {
		if len(c.of) < localTallies*7/8 {
			return
		}
		delete(c.of, key)
	}
}

func (c *localCounter) undo(key tryKey, before, mine tally) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch t := c.of[key]; {
	case t == mine && before.n == 0:
		delete(c.of, key)
	case t == mine:
		c.of[key] = before
	case t.n > 1:
		c.of[key] = tally{t.n - 1, t.at} // others tried meanwhile
	}
}

func (c *localCounter) forget(_ context.Context, key tryKey) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.of, key)
	return nil
}

func (c *localCounter) get(key tryKey) tally {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.of[key]
}

// sharedCounter counts for all nodes, in the database. The first tries of a key are counted in memory and written only
// when more follow, so that guesses at ever new addresses do not each cost a write. With the most rows that are kept,
// further keys are counted in memory. A pace of it has no leak.
type sharedCounter struct {
	local *localCounter // its pace is the pace of both
	db    *db.DB

	mu      sync.Mutex
	rows    int64     // about how many there are
	counted time.Time // when they were counted
}

func newSharedCounter(d *db.DB, p pace) *sharedCounter {
	return &sharedCounter{local: newLocalCounter(d.Now, p), db: d}
}

func (c *sharedCounter) add(ctx context.Context, key tryKey) (func(context.Context) error, time.Duration, error) {
	t, found, err := readTally(ctx, c.db, key, "")
	if err != nil {
		return nil, 0, err
	}
	if found {
		if wait := c.local.wait(t, c.db.Now()); wait > 0 { // refused without a write
			return nil, wait, nil
		}
		return c.write(ctx, key)
	}
	if undo := c.local.countFirst(key, sharedFrom); undo != nil {
		return func(context.Context) error { undo(); return nil }, 0, nil
	}
	full, err := c.full(ctx)
	if err != nil {
		return nil, 0, err
	}
	if full {
		return c.local.add(ctx, key)
	}
	return c.write(ctx, key)
}

// write counts a try in the database.
func (c *sharedCounter) write(ctx context.Context, key tryKey) (func(context.Context) error, time.Duration, error) {
	var before, mine tally
	var wait time.Duration
	err := c.db.InTx(ctx, "team.count_try", func(ctx context.Context, tx *db.Tx) error {
		seed := c.local.get(key)
		_, err := tx.Exec(ctx,
			`INSERT INTO sign_in_tries (key_hash, n, at) VALUES (?, ?, ?) ON CONFLICT (key_hash) DO NOTHING`, key[:],
			int64(seed.n), db.Micros(seed.at))
		if err != nil {
			return fmt.Errorf("counting a try: %w", err)
		}
		if before, _, err = readTally(ctx, tx, key, c.db.ForUpdate()); err != nil {
			return err
		}
		if wait = c.local.wait(before, tx.Now()); wait > 0 {
			return nil
		}
		mine = c.local.plus(before, tx.Now())
		return setTally(ctx, tx, key, mine)
	})
	return func(ctx context.Context) error { return c.undo(ctx, key, before, mine) }, wait, err
}

func (c *sharedCounter) undo(ctx context.Context, key tryKey, before, mine tally) error {
	return c.db.InTx(ctx, "team.uncount_try", func(ctx context.Context, tx *db.Tx) error {
		t, found, err := readTally(ctx, tx, key, c.db.ForUpdate())
		switch {
		case err != nil || !found:
			return err
		case t == mine:
			return setTally(ctx, tx, key, before)
		}
		return setTally(ctx, tx, key, tally{max(0, t.n-1), t.at})
	})
}

func (c *sharedCounter) forget(ctx context.Context, key tryKey) error {
	_ = c.local.forget(ctx, key) // in memory, which does not fail
	_, found, err := readTally(ctx, c.db, key, "")
	if err != nil || !found {
		return err
	}
	return c.db.InTx(ctx, "team.forget_tries", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `DELETE FROM sign_in_tries WHERE key_hash = ?`, key[:])
		return err
	})
}

// full reports whether no further tallies are written to the database. It counts them once a minute.
func (c *sharedCounter) full(ctx context.Context) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.db.Now(); c.counted.IsZero() || now.Sub(c.counted) >= time.Minute {
		if err := c.db.QueryRow(ctx, `SELECT COUNT(*) FROM sign_in_tries`).Scan(&c.rows); err != nil {
			return false, fmt.Errorf("counting tries: %w", err)
		}
		c.counted = now
	}
	c.rows++
	return c.rows > sharedRows, nil
}

func readTally(ctx context.Context, q db.Querier, key tryKey, lock string) (tally, bool, error) {
	var n, at int64
	err := q.QueryRow(ctx, `SELECT n, at FROM sign_in_tries WHERE key_hash = ?`+lock, key[:]).Scan(&n, &at)
	if errors.Is(err, sql.ErrNoRows) {
		return tally{}, false, nil
	}
	if err != nil {
		return tally{}, false, fmt.Errorf("reading how many tries there were: %w", err)
	}
	return tally{float64(n), db.Time(at)}, true, nil
}

func setTally(ctx context.Context, tx *db.Tx, key tryKey, t tally) error {
	if _, err := tx.Exec(ctx, `UPDATE sign_in_tries SET n = ?, at = ? WHERE key_hash = ?`, int64(t.n), db.Micros(t.at),
		key[:]); err != nil {
		return fmt.Errorf("counting a try: %w", err)
	}
	return nil
}

// try is one count of a guess.
type try struct {
	counter

	key     tryKey
	forgets bool   // the right answer forgives the wrong ones before it: they were the person's own
	refusal string // what is said when it is too many
}

// What people are told.
const (
	wrongPasswords   = "Too many wrong passwords." //nolint:gosec // it is none
	wrongByStrangers = "Too many wrong passwords for this e-mail address. Sign in from a browser you have " +
		"used before " +
		"or with a passkey, ask the operator for a recovery link, or wait."
	wrongCodes = "Too many wrong codes."
	wrongTries = "Too many wrong tries."
)

// guess runs a check that counts for each of the tries, or refuses it without counting.
func (s *SignIns) guess(ctx context.Context, tries []try, check func() error) error {
	undos := make([]func(context.Context) error, 0, len(tries))
	undo := func() error {
		var failed error
		for _, u := range undos {
			failed = errors.Join(failed, u(context.WithoutCancel(ctx)))
		}
		return failed
	}
	for _, t := range tries {
		u, wait, err := t.add(ctx, t.key)
		if err == nil && wait > 0 {
			err = tooMany(t.refusal, wait)
		}
		if err != nil {
			return errors.Join(err, undo())
		}
		undos = append(undos, u)
	}
	err := check()
	if isWrong(err) {
		return err
	}
	if failed := undo(); err != nil || failed != nil {
		return errors.Join(err, failed)
	}
	for _, t := range tries {
		if t.forgets {
			if err := t.forget(ctx, t.key); err != nil {
				return err
			}
		}
	}
	return nil
}

func isWrong(err error) bool {
	return apierr.Is(err, apierr.NotFound) || apierr.Is(err, apierr.Unauthorized)
}

// tooMany returns the refusal of a try that has to wait.
func tooMany(refusal string, wait time.Duration) error {
	wait = (wait + time.Second - 1).Truncate(time.Second)
	return apierr.New(apierr.RateLimited, refusal+" Try again in "+formatWait(wait)+".").With("scope",
		"sign_in").After(wait)
}

// formatWait returns a duration in words, rounded up.
func formatWait(d time.Duration) string {
	switch n := int64(d / time.Second); {
	case n == 1:
		return "1 second"
	case n <= 120:
		return fmt.Sprintf("%d seconds", n)
	default:
		return fmt.Sprintf("%d minutes", (n+59)/60)
	}
}
