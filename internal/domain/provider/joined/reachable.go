package joined

import (
	"context"
	"errors"

	"pressroom.example/pressroom/internal/domain/provider"
)

// reachable is a provider that can be checked quickly.
type reachable interface {
	Reachable(ctx context.Context, platform string) error
}

// Reachable checks whether a provider with figures of a platform answers. It returns provider.ErrNotOffered if there is
// none.
func (s *Source) Reachable(ctx context.Context, platform string) error {
	err := provider.ErrNotOffered
	for _, one := range s.all {
		checker, can := one.Source.(reachable)
		if !can {
			return nil
		}
		if err = checker.Reachable(ctx, platform); !errors.Is(err, provider.ErrNotOffered) {
			return err
		}
	}
	return err
}
