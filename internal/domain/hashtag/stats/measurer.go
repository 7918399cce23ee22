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

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/platform/db"
)

const (
	pollInterval = 5 * time.Second
	// If a node dies, another node can claim its hashtags after leaseDuration.
	requestTimeout   = 5 * time.Minute
	leaseDuration    = requestTimeout + time.Minute
	defaultMaxAge    = 7 * 24 * time.Hour
	defaultPostLimit = 200
	// demandTTL is how long after its last request a hashtag is still measured again if it is in no list.
	demandTTL = 30 * 24 * time.Hour
	// missingRetry is the delay before a hashtag that the provider does not have is requested again.
	missingRetry = 30 * 24 * time.Hour
	// unsupportedPause is the delay before a platform that no provider supports is tried again.
	unsupportedPause = 24 * time.Hour
	// Bounds and default of the pause after a provider reports that it is unavailable.
	minPause, defaultPause, maxPause = time.Minute, 15 * time.Minute, 6 * time.Hour
	// The delay after a failure doubles from minBackoff to maxBackoff.
	minBackoff, maxBackoff = time.Hour, 7 * 24 * time.Hour
)

// Source is a provider of hashtag metrics. See package provider for its errors.
type Source interface {
	Hashtag(ctx context.Context, q provider.HashtagQuery) (provider.HashtagMetrics, error)
}

// Options configures a Measurer. Zero values select the defaults.
type Options struct {
	Source    Source
	MaxAge    time.Duration // age at which a hashtag is measured again; default 7 days
	PostLimit int           // maximum number of top posts, and of recent posts, to request; default 200
	// InAnyList reports whether any team's list contains a hashtag. It may be nil.
	InAnyList func(ctx context.Context, q db.Querier, platform, hashtag string) (bool, error)
	// ReadyMade returns the hashtags of the ready-made lists for a platform, in a stable order. They are measured when
	// no other hashtag is due. It may be nil.
	ReadyMade         func(platform string) []string
	ReadyMadeInterval time.Duration // minimum time between two ready-made hashtags of a platform; default 10 minutes
	Limiter           *provider.Limiter
	Log               *slog.Logger
}

// Measurer measures the requested hashtags in the background. Hashtags that were never measured come first. Several
// nodes can run a Measurer. A node leases a hashtag by moving its due time past the longest possible measurement.
type Measurer struct {
	store *Store
	opts  Options

	mu           sync.Mutex
	nextPlatform int                  // index of the platform to start with
	pausedUntil  map[string]time.Time // by platform; with readyMadePrefix, only for ready-made hashtags
}

// readyMadePrefix marks a pause that applies only to ready-made hashtags. Providers reject them earlier than other
// requests, for which they reserve quota.
const readyMadePrefix = "ready-made "

// NewMeasurer returns a Measurer for the store.
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

