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
	defaultPause      = 15 * time.Minute // if Meta does not specify a duration; Meta's limits apply to a rolling hour
	policyPause       = 24 * time.Hour   // after a policy block of unknown duration
	invalidTokenPause = 6 * time.Hour    // after an invalid token
	quotaPause        = time.Hour        // if Instagram rejects a hashtag although a slot should be free
)

// accountPool holds the operator's accounts and their state in this process.
type accountPool struct {
	mu   sync.Mutex
	list []*accountState
	next int // index of the account to try first
}

type accountState struct {
	id, token string
	// recentLock is held while reading recent posts. Instagram returns the same cursor for every page and tracks the
	// position per account, so each of several concurrent readers would get only some of the posts.
	recentLock chan struct{}

	// The following fields are guarded by accountPool.mu.
	pausedUntil    time.Time // no requests until then
	quotaFullUntil time.Time // no hashtag queries until then
	tokenInvalid   bool      // whether the last request was rejected because of the token; the rejection was logged
}

func newAccountPool(configured []Account) *accountPool {
	var a accountPool
	for _, account := range configured {
		a.list = append(a.list, &accountState{id: account.ID, token: account.Token, recentLock: make(chan struct{}, 1)})
	}
	return &a
}

// lockRecent waits for the account's recentLock. unlockRecent unlocks it.
func (acct *accountState) lockRecent(ctx context.Context) error {
	provider.Release(ctx) // The holder of the lock may be waiting for the slot.
	select {
	case acct.recentLock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return wire.Unavailable("waiting for other queries of the same account: %w", context.Cause(ctx))
	}
}

func (acct *accountState) unlockRecent() { <-acct.recentLock }

// available returns the accounts that are not paused and, if forHashtags is true, have hashtag quota. Each call starts
// with a different account.
func (a *accountPool) available(now time.Time, forHashtags bool) []*accountState {
	a.mu.Lock()
	defer a.mu.Unlock()
	var readyAccounts []*accountState
	for i := range a.list {
		acct := a.list[(a.next+i)%len(a.list)]
		if !acct.availableAt(forHashtags).After(now) {
			readyAccounts = append(readyAccounts, acct)
		}
	}
	a.next = (a.next + 1) % len(a.list)
	return readyAccounts
}

// availableAt returns the time from which the account can be used again: for hashtag queries if forHashtags is true,
// and otherwise for other queries.
func (acct *accountState) availableAt(forHashtags bool) time.Time {
	if forHashtags && acct.quotaFullUntil.After(acct.pausedUntil) {
		return acct.quotaFullUntil
	}
	return acct.pausedUntil
}

// untilNextAvailable returns the time until the next paused account is available, or 0 if no account is paused.
func (a *accountPool) untilNextAvailable(now time.Time, forHashtags bool) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	var wait time.Duration
	for _, acct := range a.list {
		if remaining := acct.availableAt(forHashtags).Sub(now); remaining > 0 && (wait == 0 || remaining < wait) {
			wait = remaining
		}
	}
	return wait
}

// pause pauses an account until the given time, unless the account is already paused for longer.
func (a *accountPool) pause(acct *accountState, until time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if until.After(acct.pausedUntil) {
		acct.pausedUntil = until
	}
}

// markValid records that an account's token was accepted.
func (a *accountPool) markValid(acct *accountState) {
	a.mu.Lock()
	defer a.mu.Unlock()
	acct.tokenInvalid = false
}

// pauseAccount pauses an account after an error. It logs the first rejection of an invalid token.
func (s *Source) pauseAccount(ctx context.Context, acct *accountState, apiErr *apiError) {
	now := s.now()
	switch apiErr.kind {
	case kindRateLimited:
		s.accounts.pause(acct, now.Add(apiErr.retryDelay))
	case kindInvalidToken:
		s.accounts.pause(acct, now.Add(invalidTokenPause))
		if s.accounts.markInvalid(acct) {
			s.opts.Log.ErrorContext(ctx, "Instagram rejected the access token of an account; the account is paused",
				"account", acct.id, "error", apiErr)
		}
	case kindQuotaFull:
		s.accounts.markQuotaFull(acct, now.Add(quotaPause))
	default: // A missing permission affects only this query.
	}
}

// markInvalid records that an account's token was rejected, and reports whether it was valid before.
func (a *accountPool) markInvalid(acct *accountState) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	wasValid := !acct.tokenInvalid
	acct.tokenInvalid = true
	return wasValid
}

func (a *accountPool) markQuotaFull(acct *accountState, until time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	acct.quotaFullUntil = until
}

// tryAccounts calls try with one available account after another, until try succeeds or its error does not depend on
// the account.
func (s *Source) tryAccounts(ctx context.Context, try func(one *accountState) error) error {
	var lastErr error
	for _, acct := range s.accounts.available(s.now(), false) {
		err := try(acct)
		apiErr, ok := errors.AsType[*apiError](err)
		if !ok {
			return err
		}
		if !apiErr.kind.isAccountSpecific() {
			return apiErr.publicError()
		}
		s.pauseAccount(ctx, acct, apiErr)
		lastErr = apiErr
	}
	return s.noAccountError(lastErr, false)
}

// noAccountError returns the error for a query if no account is available. lastErr may be nil.
func (s *Source) noAccountError(lastErr error, forHashtags bool) *provider.UnavailableError {
	u := wire.Unavailable("all Instagram accounts are paused")
	if lastErr != nil {
		u = wire.Unavailable("no Instagram account is available: %w", lastErr)
	}
	u.After = min(s.accounts.untilNextAvailable(s.now(), forHashtags), wire.MaxRetryAfter)
	return u
}
