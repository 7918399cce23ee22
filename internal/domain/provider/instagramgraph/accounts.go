package instagramgraph

import (
	"context"
	"errors"
	"sync"
	"time"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/provider/wire"
)

const (
	defaultPause      = 15 * time.Minute // if Meta does not specify a duration; its limits are per rolling hour
	policyPause       = 24 * time.Hour   // after a policy block of unknown duration
	invalidTokenPause = 6 * time.Hour    // after an invalid token
	quotaPause        = time.Hour        // after Instagram rejected a hashtag although a slot should have been free
)

// accounts holds the operator's accounts and their state in this process.
type accounts struct {
	mu   sync.Mutex
	all  []*account
	next int // index of the account to try first
}

type account struct {
	id, token string
	// recentLock is held while reading recent posts. Instagram returns the same cursor for every page and tracks the
	// position per account, so concurrent readers would each get only a part.
	recentLock chan struct{}

	// The following fields are guarded by accounts.mu.
	pausedUntil    time.Time // no requests until then
	quotaFullUntil time.Time // no hashtag queries until then
	tokenInvalid   bool      // whether the token was rejected last time; the rejection was logged
}

func newAccounts(given []Account) *accounts {
	var a accounts
	for _, g := range given {
		a.all = append(a.all, &account{id: g.ID, token: g.Token, recentLock: make(chan struct{}, 1)})
	}
	return &a
}

// lockRecent waits for the account's recentLock. unlockRecent unlocks it.
func (one *account) lockRecent(ctx context.Context) error {
	provider.Release(ctx) // the holder of the lock may be waiting for the slot
	select {
	case one.recentLock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return wire.Unavailable("waiting for other queries by the same account: %w", context.Cause(ctx))
	}
}

func (one *account) unlockRecent() { <-one.recentLock }

// available returns the accounts that are not paused and, if hashtags is true, have hashtag quota. Each call starts
// with another account.
func (a *accounts) available(now time.Time, hashtags bool) []*account {
	a.mu.Lock()
	defer a.mu.Unlock()
	var ready []*account
	for i := range a.all {
		one := a.all[(a.next+i)%len(a.all)]
		if !one.availableAt(hashtags).After(now) {
			ready = append(ready, one)
		}
	}
	a.next = (a.next + 1) % len(a.all)
	return ready
}

// availableAt returns when the account can be used again, for hashtag queries or for others.
func (one *account) availableAt(hashtags bool) time.Time {
	if hashtags && one.quotaFullUntil.After(one.pausedUntil) {
		return one.quotaFullUntil
	}
	return one.pausedUntil
}

// untilNextAvailable returns the time until the next paused account is available, or 0 if none is paused.
func (a *accounts) untilNextAvailable(now time.Time, hashtags bool) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	var wait time.Duration
	for _, one := range a.all {
		if rest := one.availableAt(hashtags).Sub(now); rest > 0 && (wait == 0 || rest < wait) {
			wait = rest
		}
	}
	return wait
}

// pause pauses an account until a time, unless it is paused for longer already.
func (a *accounts) pause(one *account, until time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if until.After(one.pausedUntil) {
		one.pausedUntil = until
	}
}

// markValid records that an account's token was accepted.
func (a *accounts) markValid(one *account) {
	a.mu.Lock()
	defer a.mu.Unlock()
	one.tokenInvalid = false
}

// pauseAccount pauses an account after an error. It logs the first rejection of an invalid token.
func (s *Source) pauseAccount(ctx context.Context, one *account, f *apiError) {
	now := s.now()
	switch f.kind {
	case kindRateLimited:
		s.accounts.pause(one, now.Add(f.after))
	case kindInvalidToken:
		s.accounts.pause(one, now.Add(invalidTokenPause))
		if s.accounts.markInvalid(one) {
			s.opts.Log.ErrorContext(ctx, "Instagram rejected the access token of an account; the account is paused",
				"account", one.id, "error", f)
		}
	case kindQuotaFull:
		s.accounts.markQuotaFull(one, now.Add(quotaPause))
	default: // a missing permission affects only this query
	}
}

// markInvalid records that an account's token was rejected, and reports whether it was valid before.
func (a *accounts) markInvalid(one *account) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	wasValid := !one.tokenInvalid
	one.tokenInvalid = true
	return wasValid
}

func (a *accounts) markQuotaFull(one *account, until time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	one.quotaFullUntil = until
}

// tryAccounts calls try with one available account after another, until try succeeds or its error does not depend on
// the account.
func (s *Source) tryAccounts(ctx context.Context, try func(one *account) error) error {
	var last error
	for _, one := range s.accounts.available(s.now(), false) {
		err := try(one)
		f, ok := errors.AsType[*apiError](err)
		if !ok {
			return err
		}
		if !f.kind.isAccountSpecific() {
			return f.publicError()
		}
		s.pauseAccount(ctx, one, f)
		last = f
	}
	return s.noAccount(last, false)
}

// noAccount returns the error for a query for which no account is available.
func (s *Source) noAccount(last error, hashtags bool) *provider.UnavailableError {
	u := wire.Unavailable("all Instagram accounts are paused")
	if last != nil {
		u = wire.Unavailable("no Instagram account is available: %w", last)
	}
	u.After = min(s.accounts.untilNextAvailable(s.now(), hashtags), wire.MaxRetryAfter)
	return u
}
