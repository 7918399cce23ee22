// Package analytics measures a team's own connected accounts. It regularly reads the metrics of all posts of each account
// from the network, regardless of how the posts were published, and stores them. Analyses use only stored metrics and
// call no network.
//
// A turn is one collection of an account's metrics. A node claims a turn by moving the account's next turn beyond the
// maximum duration of a turn. No other node collects the account until then, and a crashed node delays the account no
// longer than that. A number that is incremented with every turn keeps a late node from writing.
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

// Options are settings of the operator; 0 means the default.
type Options struct {
	Terms  plan.Terms
	Every  time.Duration // approximate time between two turns of an account; default 6 hours
	AtOnce int           // concurrent turns of a node, at most half of them for one network; default 8
	// Called is called after the network call of each turn. The result is ok, the class of the network's error, or failed
	// for an internal error. It may be nil.
	Called func(platform, call, result string)
	// Posts receives the posts that a turn collected. It may be nil.
	Posts func(ctx context.Context, platform string, posts []network.CollectedPost) error
	// FetchPicture fetches a profile picture of at most that many bytes. If it is nil, no pictures are stored.
	FetchPicture func(ctx context.Context, platform, url string, maxBytes int64, into io.Writer) error
	Log          *slog.Logger
}

// Default settings.
const (
	usualEvery  = 6 * time.Hour
	usualAtOnce = 8
)

// Service collects and analyzes metrics.
type Service struct {
	db       *db.DB
	accounts *account.Service
	opts     Options
	pictures *thumbnail.Maker
	places   slots
}

// New returns a Service. The account service must use an [AccountObserver].
func New(d *db.DB, accounts *account.Service, opts Options) *Service {
	if opts.Every <= 0 {
		opts.Every = usualEvery
	}
	if opts.AtOnce <= 0 {
		opts.AtOnce = usualAtOnce
	}
	if opts.Log == nil {
		opts.Log = slog.Default()
	}
	return &Service{
		db: d, accounts: accounts, opts: opts, pictures: thumbnail.New(maxPicturePixels), places: newSlots(opts.AtOnce),
	}
}

// AccountObserver schedules turns of connected accounts and deletes the metrics of disconnected accounts.
type AccountObserver struct{}

// AccountConnected makes an account due immediately. A running turn with an older grant stores nothing.
func (AccountObserver) AccountConnected(ctx context.Context, tx *db.Tx, account int64) error {
	_, err := tx.Exec(ctx, `INSERT INTO account_collections (account_id, due_at) VALUES (?, ?)
		ON CONFLICT (account_id) DO UPDATE SET due_at = excluded.due_at, epoch = account_collections.epoch + 1,
		fails = 0, failed_by = ''`, account, db.Micros(tx.Now()))
	if err != nil {
		return fmt.Errorf("scheduling the collection of account %d: %w", account, err)
	}
	return nil
}

// AccountDisconnected deletes all metrics of an account. A running turn stores nothing.
func (AccountObserver) AccountDisconnected(ctx context.Context, tx *db.Tx, account int64) error {
	for _, table := range []string{"account_collections", "account_posts", "account_days", "account_pictures"} {
		if _, err := tx.Exec(ctx, `DELETE FROM `+table+` WHERE account_id = ?`, account); err != nil {
			return fmt.Errorf("deleting the figures of account %d: %w", account, err)
		}
	}
	return nil
}

// slots limits the concurrent turns of this node.
type slots struct {
	max, maxPerNetwork int // in total, and for one network

	mu    sync.Mutex
	taken map[string]int // by platform
	all   int
	freed chan struct{} // signals that a slot is free
}

// newSlots returns slots for max turns.
func newSlots(limit int) slots {
	return slots{max: limit, maxPerNetwork: max(1, limit/2), taken: map[string]int{}, freed: make(chan struct{}, 1)}
}

// available returns the number of free slots, and the networks without a free one.
func (p *slots) available() (int, []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var full []string
	for platform, n := range p.taken {
		if n >= p.maxPerNetwork {
			full = append(full, platform)
		}
	}
	return p.max - p.all, full
}

// take reserves a slot. It reports false if no slot is free.
func (p *slots) take(platform string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all >= p.max || p.taken[platform] >= p.maxPerNetwork {
		return false
	}
	p.all++
	p.taken[platform]++
	return true
}

// release frees a slot.
func (p *slots) release(platform string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all--
	p.taken[platform]--
	select {
	case p.freed <- struct{}{}:
	default:
	}
}
