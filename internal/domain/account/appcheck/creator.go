package appcheck

import (
	"context"
	"sync"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/plaintext"
)

const (
	creatorTimeout    = 3 * time.Second
	creatorTTL        = time.Minute // how long the settings of an account are cached
	maxCachedAccounts = 1000        // maximum number of cached accounts
)

// creatorCache caches the settings of accounts.
type creatorCache struct {
	mu        sync.Mutex
	byAccount map[int64]cacheEntry
}

// cacheEntry is a cached Creator and the time at which it was read.
type cacheEntry struct {
	Creator

	readAt time.Time
}

// Creator describes what the settings of a TikTok account allow.
type Creator struct {
	network.Creator

	Text     string // summary to show to people; empty if the settings are not known
	Rejected bool   // whether TikTok rejects all posts for the account; Text then contains the reason
	Unread   bool   // whether TikTok did not return the settings
}

// Forbids reports whether the settings forbid option, which is an audience, "comment", "duet" or "stitch". It reports
// false if TikTok does not return the settings.
func (c Creator) Forbids(option string) bool {
	return !c.Rejected && !c.Unread && c.Creator.Forbids(option)
}

// CreatorInfo returns what an account's own settings on TikTok allow. Text is empty if TikTok does not return the
// settings within a few seconds. The composer shows the result. Delivery reads the settings again.
func (s *Service) CreatorInfo(ctx context.Context, account int64) Creator {
	if cached, ok := s.cachedCreator(account); ok {
		return cached
	}
	readCtx, cancel := context.WithTimeout(ctx, creatorTimeout)
	defer cancel()
	info := s.readCreator(readCtx, account)
	s.creators.mu.Lock()
	defer s.creators.mu.Unlock()
	if s.creators.byAccount == nil || len(s.creators.byAccount) >= maxCachedAccounts {
		s.creators.byAccount = map[int64]cacheEntry{}
	}
	s.creators.byAccount[account] = cacheEntry{info, s.Now()}
	return info
}

func (s *Service) cachedCreator(account int64) (Creator, bool) {
	s.creators.mu.Lock()
	defer s.creators.mu.Unlock()
	c, ok := s.creators.byAccount[account]
	return c.Creator, ok && s.Now().Sub(c.readAt) < creatorTTL
}

func (s *Service) readCreator(ctx context.Context, account int64) Creator {
	g, err := s.Accounts.Grant(ctx, account)
	if err != nil || g.Lost {
		return Creator{}
	}
	n, err := s.Accounts.Network(g.Platform)
	checker, ok := n.(network.AppChecker)
	if err != nil || !ok {
		return Creator{}
	}
	for _, f := range s.checkAccount(ctx, checker, accountGrant{g, account}) {
		switch {
		case f.Subject != network.CreatorInfo:
		case f.Result == network.CheckPassed && f.Creator != nil:
			return Creator{Creator: *f.Creator, Text: plaintext.Line(f.Detail)}
		case f.Result == network.CheckFailed:
			return Creator{Text: plaintext.Line(f.Detail), Rejected: true}
		case f.Result == network.CheckUnclear:
			return Creator{Unread: true}
		}
	}
	return Creator{}
}

// DefaultOptions returns the options that a network uses for posts that do not set any.
func (s *Service) DefaultOptions(platform string) network.Options {
	n, err := s.Accounts.Network(platform)
	if d, ok := n.(network.Defaulter); ok && err == nil {
		return d.DefaultOptions()
	}
	return network.Options{}
}

// AddsToPlaylists reports whether posts on a network can be added to playlists.
func (s *Service) AddsToPlaylists(platform string) bool {
	n, err := s.Accounts.Network(platform)
	provider, ok := n.(interface{ AddsToPlaylists() bool })
	return ok && err == nil && provider.AddsToPlaylists()
}

// Rules returns a network's rules. It reports false if the network is not supported or has no documented rules.
func (s *Service) Rules(platform string) (network.Rules, bool) {
	n, err := s.Accounts.Network(platform)
	if provider, ok := n.(network.RulesProvider); ok && err == nil {
		return provider.Rules(), true
	}
	return network.Rules{}, false
}
