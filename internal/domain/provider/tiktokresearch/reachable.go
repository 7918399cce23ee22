package tiktokresearch

import (
	"context"

	"pressroom.example/pressroom/internal/domain/provider"
)

// Reachable checks whether TikTok issues a token and is not paused. It requests none while it has one, because requests
// count against the daily quota. Errors are provider.ErrNotOffered for other platforms and *provider.Unavailable.
func (s *Source) Reachable(ctx context.Context, platform string) error {
	if platform != provider.TikTok {
		return provider.ErrNotOffered
	}
	_, err := s.accessToken(ctx, "")
	return err
}
