package server

import (
	"context"

	"pressroom.example/pressroom/internal/domain/account"
)

// Reseal re-encrypts everything with the first sealing key. Unless force is true, it fails without changes if a
// running node lacks that key.
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
		result.Resealed += resealed
		result.Left += left
		if err != nil {
			return result, err
		}
	}
	return result, nil
}
