package tiktokresearch

import (
	"context"

	"pressroom.example/pressroom/internal/domain/provider"
)

// Reachable checks that TikTok issues a token and that requests are not paused. If a token is cached, it sends no
// request, because requests count against the daily quota. It returns provider.ErrNotOffered for other platforms, and
// *provider.UnavailableError if the check fails.
func (s *Source) Reachable(ctx context.Context, platform string) error {
	if platform != provider.TikTok {
		return provider.ErrNotOffered
	}
	_, err := s.accessToken(ctx, "")
	return err
}
