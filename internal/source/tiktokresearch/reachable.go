package tiktokresearch

import (
	"context"

	"pressroom/internal/source"
)

// Reachable tells whether TikTok gives the client a token and does not want to be left alone. It asks for none while it
// has one: every question counts against the day's quota. Errors are source.ErrNotOffered of other platforms, and
// *source.Unavailable.
func (s *Source) Reachable(ctx context.Context, platform string) error {
	if platform != source.TikTok {
		return source.ErrNotOffered
	}
	_, err := s.access(ctx, "")
	return err
}
