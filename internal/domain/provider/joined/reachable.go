package joined

import (
	"context"
	"errors"

	"pressroom/internal/domain/provider"
)

// reachable is a source that can be asked quickly whether it would answer.
type reachable interface {
	Reachable(ctx context.Context, platform string) error
}

// Reachable tells whether a source that has figures of a platform answers now; provider.ErrNotOffered where none has any.
func (s *Source) Reachable(ctx context.Context, platform string) error {
	err := provider.ErrNotOffered
	for _, one := range s.all {
		asked, can := one.Source.(reachable)
		if !can {
			return nil
		}
		if err = asked.Reachable(ctx, platform); !errors.Is(err, provider.ErrNotOffered) {
			return err
		}
	}
	return err
}