// Run measures hashtags, one at a time, until ctx is done. It calls report with each error.
func (m *Measurer) Run(ctx context.Context, report func(error)) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		for more := true; more && ctx.Err() == nil; {
			var err error
			if more, err = m.Measure(ctx); err != nil && ctx.Err() == nil {
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

// Measure measures the next due hashtag and reports whether there was one.
func (m *Measurer) Measure(ctx context.Context) (bool, error) {
	active := m.activePlatforms()
	for _, platform := range active {
		c, err := m.claimNext(ctx, platform)
		if err != nil {
			return false, err
		}
		if c.id != 0 {
			return true, m.measure(ctx, c)
		}
	}
	for _, platform := range active {
		if measured, err := m.measureReadyMade(ctx, platform); measured || err != nil {
			return measured, err
		}
	}
	return false, nil
}

// activePlatforms returns the platforms that are not paused. Each call starts with another platform, so that all get
// their turn.
func (m *Measurer) activePlatforms() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.store.db.Now()
	var out []string
	for i := range platforms {
		if platform := platforms[(m.nextPlatform+i)%len(platforms)]; !m.pausedUntil[platform].After(now) {
			out = append(out, platform)
		}
	}
	m.nextPlatform++
	return out
}

func (m *Measurer) isPaused(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.pausedUntil[name].After(m.store.db.Now())
}

func (m *Measurer) pause(platform string, d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pausedUntil[platform] = m.store.db.Now().Add(d)
}

// claim is a hashtag leased to this node.
type claim struct {
	id                 int64
	platform, hashtag  string
	wantedAt, leaseEnd time.Time
	failures           int
}

const (
	unmeasuredQuery = `SELECT id FROM hashtags WHERE platform = ? AND measured_at = 0 AND due_at > 0 AND due_at <= ?
		ORDER BY turn LIMIT 1`
	staleQuery = `SELECT id FROM hashtags WHERE platform = ? AND measured_at > 0 AND due_at > 0 AND due_at <= ?
		AND measured_at <= ? ORDER BY measured_at LIMIT 1`
)

// claimNext claims the next hashtag of a platform that is still requested, or returns an empty claim. If a due hashtag
// is no longer requested, claimNext removes it from the queue.
func (m *Measurer) claimNext(ctx context.Context, platform string) (claim, error) {
	for ctx.Err() == nil {
		id, err := m.findDue(ctx, platform)
		if err != nil || id == 0 {
			return claim{}, err
		}
		var c claim
		err = m.store.db.InTx(ctx, "hashtag.claim", func(ctx context.Context, tx *db.Tx) error {
			c, err = m.claim(ctx, tx, id)
			return err
		})
		if err != nil || c.id != 0 {
			return c, err
		}
	}
	return claim{}, nil
}

func (m *Measurer) findDue(ctx context.Context, platform string) (int64, error) {
	now := m.store.db.Now()
	for _, q := range []struct {
		query string
		args  []any
	}{{unmeasuredQuery, []any{platform, db.Micros(now)}}, {staleQuery, []any{platform, db.Micros(now),
		db.Micros(now.Add(-m.opts.MaxAge))}}} {
		ids, err := queryIDs(ctx, m.store.db, q.query, q.args...)
		if err != nil {
			return 0, fmt.Errorf("finding hashtags to measure: %w", err)
		}
		if len(ids) > 0 {
			return ids[0], nil
		}
	}
	return 0, nil
}

// claim leases a hashtag if it is still due and requested. It returns an empty claim if another node has leased it.
func (m *Measurer) claim(ctx context.Context, tx *db.Tx, id int64) (claim, error) {
	c := claim{id: id, leaseEnd: tx.Now().Add(leaseDuration)}
	var wantedAt int64
	err := tx.QueryRow(ctx, `UPDATE hashtags SET due_at = ? WHERE id = ? AND due_at > 0 AND due_at <= ?
		AND measured_at <= ? RETURNING platform, hashtag, wanted_at, fails`,
		db.Micros(c.leaseEnd), id, db.Micros(tx.Now()), db.Micros(tx.Now().Add(-m.opts.MaxAge))).Scan(&c.platform,
		&c.hashtag, &wantedAt, &c.failures)
	if errors.Is(err, sql.ErrNoRows) {
		return claim{}, nil
	}
	if err != nil {
		return claim{}, fmt.Errorf("claiming a hashtag to measure: %w", err)
	}
	if c.wantedAt = db.Time(wantedAt); c.wantedAt.After(tx.Now().Add(-demandTTL)) {
		return c, nil
	}
	if m.opts.InAnyList != nil {
		inList, err := m.opts.InAnyList(ctx, tx, c.platform, c.hashtag)
		if err != nil || inList {
			return c, err
		}
	}
	if _, err := tx.Exec(ctx, `UPDATE hashtags SET due_at = 0 WHERE id = ?`, id); err != nil {
		return claim{}, fmt.Errorf("removing a hashtag from the queue: %w", err)
	}
	if _, err := tx.Exec(ctx, `DELETE FROM hashtags WHERE id = ? AND `+unusedCondition, id); err != nil {
		return claim{}, fmt.Errorf("deleting a hashtag: %w", err)
	}
	return claim{}, nil
}

// measure fetches the metrics of a hashtag and stores them.
func (m *Measurer) measure(ctx context.Context, c claim) error {
	defer m.recoverPanic(ctx, c)
	ctx, end := m.opts.Limiter.Begin(ctx)
	defer end()
	metrics, err := m.fetch(ctx, provider.HashtagQuery{Platform: c.platform, Hashtag: c.hashtag,
		PostLimit:  m.opts.PostLimit,
		Background: true})
	if ctx.Err() != nil {
		return nil // due again when the lease expires
	}
	if err != nil {
		return m.handleFailure(ctx, c, err)
	}
	return m.save(ctx, c, metrics)
}

// save analyzes and stores the metrics of a hashtag.
func (m *Measurer) save(ctx context.Context, c claim, metrics provider.HashtagMetrics) error {
	if provider.Acquire(ctx) != nil {
		return nil //nolint:nilerr // due again when the lease expires
	}
	metrics.Hashtag = c.hashtag
	observation := Analyze(c.platform, metrics, m.store.db.Now())
	return m.store.db.InTx(ctx, "hashtag.measured", func(ctx context.Context, tx *db.Tx) error {
		return m.store.Record(ctx, tx, observation)
	})
}

func (m *Measurer) fetch(ctx context.Context, q provider.HashtagQuery) (provider.HashtagMetrics, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return m.opts.Source.Hashtag(ctx, q)
}

// recoverPanic logs a panic and reschedules the hashtag, so that a bug in a provider does not stop the process.
func (m *Measurer) recoverPanic(ctx context.Context, c claim) {
	if panicValue := recover(); panicValue != nil {
		m.opts.Log.ErrorContext(ctx, "measuring a hashtag panicked", "platform", c.platform, "panic", panicValue, "stack",
			string(debug.Stack()))
		if c.id == 0 {
			return // a ready-made hashtag is due again after all others
		}
		if err := m.reschedule(ctx, c, maxBackoff, false); err != nil {
			m.opts.Log.ErrorContext(ctx, "rescheduling the hashtag failed", "error", err)
		}
	}
}

// handleFailure reschedules the hashtag after a provider error and, depending on the error, pauses its platform. It
// returns errors that providers do not normally return.
func (m *Measurer) handleFailure(ctx context.Context, c claim, err error) error {
	unavailableErr, isUnavailable := errors.AsType[*provider.UnavailableError](err)
	switch {
	case errors.Is(err, provider.ErrNotFound):
		return m.reschedule(ctx, c, missingRetry, true)
	case errors.Is(err, provider.ErrNotOffered):
		m.pause(c.platform, unsupportedPause)
		return m.reschedule(ctx, c, missingRetry, false)
	case isUnavailable && unavailableErr.After > 0:
		// The hashtag is not the cause, so it keeps its place in the queue.
		m.pause(c.platform, min(max(unavailableErr.After, minPause), maxPause))
		return m.reschedule(ctx, c, 0, false)
	case isUnavailable:
		m.pause(c.platform, defaultPause)
	}
	rescheduleErr := m.reschedule(ctx, c, min(maxBackoff, minBackoff<<min(c.failures, 10)), false)
	if isUnavailable {
		return rescheduleErr
	}
	return errors.Join(fmt.Errorf("measuring a hashtag in the background: %w", err), rescheduleErr)
}

// reschedule makes the hashtag due after a delay, unless another node has claimed it. With a delay of 0, the hashtag
// keeps its place in the queue. With a longer delay, it is queued as if it had been requested at that time. If missing
// is set, reschedule also records that the provider does not have the hashtag.
func (m *Measurer) reschedule(ctx context.Context, c claim, delay time.Duration, missing bool) error {
	return m.store.db.InTx(ctx, "hashtag.later", func(ctx context.Context, tx *db.Tx) error {
		dueAt := tx.Now().Add(delay)
		query := `UPDATE hashtags SET due_at = ?`
		args := []any{db.Micros(dueAt)}
		if delay > 0 {
			query += `, fails = fails + 1, turn = ?`
			args = append(args, db.Micros(dueAt))
		}
		if missing {
			query += `, missing_at = ?`
			args = append(args, db.Micros(tx.Now()))
		}
		if _, err := tx.Exec(ctx, query+` WHERE id = ? AND due_at = ?`,
			append(args, c.id, db.Micros(c.leaseEnd))...); err != nil {
			return fmt.Errorf("rescheduling a hashtag: %w", err)
		}
		return nil
	})
}
