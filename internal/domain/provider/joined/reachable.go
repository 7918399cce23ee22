package joined

import (
	"context"
	"errors"

	"pressroom.example/pressroom/internal/domain/provider"
)

// reachable is a provider that can check quickly whether it is available.
type reachable interface {
	Reachable(ctx context.Context, platform string) error
}

// Reachable checks whether the first provider that supports a platform is reachable. A provider that does not have such
// a check counts as reachable. Reachable returns provider.ErrNotOffered if no provider supports the platform.
func (s *Source) Reachable(ctx context.Context, platform string) error {
	err := provider.ErrNotOffered
	for _, p := range s.providers {
		checker, ok := p.Source.(reachable)
		if !ok {
			return nil
		}
		if err = checker.Reachable(ctx, platform); !errors.Is(err, provider.ErrNotOffered) {
			return err
		}
	}
	return err
}
