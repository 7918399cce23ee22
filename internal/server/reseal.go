package server

import (
	"context"

	"pressroom.example/pressroom/internal/domain/account"
)

// Reseal re-encrypts all stored secrets with the first sealing key. If a running node does not have that key, Reseal
// returns an error and changes nothing, unless force is true.
func (s *Server) Reseal(ctx context.Context, force bool) (account.ResealResult, error) {
	reseal := s.Accounts.Reseal
	if force {
		reseal = s.Accounts.ResealUnchecked
	}
	result, err := reseal(ctx)
	if err != nil {
		return result, err
	}
	for _, reseal := range []func(context.Context) (int, int, error){s.TOTP.Reseal, s.Notifications.Reseal} {
		resealed, left, err := reseal(ctx)
		result.ResealedCount += resealed
		result.Left += left
		if err != nil {
			return result, err
		}
	}
	return result, nil
}
