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
	accountLookupTimeout = 2 * time.Minute // of one account
	maxListedPosts       = 500             // posts of an account
	maxClockSkew         = 5 * time.Minute // how far the network's clock may be behind ours
)

const maxConcurrentLookups = 8 // accounts

// lookUpAccounts asks the network of each account.
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

// lookUpAccount asks an account's network for what the account shows since a time, and finds there what was to go out. What the
// network was given the whole of before is asked for by itself, as the network knows more of that.
func (s *Service) lookUpAccount(ctx context.Context, account int64, doubts []*candidate, since time.Time) {
	ctx, cancel := context.WithTimeout(ctx, accountLookupTimeout)
	defer cancel()
	for _, d := range doubts {
		d.asked, d.Why = true, "the network could not be asked"
	}
	grant, listed, reticent, err := s.listAccountPosts(ctx, account, since.Add(-maxClockSkew))
	if err != nil {
		s.log.WarnContext(ctx, "a network could not be asked what went out", "account", account, "error", err)
		for _, d := range doubts {
			d.retryable, d.Why = isTemporary(err), describeFailure(err)
		}
		return
	}
	for _, d := range doubts {
		d.verdict, d.Why = network.Absent, ""
		if reticent {
			d.verdict, d.Why = network.Unknown, "the network's list of posts does not tell of all"
		}
	}
	match(doubts, listed)
	for _, d := range doubts {
		if d.verdict != network.Stands && (d.delivery.Phase == prepared || d.delivery.Phase == committing) {
			s.resolveCandidate(ctx, grant, d)
		}
		if d.verdict == network.Stands && d.receipt.Alike && isTaken(doubts, d) {
			d.verdict, d.Why = network.Unknown, "the account shows one post like this and like another of ours"
		}
	}
}

// isTaken tells whether what a doubt was found to be is another's already.
func isTaken(doubts []*candidate, d *candidate) bool {
	return slices.ContainsFunc(doubts, func(other *candidate) bool {
		return other != d && other.verdict == network.Stands && (network.Tried{Others: []string{other.receipt.ID, other.receipt.Permalink}}).Another(d.receipt.ID, d.receipt.Permalink)
	})
}

var (
	errGrantLost  = errors.New("the connection is lost")
	errNoPostList = errors.New("the network does not list posts")
)

// isTemporary tells whether what kept a network from being asked may be over soon.
func isTemporary(err error) bool {
	if errors.Is(err, errGrantLost) || errors.Is(err, errNoPostList) {
		return false
	}
	return slices.Contains([]network.Class{network.Transient, network.Uncertain, network.Processing, network.Rate, network.Quota, network.Barred}, classOf(err))
}

// describeFailure says why a network could not be asked, and whether it ever can.
func describeFailure(err error) string {
	switch {
	case errors.Is(err, errGrantLost):
		return "the connection is lost, so the network could not be asked"
	case errors.Is(err, errNoPostList), classOf(err) == network.Unapproved:
		return "the network never tells here which posts stand there: it does not let this app list them"
	}
	return "the network could not be asked"
}

// resolveCandidate asks for what was fixed to the byte before.
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
	case verdict == network.Stands:
		d.verdict, d.receipt = verdict, receipt
	case verdict == network.Unknown:
		d.verdict, d.Why = verdict, "the network cannot say"
	case err != nil: // it was given up there: what follows is a new one
	}
}

// listAccountPosts reads what an account shows and is not known here. It is true of a network whose list may lack posts.
func (s *Service) listAccountPosts(ctx context.Context, id int64, since time.Time) (account.Grant, []network.Figures, bool, error) {
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
		return grant, nil, false, fmt.Errorf("listing what account %d shows: %w", id, err)
	}
	known, _, err := sendHistory(ctx, s.db, delivery{AccountID: id}, 0)
	if err != nil {
		return grant, nil, false, err
	}
	_, reticent := n.(network.Reticent)
	reticent = reticent || told.Cut || len(told.Posts) >= maxListedPosts // before what is known is left out
	return grant, slices.DeleteFunc(told.Posts, func(f network.Figures) bool { return known.Another(f.ID, f.URL) }), reticent, nil
}
