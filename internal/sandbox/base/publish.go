package base

import (
	"context"

	"pressroom.example/pressroom/internal/sandbox/marker"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// Publish runs try and returns the ID of the post. If a marker requests a wait, Publish waits and runs try again. It
// returns the error closed if the sandbox is closed while it waits.
func (s *Server) Publish(closed error, try func(waited bool) (marker.Outcome, error)) (string, error) {
	for waited := false; ; waited = true {
		out, err := try(waited)
		switch {
		case err != nil:
			return "", err
		case out.Wait == 0:
			return out.Post, out.Rejected
		case !s.Pause(out.Wait):
			return "", closed
		}
	}
}

// PublishInTx is like Publish, but runs each attempt in a transaction.
func (s *Server) PublishInTx(
	ctx context.Context, closed error, try func(t store.Tx, waited bool) (marker.Outcome, error),
) (string, error) {
	return s.Publish(closed, func(waited bool) (marker.Outcome, error) {
		var out marker.Outcome
		err := s.Store.InTx(ctx, func(t store.Tx) error {
			var err error
			out, err = try(t, waited)
			return err
		})
		return out, err
	})
}
