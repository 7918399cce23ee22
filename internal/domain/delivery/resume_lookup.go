package delivery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"pressroom/internal/domain/account"
	"pressroom/internal/network"
)

const (
	accountLookupTimeout = 2 * time.Minute // for one account
	maxListedPosts       = 500             // of one account
	maxClockSkew         = 5 * time.Minute // how far the network's clock may be behind ours
)

const maxConcurrentLookups = 8 // accounts

// lookUpAccounts looks up the candidates of each account, several accounts at once.
func (s *Service) lookUpAccounts(ctx context.Context, doubts []*candidate, since time.Time) {
	of := map[int64][]*candidate{}
	for _, d := range doubts {
		of[d.AccountID] = append(of[d.AccountID], d)
	}
	places := make(chan struct{}, maxConcurrentLookups)
	var asking sync.WaitGroup
	for account, list := range of {
		places <- struct{}{}
		asking.Go(func() {
			defer func() { <-places }()
			s.lookUpAccount(ctx, account, list, since)
		})
	}
	asking.Wait()
}

// lookUpAccount lists an account's posts since a time and matches them with the candidates. A request that was fixed
// before is looked up individually, because the network knows more about it.
func (s *Service) lookUpAccount(ctx context.Context, account int64, doubts []*candidate, since time.Time) {
	ctx, cancel := context.WithTimeout(ctx, accountLookupTimeout)
	defer cancel()
	for _, d := range doubts {
		d.asked, d.Reason = true, "The network could not be asked."
	}
	grant, listed, reticent, err := s.listAccountPosts(ctx, account, since.Add(-maxClockSkew))
	if err != nil {
		s.log.WarnContext(ctx, "Looking up published posts failed", "account", account, "error", err)
		for _, d := range doubts {
			d.retryable, d.Reason = isTemporary(err), describeFailure(err)
		}
		return
	}
	for _, d := range doubts {
		d.verdict, d.Reason = network.Absent, ""
		if reticent {
			d.verdict, d.Reason = network.Unknown, "The network's list of posts may be incomplete."
		}
	}
	match(doubts, listed)
	for _, d := range doubts {
		if d.verdict != network.Published && (d.delivery.Phase == prepared || d.delivery.Phase == committing) {
			s.resolveCandidate(ctx, grant, d)
		}
		if d.verdict == network.Published && d.receipt.MatchedByContent && isTaken(doubts, d) {
			d.verdict, d.Reason = network.Unknown, "The account shows one post that matches this and another post."
		}
	}
}

// isTaken reports whether the post that a candidate was found as belongs to another candidate.
func isTaken(doubts []*candidate, d *candidate) bool {
	return slices.ContainsFunc(doubts, func(other *candidate) bool {
		return other != d && other.verdict == network.Published &&
			(network.CommitHistory{OtherPosts: []string{other.receipt.ID, other.receipt.Permalink}}).BelongsToOther(d.receipt.ID,
				d.receipt.Permalink)
	})
}

var (
	errGrantLost  = errors.New("the connection is lost")
	errNoPostList = errors.New("the network does not list posts")
)

// isTemporary reports whether the error that prevented a lookup may pass.
func isTemporary(err error) bool {
	if errors.Is(err, errGrantLost) || errors.Is(err, errNoPostList) {
		return false
	}
	return slices.Contains([]network.Class{network.Transient, network.Uncertain, network.Processing, network.Rate,
		network.Quota, network.HostBlocked}, classOf(err))
}

// describeFailure returns why a lookup failed, for people.
func describeFailure(err error) string {
	switch {
	case errors.Is(err, errGrantLost):
		return "The account is disconnected, so the network could not be asked."
	case errors.Is(err, errNoPostList), classOf(err) == network.Unapproved:
		return "The network does not let this app list posts."
	}
	return "The network could not be asked."
}

// resolveCandidate looks up a request that was fixed before the hold.
func (s *Service) resolveCandidate(ctx context.Context, grant account.Grant, d *candidate) {
	n, err := s.accounts.Network(grant.Platform)
	if err != nil {
		d.verdict = network.Unknown
		return
	}
	t, _, err := sendHistory(ctx, s.db, d.delivery, 0)
	if err != nil {
		d.verdict = network.Unknown
		return
	}
	verdict, receipt, err := n.Resolve(ctx, grant.Grant, d.delivery.Draft, t)
	switch {
	case verdict == network.Published:
		d.verdict, d.receipt = verdict, receipt
	case verdict == network.Unknown:
		d.verdict, d.Reason = verdict, "The network does not say whether it published the post."
	case err != nil: // the network dropped it; a new request follows
	}
}

// listAccountPosts returns an account's posts that are unknown here, and reports whether the network's list may be
// incomplete.
func (s *Service) listAccountPosts(ctx context.Context, id int64,
	since time.Time) (account.Grant, []network.CollectedPost, bool, error) {
	grant, err := s.accounts.Grant(ctx, id)
	if err != nil {
		return grant, nil, false, err
	}
	n, err := s.accounts.Network(grant.Platform)
	if err != nil {
		return grant, nil, false, err
	}
	from, ok := n.(network.Collector)
	switch {
	case grant.Lost:
		return grant, nil, false, errGrantLost
	case !ok:
		return grant, nil, false, errNoPostList
	}
	told, err := from.Collect(ctx, grant.Grant, since, maxListedPosts)
	if err != nil && classOf(err) == network.AuthRefresh {
		if grant, err = s.accounts.Refresh(ctx, id, grant); err == nil {
			told, err = from.Collect(ctx, grant.Grant, since, maxListedPosts)
		}
	}
	if err != nil {
		return grant, nil, false, fmt.Errorf("listing the posts of account %d: %w", id, err)
	}
	known, _, err := sendHistory(ctx, s.db, delivery{AccountID: id}, 0)
	if err != nil {
		return grant, nil, false, err
	}
	_, reticent := n.(network.PartialLister)
	reticent = reticent || told.Truncated || len(told.Posts) >= maxListedPosts // checked before known posts are removed
	return grant, slices.DeleteFunc(told.Posts, func(f network.CollectedPost) bool {
		return known.BelongsToOther(f.ID, f.URL)
	}), reticent, nil
}
