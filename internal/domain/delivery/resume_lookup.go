package delivery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/network"
)

const (
	accountLookupTimeout = 2 * time.Minute // per account
	maxListedPosts       = 500             // per account
	maxClockSkew         = 5 * time.Minute // how far the network's clock may be behind ours
)

// maxConcurrentLookups is the number of accounts that are looked up concurrently.
const maxConcurrentLookups = 8

// lookUpAccounts looks up the candidates of each account. It looks up several accounts concurrently.
func (s *Service) lookUpAccounts(ctx context.Context, candidates []*candidate, since time.Time) {
	byAccount := map[int64][]*candidate{}
	for _, c := range candidates {
		byAccount[c.AccountID] = append(byAccount[c.AccountID], c)
	}
	slots := make(chan struct{}, maxConcurrentLookups)
	var wg sync.WaitGroup
	for account, list := range byAccount {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			s.lookUpAccount(ctx, account, list, since)
		})
	}
	wg.Wait()
}

// lookUpAccount lists the posts of an account that are newer than since, and matches them with the candidates. A
// candidate whose request was already fixed is also looked up individually, because the network has more information
// about it.
func (s *Service) lookUpAccount(ctx context.Context, account int64, candidates []*candidate, since time.Time) {
	ctx, cancel := context.WithTimeout(ctx, accountLookupTimeout)
	defer cancel()
	for _, c := range candidates {
		c.lookedUp, c.Reason = true, "The lookup on the network failed."
	}
	grant, posts, incomplete, err := s.listAccountPosts(ctx, account, since.Add(-maxClockSkew))
	if err != nil {
		s.log.WarnContext(ctx, "Looking up published posts failed", "account", account, "error", err)
		for _, c := range candidates {
			c.retryable, c.Reason = isTemporary(err), describeFailure(err)
		}
		return
	}
	for _, c := range candidates {
		c.verdict, c.Reason = network.Absent, ""
		if incomplete {
			c.verdict, c.Reason = network.Unknown, "The network's list of posts may be incomplete."
		}
	}
	matchPosts(slices.DeleteFunc(slices.Clone(candidates), func(c *candidate) bool { return !c.isListed() }), posts)
	s.noteHidden(ctx, grant, candidates, since.Add(-maxClockSkew))
	s.resolveCandidates(ctx, grant, candidates)
}

// resolveCandidates looks up each candidate whose request was fixed and that is not in the network's list.
func (s *Service) resolveCandidates(ctx context.Context, grant account.Grant, candidates []*candidate) {
	for _, c := range candidates {
		switch fixed := c.delivery.Phase == phasePrepared || c.delivery.Phase == phaseCommitting; {
		case fixed && c.verdict != network.Published:
			s.resolveCandidate(ctx, grant, c)
		case !fixed && (c.delivery.Part != 0 || c.isStory) && c.verdict == network.Absent:
			c.verdict, c.Reason = network.Unknown, "The network's list of posts may omit replies, comments and stories."
		}
		if c.verdict == network.Published && c.receipt.MatchedByContent && isTaken(candidates, c) {
			c.verdict, c.Reason = network.Unknown, "The account shows one post that matches this and another post."
		}
	}
}

// noteHidden looks for candidates with an unknown outcome among the posts that only the account's owner can see. It
// names such a post as the reason, because only a person can decide whether the candidate is published.
func (s *Service) noteHidden(ctx context.Context, grant account.Grant, candidates []*candidate, since time.Time) {
	n, err := s.accounts.Network(grant.Platform)
	lister, ok := n.(network.HiddenLister)
	if err != nil || !ok || !slices.ContainsFunc(candidates, (*candidate).isUncertain) {
		return
	}
	hidden, err := lister.ListHidden(ctx, grant.Grant, since, maxListedPosts)
	if err != nil {
		s.log.WarnContext(ctx, "Looking up hidden posts failed", "platform", grant.Platform, "error", err)
		return
	}
	for _, c := range candidates {
		i := slices.IndexFunc(hidden, func(p network.CollectedPost) bool { return sameText(c.text, p.Text) || samePrefix(c.text, p.Text) })
		if c.isUncertain() && i >= 0 {
			c.Reason = "The account has a private post that could be this one: " + hidden[i].URL
		}
	}
}

