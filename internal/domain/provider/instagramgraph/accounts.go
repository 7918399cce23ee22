package instagramgraph

import (
	"context"
	"errors"
	"sync"
	"time"

	"pressroom/internal/domain/provider"
	"pressroom/internal/domain/provider/wire"
)

const (
	usualRest  = 15 * time.Minute // where Meta does not say how long; its limits roll by over an hour
	policyRest = 24 * time.Hour   // after a block for policy, of which Meta does not say how long it lasts
	lostRest   = 6 * time.Hour    // until an account is tried again whose token did not work
	fullRest   = time.Hour        // until an account is asked for a hashtag again that has no place where we counted one
)

// accounts are the operator's, and how they stand. What is known of that is this process's alone: another finds it out
// by itself.
type accounts struct {
	mu   sync.Mutex
	all  []*account
	next int // who is asked first
}

type account struct {
	id, token string
	// walks is held by who reads recent posts: Instagram's cursor is the same on every page of them, so that it is
	// Instagram who knows where the account stands, and two who read at once would each get a part.
	walks chan struct{}

	// Guarded by accounts.mu.
	rests time.Time // until then it is left alone
	full  time.Time // until then it is not asked for hashtags
	lost  bool      // its token did not work when it was last tried, which the log knows
}

func newAccounts(given []Account) *accounts {
	var a accounts
	for _, g := range given {
		a.all = append(a.all, &account{id: g.ID, token: g.Token, walks: make(chan struct{}, 1)})
	}
	return &a
}

// walk waits until nobody else reads recent posts by the account; walked ends that.
func (one *account) walk(ctx context.Context) error {
	provider.Waiting(ctx) // who reads by the account now may wait for the turn
	select {
	case one.walks <- struct{}{}:
		return nil
	case <-ctx.Done():
		return wire.Unavailable("waiting for others who ask by the same account: %w", context.Cause(ctx))
	}
}

func (one *account) walked() { <-one.walks }

// ready are those that can be asked now, each time another one first.
func (a *accounts) ready(now time.Time, hashtags bool) []*account {
	a.mu.Lock()
	defer a.mu.Unlock()
	var ready []*account
	for i := range a.all {
		one := a.all[(a.next+i)%len(a.all)]
		if !one.until(hashtags).After(now) {
			ready = append(ready, one)
		}
	}
	a.next = (a.next + 1) % len(a.all)
	return ready
}

// until is when an account can be asked again.
func (one *account) until(hashtags bool) time.Time {
	if hashtags && one.full.After(one.rests) {
		return one.full
	}
	return one.rests
}

// soonest is the time until one more of them can be asked; 0 where none rests.
func (a *accounts) soonest(now time.Time, hashtags bool) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	var wait time.Duration
	for _, one := range a.all {
		if rest := one.until(hashtags).Sub(now); rest > 0 && (wait == 0 || rest < wait) {
			wait = rest
		}
	}
	return wait
}

// rest leaves an account alone for a time.
func (a *accounts) rest(one *account, until time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if until.After(one.rests) {
		one.rests = until
	}
}

// works notes that an account's token was taken.
func (a *accounts) works(one *account) {
	a.mu.Lock()
	defer a.mu.Unlock()
	one.lost = false
}

// setAside leaves out an account for what went wrong with it, and tells the log once of a token that does not work.
func (s *Source) setAside(ctx context.Context, one *account, f *failure) {
	now := s.now()
	switch f.kind {
	case throttled:
		s.accounts.rest(one, now.Add(f.after))
	case unsigned:
		s.accounts.rest(one, now.Add(lostRest))
		if s.accounts.lose(one) {
			s.opts.Log.ErrorContext(ctx, "the token of an account by which Instagram is asked does not work; the account is left out", "account", one.id, "error", f)
		}
	case full:
		s.accounts.fill(one, now.Add(fullRest))
	default: // the account may not do this, and others may as before
	}
}

// lose notes that an account's token does not work: whether that is news.
func (a *accounts) lose(one *account) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	news := !one.lost
	one.lost = true
	return news
}

func (a *accounts) fill(one *account, until time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	one.full = until
}

// each tries the accounts one after the other until one answers. What is not about the account itself leads to no other.
func (s *Source) each(ctx context.Context, try func(one *account) error) error {
	var last error
	for _, one := range s.accounts.ready(s.now(), false) {
		err := try(one)
		f, ok := errors.AsType[*failure](err)
		if !ok {
			return err
		}
		if !f.kind.ofAccount() {
			return f.shown()
		}
		s.setAside(ctx, one, f)
		last = f
	}
	return s.nobody(last, false)
}

// nobody says that there is no account left to ask, and until when.
func (s *Source) nobody(last error, hashtags bool) *provider.Unavailable {
	u := wire.Unavailable("no account by which Instagram can be asked is free")
	if last != nil {
		u = wire.Unavailable("no account by which Instagram can be asked is left: %w", last)
	}
	u.After = min(s.accounts.soonest(s.now(), hashtags), wire.MaxAfter)
	return u
}
