// Package analytics measures a team's own connected accounts. It regularly reads the metrics of each account's posts
// from the network and stores them, even if the posts were not published with pressroom. Analyses use only stored
// metrics and never call a network.
//
// A run is one collection of an account's metrics. A node claims a run by postponing the account's next run until after
// the maximum duration of a run. Until then no other node collects the account. Each run increments the account's
// epoch, so that a node that is too late cannot write.
package analytics

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/thumbnail"
)

// Options are the operator's settings. 0 selects the default.
type Options struct {
	Catalog     plan.Catalog
	Interval    time.Duration // approximate time between two runs of an account; default 6 hours
	Concurrency int           // maximum number of concurrent runs on a node; default 8; each network gets at most half
	// OnCall is called after each call to a network. call is "collect". result is "ok", the class of the network error,
	// or "failed" for any other error. OnCall may be nil.
	OnCall func(platform, call, result string)
	// Posts receives the posts that a run collected. It may be nil.
	Posts func(ctx context.Context, platform string, posts []network.CollectedPost) error
	// FetchPicture fetches a profile picture of at most maxBytes. If it is nil, no pictures are stored.
	FetchPicture func(ctx context.Context, platform, url string, maxBytes int64, into io.Writer) error
	Log          *slog.Logger
}

// Default settings.
const (
	defaultInterval    = 6 * time.Hour
	defaultConcurrency = 8
)

// Service collects and analyzes metrics.
type Service struct {
	db       *db.DB
	accounts *account.Service
	opts     Options
	pictures *thumbnail.Maker
	slots    slots
}

// New returns a Service. The account service must use an [AccountObserver].
func New(d *db.DB, accounts *account.Service, opts Options) *Service {
	if opts.Interval <= 0 {
		opts.Interval = defaultInterval
	}
	if opts.Concurrency <= 0 {
		opts.Concurrency = defaultConcurrency
	}
	if opts.Log == nil {
		opts.Log = slog.Default()
	}
	return &Service{
		db: d, accounts: accounts, opts: opts, pictures: thumbnail.New(pictureMemory), slots: newSlots(opts.Concurrency),
	}
}

// AccountObserver schedules runs of connected accounts and deletes the metrics of disconnected accounts.
type AccountObserver struct{}

// AccountConnected makes an account due immediately. A run in progress with an older grant stores nothing.
func (AccountObserver) AccountConnected(ctx context.Context, tx *db.Tx, account int64) error {
	_, err := tx.Exec(ctx, `INSERT INTO account_collections (account_id, due_at) VALUES (?, ?)
		ON CONFLICT (account_id) DO UPDATE SET due_at = excluded.due_at, epoch = account_collections.epoch + 1,
		fails = 0, failed_by = ''`, account, db.Micros(tx.Now()))
	if err != nil {
		return fmt.Errorf("scheduling the collection of account %d: %w", account, err)
	}
	return nil
}

// AccountDisconnected deletes all metrics of an account. A run in progress stores nothing.
func (AccountObserver) AccountDisconnected(ctx context.Context, tx *db.Tx, account int64) error {
	for _, table := range []string{"account_collections", "account_posts", "account_days", "account_pictures"} {
		if _, err := tx.Exec(ctx, `DELETE FROM `+table+` WHERE account_id = ?`, account); err != nil {
			return fmt.Errorf("deleting the metrics of account %d: %w", account, err)
		}
	}
	return nil
}

// slots limits the concurrent runs of this node.
type slots struct {
	max, maxPerNetwork int // in total, and for one network

	mu    sync.Mutex
	taken map[string]int // by platform
	total int
	freed chan struct{} // signals that a slot is free
}

// newSlots returns slots for at most limit concurrent runs.
func newSlots(limit int) slots {
	return slots{max: limit, maxPerNetwork: max(1, limit/2), taken: map[string]int{}, freed: make(chan struct{}, 1)}
}

// available returns the number of free slots, and the networks that have reached their maximum.
func (s *slots) available() (int, []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var fullPlatforms []string
	for platform, n := range s.taken {
		if n >= s.maxPerNetwork {
			fullPlatforms = append(fullPlatforms, platform)
		}
	}
	return s.max - s.total, fullPlatforms
}

// take reserves a slot and reports whether one was free.
func (s *slots) take(platform string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.total >= s.max || s.taken[platform] >= s.maxPerNetwork {
		return false
	}
	s.total++
	s.taken[platform]++
	return true
}

// release frees a slot and signals that it is free.
func (s *slots) release(platform string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total--
	s.taken[platform]--
	select {
	case s.freed <- struct{}{}:
	default:
	}
}
