// Package analytics tells a team how its own connected accounts do. A collector asks each account's network now and then
// what became of the account's posts, whoever published them, and keeps what it is told; an analysis is worked out from
// that alone and reaches no network.
//
// Every account has turns. A node takes a turn by moving the account's next one behind the longest time that this one
// may last, so that nobody else has the account meanwhile and one that dies holds it up no longer; a number that rises
// with every turn keeps a node that comes too late from writing.
package analytics

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"pressroom/internal/core/plan"
	"pressroom/internal/domain/account"
	"pressroom/internal/network"
	"pressroom/internal/platform/db"
)

// Options are the operator's figures; what is 0 has the shipped one.
type Options struct {
	Terms  plan.Terms
	Every  time.Duration // between two turns of an account, a little more or less; 6 hours
	AtOnce int           // accounts that a node collects at once, at most half of them of one network; 8
	// Called learns of each turn's call to a network: its platform, what was called, and ok, the class of its error, or
	// failed where the fault was ours. Nobody does where nil.
	Called func(platform, call, result string)
	// Posts learns of the posts that a turn collected. Nobody does where nil.
	Posts func(ctx context.Context, platform string, posts []network.Figures) error
	Log   *slog.Logger
}

// The shipped figures.
const (
	usualEvery  = 6 * time.Hour
	usualAtOnce = 8
)

// Service collects figures and analyses them.
type Service struct {
	db       *db.DB
	accounts *account.Service
	opts     Options
	places   slots
}

// New makes the service, which learns from accounts of each one that is connected.
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
	s := &Service{db: d, accounts: accounts, opts: opts, places: newSlots(opts.AtOnce)}
	accounts.OnConnect(s.onConnect)
	accounts.OnDisconnect(s.onDisconnect)
	return s
}

// onConnect has an account's turn come at once. One that is under way by an older grant comes to nothing.
func (s *Service) onConnect(ctx context.Context, tx *db.Tx, account int64) error {
	_, err := tx.Exec(ctx, `INSERT INTO account_collections (account_id, due_at) VALUES (?, ?)
		ON CONFLICT (account_id) DO UPDATE SET due_at = excluded.due_at, epoch = account_collections.epoch + 1, fails = 0, failed_by = ''`, account, db.Micros(tx.Now()))
	if err != nil {
		return fmt.Errorf("having account %d collected: %w", account, err)
	}
	return nil
}

// onDisconnect drops all that was collected of an account that a person has disconnected. A turn under way comes to nothing.
func (s *Service) onDisconnect(ctx context.Context, tx *db.Tx, account int64) error {
	for _, table := range []string{"account_collections", "account_posts", "account_days"} {
		if _, err := tx.Exec(ctx, `DELETE FROM `+table+` WHERE account_id = ?`, account); err != nil {
			return fmt.Errorf("forgetting the figures of account %d: %w", account, err)
		}
	}
	return nil
}

// slots are the turns that this node may have under way at once.
type slots struct {
	max, maxPerNetwork int // in all, and of one network

	mu    sync.Mutex
	taken map[string]int // by platform
	all   int
	freed chan struct{} // holds one: a place has become free
}

func newSlots(most int) slots {
	return slots{max: most, maxPerNetwork: max(1, most/2), taken: map[string]int{}, freed: make(chan struct{}, 1)}
}

// available is how many places are free, and which networks have none of them.
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
