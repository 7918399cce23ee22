package joined

import (
	"context"
	"errors"

	"pressroom/internal/source"
)

// reachable is a source that can be asked quickly whether it would answer.
type reachable interface {
	Reachable(ctx context.Context, platform string) error
}

// Reachable tells whether a source that has figures of a platform answers now; source.ErrNotOffered where none has any.
func (s *Source) Reachable(ctx context.Context, platform string) error {
	err := source.ErrNotOffered
	for _, one := range s.all {
		asked, can := one.Source.(reachable)
		if !can {
			return nil
		}
		if err = asked.Reachable(ctx, platform); !errors.Is(err, source.ErrNotOffered) {
			return err
		}
	}
	return err
}
