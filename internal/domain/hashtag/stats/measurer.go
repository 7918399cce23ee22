package stats

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"pressroom/internal/domain/provider"
	"pressroom/internal/platform/db"
)

const (
	pollInterval = 5 * time.Second
	// requestTimeout is the longest time for an answer; heldFor is how long a node that died holds a hashtag up.
	requestTimeout = 5 * time.Minute
	leaseDuration  = requestTimeout + time.Minute
	// defaultMaxAge is how old figures are that are measured anew.
	defaultMaxAge = 7 * 24 * time.Hour
	// defaultPostLimit is how many posts are asked for, of each kind.
	defaultPostLimit = 200
	// demandTTL is for how long a hashtag is measured again that no list holds, after somebody asked for it.
	demandTTL = 30 * 24 * time.Hour
	// missingRetry is until a hashtag is asked for again that the source has not, or does not tell of.
	missingRetry = 30 * 24 * time.Hour
	// unsupportedPause is until a platform is tried again that no source tells of.
	unsupportedPause = 24 * time.Hour
	// minPause and longestRest are how long a source is left alone that is unavailable; usualRest is where it does not say.
	minPause, defaultPause, maxPause = time.Minute, 15 * time.Minute, 6 * time.Hour
	// minBackoff is until a hashtag is asked for again after a failure, doubling up to lastAgain.
	minBackoff, maxBackoff = time.Hour, 7 * 24 * time.Hour
)

// Source tells of hashtags: internal/domain/provider has its words and its errors.
type Source interface {
	Hashtag(ctx context.Context, q provider.HashtagQuery) (provider.HashtagFigures, error)
}

// Options say how hashtags are measured in the background. What is 0 has the shipped figure.
type Options struct {
	Source    Source
	MaxAge    time.Duration // how old figures are that are measured anew; 7 days
	PostLimit int           // posts that are asked for, of each kind; 200
	// InAnyList tells whether a list of some team holds a hashtag. Where nil no list does.
	InAnyList func(ctx context.Context, q db.Querier, platform, hashtag string) (bool, error)
	// ReadyMade returns the hashtags of the ready-made lists for a platform, always in the same order. They are measured when
	// nothing else is due. None if nil.
	ReadyMade         func(platform string) []string
	ReadyMadeInterval time.Duration // how far apart two of these are at least, on each platform; 10 minutes
	Turns             *provider.Turns
	Log               *slog.Logger
}

// Measurer measures hashtags that are wanted, those of which nothing is known first. Many nodes may run it: whoever takes
// a hashtag moves the time at which it is due behind the longest time that measuring it lasts.
type Measurer struct {
	store *Store
	opts  Options

	mu           sync.Mutex
	nextPlatform int                  // the platform that is looked at first
	pausedUntil  map[string]time.Time // until then a platform's source is left alone, by this node; with readyRest for what is ready-made
}

// readyMadePrefix begins the name of a rest that is of ready-made hashtags only: sources keep their places for others.
const readyMadePrefix = "ready-made "

// NewMeasurer makes it.
func NewMeasurer(s *Store, opts Options) *Measurer {
	if opts.MaxAge <= 0 {
		opts.MaxAge = defaultMaxAge
	}
	if opts.PostLimit <= 0 {
		opts.PostLimit = defaultPostLimit
	}
	if opts.ReadyMadeInterval <= 0 {
		opts.ReadyMadeInterval = defaultReadyMadeInterval
	}
	if opts.ReadyMade == nil {
		opts.ReadyMade = func(string) []string { return nil }
	}
	if opts.Log == nil {
		opts.Log = slog.Default()
	}
	return &Measurer{store: s, opts: opts, pausedUntil: map[string]time.Time{}}
}

