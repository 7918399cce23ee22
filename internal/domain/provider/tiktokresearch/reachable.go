package tiktokresearch

import (
	"context"

	"pressroom/internal/domain/provider"
)

// Reachable tells whether TikTok gives the client a token and does not want to be left alone. It asks for none while it
// has one: every question counts against the day's quota. Errors are provider.ErrNotOffered of other platforms, and
// *provider.Unavailable.
func (s *Source) Reachable(ctx context.Context, platform string) error {
	if platform != provider.TikTok {
		return provider.ErrNotOffered
	}
	_, err := s.access(ctx, "")
	return err
}
