// Package analytics measures a team's own connected accounts. A collector asks each account's network regularly
// for the figures of all its posts, regardless of how they were published, and stores them. Analyses use only
// stored figures and call no network.
//
// Every account has turns. A node claims a turn by moving the account's next turn after the longest duration of
// this one, so that no other node has the account meanwhile and a dead node delays it no longer. A number that
// increases with every turn keeps a late node from writing.
package analytics

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"pressroom/internal/core/plan"
	"pressroom/internal/domain/account"
	"pressroom/internal/network"
	"pressroom/internal/platform/db"
	"pressroom/internal/platform/thumbnail"
)

// Options are settings of the operator; 0 means the default.
type Options struct {
	Terms  plan.Terms
	Every  time.Duration // about the time between two turns of an account; default 6 hours
	AtOnce int           // accounts that a node collects at once, at most half of them of one network; default 8
	// Called observes the network call of each turn: its platform, the call and its result, which is ok, the class of
	// the error, or failed for an internal fault. It may be nil.
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

// Service collects and analyzes figures.
type Service struct {
	db       *db.DB
	accounts *account.Service
	opts     Options
	pictures *thumbnail.Maker
	places   slots
}

// New returns the service. Accounts must have an [AccountObserver].
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

// AccountObserver schedules and deletes figures as accounts are connected and disconnected.
type AccountObserver struct{}

// AccountConnected makes an account due at once. A running turn with an older grant stores nothing.
func (AccountObserver) AccountConnected(ctx context.Context, tx *db.Tx, account int64) error {
	_, err := tx.Exec(ctx, `INSERT INTO account_collections (account_id, due_at) VALUES (?, ?)
		ON CONFLICT (account_id) DO UPDATE SET due_at = excluded.due_at, epoch = account_collections.epoch + 1,
		fails = 0, failed_by = ''`, account, db.Micros(tx.Now()))
	if err != nil {
		return fmt.Errorf("scheduling the collection of account %d: %w", account, err)
	}
	return nil
}

// AccountDisconnected deletes everything that was collected of an account. A running turn stores nothing.
func (AccountObserver) AccountDisconnected(ctx context.Context, tx *db.Tx, account int64) error {
	for _, table := range []string{"account_collections", "account_posts", "account_days", "account_pictures"} {
		if _, err := tx.Exec(ctx, `DELETE FROM `+table+` WHERE account_id = ?`, account); err != nil {
			return fmt.Errorf("deleting the figures of account %d: %w", account, err)
		}
	}
	return nil
}

// slots are the turns that this node may run at once.
type slots struct {
	max, maxPerNetwork int // in total, and for one network

	mu    sync.Mutex
	taken map[string]int // by platform
	all   int
	freed chan struct{} // buffered signal: a slot is free
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

// take takes a slot and reports whether one was free.
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
