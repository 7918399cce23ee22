package report

import (
	"context"
	"errors"
	"sync"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/provider"
)

const (
	reachabilityTTL     = 5 * time.Second // how long a result is cached
	reachabilityTimeout = 3 * time.Second // for one check
)

// reachability caches whether the provider of each platform is reachable. Results are kept for a short time, so that
// concurrent calls share a check.
type reachability struct {
	mu      sync.Mutex
	results map[string]*reachabilityResult
}

type reachabilityResult struct {
	mu        sync.Mutex // held during the check
	checkedAt time.Time
	err       error
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

// check returns the cached result, or the result of fn if the cached result is too old.
func (r *reachabilityResult) check(now time.Time, fn func() error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.checkedAt.IsZero() || now.Sub(r.checkedAt) >= reachabilityTTL {
		r.err, r.checkedAt = fn(), now
	}
	return r.err
}

// checkSource checks whether the provider for a new report is reachable. It calls the provider, so it must run before
// the call's transaction.
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

// sourceUnreachable returns the error for a report whose provider is unreachable.
func (s *Service) sourceUnreachable(ctx context.Context, err error) error {
	if errors.Is(err, provider.ErrNotOffered) {
		return apierr.New(apierr.ProviderUnavailable, "No provider is configured for these metrics. Ask the operator to connect "+
			"one. Nothing was done or charged.").Wrap(err)
	}
	s.Log.WarnContext(ctx, "a provider of public metrics is unreachable", "error", err)
	rejection := apierr.New(apierr.ProviderUnavailable, "The provider of these metrics is unreachable. Nothing was done or "+
		"charged. Try again later.").Wrap(err)
	if u, ok := errors.AsType[*provider.UnavailableError](err); ok && u.After > 0 {
		return rejection.WithRetryAfter(u.After)
	}
	return rejection
}