// isTaken reports whether the post that was found for a candidate was also found for another candidate.
func isTaken(candidates []*candidate, c *candidate) bool {
	return slices.ContainsFunc(candidates, func(other *candidate) bool {
		return other != c && other.verdict == network.Published &&
			(network.CommitHistory{OtherPosts: []string{other.receipt.ID, other.receipt.Permalink}}).BelongsToOther(c.receipt.ID,
				c.receipt.Permalink)
	})
}

var (
	errGrantLost  = errors.New("the connection is lost")
	errNoPostList = errors.New("the network does not list posts")
)

// isTemporary reports whether a failed lookup may succeed later.
func isTemporary(err error) bool {
	if errors.Is(err, errGrantLost) || errors.Is(err, errNoPostList) {
		return false
	}
	return slices.Contains([]network.ErrorClass{network.Transient, network.OutcomeUnknown, network.Processing,
		network.RateLimited,
		network.QuotaExceeded, network.HostBlocked}, errorClass(err))
}

// describeFailure returns the reason to display for a failed lookup.
func describeFailure(err error) string {
	switch {
	case errors.Is(err, errGrantLost):
		return "The account is disconnected, so its posts could not be looked up."
	case errors.Is(err, errNoPostList), errorClass(err) == network.AppNotApproved:
		return "The network does not let this app list posts."
	}
	return "The lookup on the network failed."
}

// resolveCandidate looks up a candidate whose request was fixed before the hold.
func (s *Service) resolveCandidate(ctx context.Context, grant account.Grant, c *candidate) {
	n, err := s.accounts.Network(grant.Platform)
	if err != nil {
		c.verdict = network.Unknown
		return
	}
	history, _, err := commitHistory(ctx, s.db, c.delivery, 0)
	if err != nil {
		c.verdict = network.Unknown
		return
	}
	verdict, receipt, err := n.Resolve(ctx, grant.Grant, c.delivery.Draft, history)
	switch {
	case verdict == network.Published:
		c.verdict, c.receipt = verdict, receipt
	case verdict == network.Unknown:
		c.verdict, c.Reason = verdict, "The network does not say whether it published the post."
	case isHidden(err):
		c.verdict, c.Reason = network.Unknown, "The network has the post but does not show it."
	case err != nil: // The network dropped the request, so a new request follows.
	}
}

// isHidden reports whether an error says that the network has the post but does not show it.
func isHidden(err error) bool {
	e, ok := errors.AsType[*network.Error](err)
	return ok && e.Hidden.ID != ""
}

// listAccountPosts returns the grant of an account and the account's posts that are not stored here. It also reports
// whether the network's list may be incomplete.
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
	collector, ok := n.(network.Collector)
	switch {
	case grant.Lost:
		return grant, nil, false, errGrantLost
	case !ok:
		return grant, nil, false, errNoPostList
	}
	collection, err := collector.Collect(ctx, grant.Grant, since, maxListedPosts)
	if err != nil && errorClass(err) == network.RefreshRequired {
		if grant, err = s.accounts.Refresh(ctx, id, grant); err == nil {
			collection, err = collector.Collect(ctx, grant.Grant, since, maxListedPosts)
		}
	}
	if err != nil {
		return grant, nil, false, fmt.Errorf("listing the posts of account %d: %w", id, err)
	}
	history, _, err := commitHistory(ctx, s.db, delivery{AccountID: id}, 0)
	if err != nil {
		return grant, nil, false, err
	}
	_, incomplete := n.(network.PartialLister)
	incomplete = incomplete || collection.Truncated ||
		len(collection.Posts) >= maxListedPosts // Check this before known posts are removed.
	return grant, slices.DeleteFunc(collection.Posts, func(p network.CollectedPost) bool {
		return history.BelongsToOther(p.ID, p.URL)
	}), incomplete, nil
}
