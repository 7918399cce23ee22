package base

import (
	"context"

	"pressroom.example/pressroom/internal/sandbox/marker"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// Publish calls attempt and returns the ID of the post. If a marker requests a wait, Publish waits and calls attempt
// again. If the sandbox closes while Publish waits, it returns errClosed.
func (s *Server) Publish(errClosed error, attempt func(waited bool) (marker.Outcome, error)) (string, error) {
	for waited := false; ; waited = true {
		outcome, err := attempt(waited)
		switch {
		case err != nil:
			return "", err
		case outcome.Wait == 0:
			return outcome.Post, outcome.ClientErr
		case !s.Pause(outcome.Wait):
			return "", errClosed
		}
	}
}

// PublishInTx is like Publish, but it runs each attempt in a transaction.
func (s *Server) PublishInTx(
	ctx context.Context, errClosed error, attempt func(t store.Tx, waited bool) (marker.Outcome, error),
) (string, error) {
	return s.Publish(errClosed, func(waited bool) (marker.Outcome, error) {
		var outcome marker.Outcome
		err := s.Store.InTx(ctx, func(t store.Tx) error {
			var err error
			outcome, err = attempt(t, waited)
			return err
		})
		return outcome, err
	})
}