// Run measures hashtags, one at a time, until the context ends.
func (b *Measurer) Run(ctx context.Context, report func(error)) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		for more := true; more && ctx.Err() == nil; {
			var err error
			if more, err = b.Measure(ctx); err != nil && ctx.Err() == nil {
				report(err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Measure measures the hashtag whose turn it is and tells whether there was one.
func (b *Measurer) Measure(ctx context.Context) (bool, error) {
	awake := b.activePlatforms()
	for _, platform := range awake {
		c, err := b.claimNext(ctx, platform)
		if err != nil {
			return false, err
		}
		if c.id != 0 {
			return true, b.measure(ctx, c)
		}
	}
	for _, platform := range awake {
		if measured, err := b.measureReadyMade(ctx, platform); measured || err != nil {
			return measured, err
		}
	}
	return false, nil
}

// activePlatforms are the platforms whose source may be asked now, each time another one first.
func (b *Measurer) activePlatforms() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.store.db.Now()
	var out []string
	for i := range platforms {
		if on := platforms[(b.nextPlatform+i)%len(platforms)]; !b.pausedUntil[on].After(now) {
			out = append(out, on)
		}
	}
	b.nextPlatform++
	return out
}

func (b *Measurer) isPaused(name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pausedUntil[name].After(b.store.db.Now())
}

func (b *Measurer) pause(platform string, d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pausedUntil[platform] = b.store.db.Now().Add(d)
}

// claim is a hashtag that this node has until a time.
type claim struct {
	id                 int64
	platform, hashtag  string
	wantedAt, leaseEnd time.Time
	failures           int
}

const (
	unmeasuredQuery = `SELECT id FROM hashtags WHERE platform = ? AND measured_at = 0 AND due_at > 0 AND due_at <= ? ORDER BY turn LIMIT 1`
	staleQuery      = `SELECT id FROM hashtags WHERE platform = ? AND measured_at > 0 AND due_at > 0 AND due_at <= ? AND measured_at <= ? ORDER BY measured_at LIMIT 1`
)

// claimNext takes the next hashtag of a platform that somebody still wants; an empty one where there is none. Those that nobody
// wants any more are let go on the way.
func (b *Measurer) claimNext(ctx context.Context, platform string) (claim, error) {
	for ctx.Err() == nil {
		id, err := b.findDue(ctx, platform)
		if err != nil || id == 0 {
			return claim{}, err
		}
		var c claim
		err = b.store.db.InTx(ctx, "hashtag.claim", func(ctx context.Context, tx *db.Tx) error {
			c, err = b.claim(ctx, tx, id)
			return err
		})
		if err != nil || c.id != 0 {
			return c, err
		}
	}
	return claim{}, nil
}

func (b *Measurer) findDue(ctx context.Context, platform string) (int64, error) {
	now := b.store.db.Now()
	for _, q := range []struct {
		query string
		args  []any
	}{{unmeasuredQuery, []any{platform, db.Micros(now)}}, {staleQuery, []any{platform, db.Micros(now), db.Micros(now.Add(-b.opts.MaxAge))}}} {
		found, err := queryIDs(ctx, b.store.db, q.query, q.args...)
		if err != nil {
			return 0, fmt.Errorf("looking for hashtags to measure: %w", err)
		}
		if len(found) > 0 {
			return found[0], nil
		}
	}
	return 0, nil
}

// claim takes a hashtag if nobody else was quicker, with measuring it or with all of it, and it is wanted.
func (b *Measurer) claim(ctx context.Context, tx *db.Tx, id int64) (claim, error) {
	c := claim{id: id, leaseEnd: tx.Now().Add(leaseDuration)}
	var wanted int64
	err := tx.QueryRow(ctx, `UPDATE hashtags SET due_at = ? WHERE id = ? AND due_at > 0 AND due_at <= ? AND measured_at <= ? RETURNING platform, hashtag, wanted_at, fails`,
		db.Micros(c.leaseEnd), id, db.Micros(tx.Now()), db.Micros(tx.Now().Add(-b.opts.MaxAge))).Scan(&c.platform, &c.hashtag, &wanted, &c.failures)
	if errors.Is(err, sql.ErrNoRows) {
		return claim{}, nil
	}
	if err != nil {
		return claim{}, fmt.Errorf("taking a hashtag to measure: %w", err)
	}
	if c.wantedAt = db.Time(wanted); c.wantedAt.After(tx.Now().Add(-demandTTL)) {
		return c, nil
	}
	if b.opts.InAnyList != nil {
		held, err := b.opts.InAnyList(ctx, tx, c.platform, c.hashtag)
		if err != nil || held {
			return c, err
		}
	}
	if _, err := tx.Exec(ctx, `UPDATE hashtags SET due_at = 0 WHERE id = ?`, id); err != nil {
		return claim{}, fmt.Errorf("letting a hashtag go: %w", err)
	}
	if _, err := tx.Exec(ctx, `DELETE FROM hashtags WHERE id = ? AND `+unusedCondition, id); err != nil {
		return claim{}, fmt.Errorf("forgetting a hashtag: %w", err)
	}
	return claim{}, nil
}

// measure asks for a hashtag and keeps what is told.
func (b *Measurer) measure(ctx context.Context, c claim) error {
	defer b.recoverPanic(ctx, c)
	ctx, end := b.opts.Turns.Begin(ctx)
	defer end()
	figures, err := b.fetch(ctx, provider.HashtagQuery{Platform: c.platform, Hashtag: c.hashtag, Most: b.opts.PostLimit, Background: true})
	if ctx.Err() != nil {
		return nil // the hashtag is due again when this node's time for it is over
	}
	if err != nil {
		return b.handleFailure(ctx, c, err)
	}
	return b.save(ctx, c, figures)
}

// save keeps what was told of a hashtag.
func (b *Measurer) save(ctx context.Context, c claim, figures provider.HashtagFigures) error {
	if provider.Working(ctx) != nil {
		return nil //nolint:nilerr // it is due again when this node's time for it is over
	}
	figures.Hashtag = c.hashtag
	learned := Analyze(c.platform, figures, b.store.db.Now())
	return b.store.db.InTx(ctx, "hashtag.measured", func(ctx context.Context, tx *db.Tx) error { return b.store.Record(ctx, tx, learned) })
}

func (b *Measurer) fetch(ctx context.Context, q provider.HashtagQuery) (provider.HashtagFigures, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return b.opts.Source.Hashtag(ctx, q)
}

// recoverPanic keeps a fault of one source's code from ending the work for all.
func (b *Measurer) recoverPanic(ctx context.Context, c claim) {
	if fault := recover(); fault != nil {
		b.opts.Log.ErrorContext(ctx, "measuring a hashtag panicked", "platform", c.platform, "panic", fault, "stack", string(debug.Stack()))
		if c.id == 0 {
			return // a ready-made one comes up again when all others had their turn
		}
		if err := b.reschedule(ctx, c, maxBackoff, false); err != nil {
			b.opts.Log.ErrorContext(ctx, "the hashtag is not put off", "error", err)
		}
	}
}

// handleFailure says when the hashtag is asked for again, and its source.
func (b *Measurer) handleFailure(ctx context.Context, c claim, err error) error {
	unavailable, isUnavailable := errors.AsType[*provider.Unavailable](err)
	switch {
	case errors.Is(err, provider.ErrNotFound):
		return b.reschedule(ctx, c, missingRetry, true)
	case errors.Is(err, provider.ErrNotOffered):
		b.pause(c.platform, unsupportedPause)
		return b.reschedule(ctx, c, missingRetry, false)
	case isUnavailable && unavailable.After > 0:
		// It is about the source: the hashtag stays the next.
		b.pause(c.platform, min(max(unavailable.After, minPause), maxPause))
		return b.reschedule(ctx, c, 0, false)
	case isUnavailable:
		b.pause(c.platform, defaultPause)
	}
	failed := b.reschedule(ctx, c, min(maxBackoff, minBackoff<<min(c.failures, 10)), false)
	if isUnavailable {
		return failed
	}
	return errors.Join(fmt.Errorf("measuring a hashtag in the background: %w", err), failed)
}

// reschedule has the hashtag due after a while, unless another node has it by now. Its turn is then as if it were asked for at
// that time.
func (b *Measurer) reschedule(ctx context.Context, c claim, after time.Duration, missing bool) error {
	return b.store.db.InTx(ctx, "hashtag.later", func(ctx context.Context, tx *db.Tx) error {
		due := tx.Now().Add(after)
		text := `UPDATE hashtags SET due_at = ?`
		args := []any{db.Micros(due)}
		if after > 0 {
			text += `, fails = fails + 1, turn = ?`
			args = append(args, db.Micros(due))
		}
		if missing {
			text += `, missing_at = ?`
			args = append(args, db.Micros(tx.Now()))
		}
		if _, err := tx.Exec(ctx, text+` WHERE id = ? AND due_at = ?`, append(args, c.id, db.Micros(c.leaseEnd))...); err != nil {
			return fmt.Errorf("putting a hashtag off: %w", err)
		}
		return nil
	})
}
