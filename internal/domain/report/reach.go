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
	reachFor    = 5 * time.Second // how long what a source said of itself holds
	reachWithin = 3 * time.Second // how long it may take to say it
)

// reach remembers for a moment whether each platform's source answers, so that many calls ask it once.
type reach struct {
	mu    sync.Mutex
	known map[string]*known
}

type known struct {
	mu  sync.Mutex // one asks, the others wait for it
	at  time.Time
	err error
}

func (r *reach) of(platform string) *known {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		r.known = map[string]*known{}
	}
	if r.known[platform] == nil {
		r.known[platform] = &known{}
	}
	return r.known[platform]
}

// ask gives what ask says, or what it said a moment ago.
func (k *known) ask(now time.Time, ask func() error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.at.IsZero() || now.Sub(k.at) >= reachFor {
		k.err, k.at = ask(), now
	}
	return k.err
}

// lookAhead asks, before a call's transaction, whether the source of a report to be made can be reached.
func (s *Service) lookAhead(ctx context.Context, call operation.Call, in CreateInput) error {
	if s.Source == nil {
		return provider.ErrNotOffered
	}
	return s.reach.of(in.Platform).ask(call.Now, func() error {
		ctx, cancel := context.WithTimeout(ctx, reachWithin)
		defer cancel()
		return s.Source.Reachable(ctx, in.Platform)
	})
}

// unreachable is the refusal of a report whose source cannot be reached (contract: 502, nothing charged).
func (s *Service) unreachable(ctx context.Context, err error) error {
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
