package report

import (
	"context"
	"errors"
	"sync"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/core/operation"
	"pressroom/internal/domain/provider"
)

const (
	reachabilityTTL     = 5 * time.Second // how long what a source said of itself holds
	reachabilityTimeout = 3 * time.Second // how long it may take to say it
)

// reachability remembers for a moment whether each platform's source answers, so that many calls ask it once.
type reachability struct {
	mu      sync.Mutex
	results map[string]*reachabilityResult
}

type reachabilityResult struct {
	mu  sync.Mutex // one asks, the others wait for it
	at  time.Time
	err error
}

func (r *reachability) get(platform string) *reachabilityResult {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.results == nil {
		r.results = map[string]*reachabilityResult{}
	}
	if r.results[platform] == nil {
		r.results[platform] = &reachabilityResult{}
	}
	return r.results[platform]
}

// check gives what ask says, or what it said a moment ago.
func (k *reachabilityResult) check(now time.Time, ask func() error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.at.IsZero() || now.Sub(k.at) >= reachabilityTTL {
		k.err, k.at = ask(), now
	}
	return k.err
}

// checkSource asks, before a call's transaction, whether the source of a report to be made can be reached.
func (s *Service) checkSource(ctx context.Context, call operation.Call, in CreateInput) error {
	if s.Source == nil {
		return provider.ErrNotOffered
	}
	return s.reachability.get(in.Platform).check(call.Now, func() error {
		ctx, cancel := context.WithTimeout(ctx, reachabilityTimeout)
		defer cancel()
		return s.Source.Reachable(ctx, in.Platform)
	})
}

// sourceUnreachable is the refusal of a report whose source cannot be reached (contract: 502, nothing charged).
func (s *Service) sourceUnreachable(ctx context.Context, err error) error {
	if errors.Is(err, provider.ErrNotOffered) {
		return apierr.New(apierr.ProviderUnavailable, "This service has no source of such figures: its operator can join one. Nothing was done or charged.").Wrap(err)
	}
	s.Log.WarnContext(ctx, "a source of public figures cannot be reached", "error", err)
	refusal := apierr.New(apierr.ProviderUnavailable, "The source of these figures cannot be reached now. Nothing was done or charged; try again later.").Wrap(err)
	if u, ok := errors.AsType[*provider.Unavailable](err); ok && u.After > 0 {
		return refusal.After(u.After)
	}
	return refusal
}
