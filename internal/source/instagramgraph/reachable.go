package instagramgraph

import (
	"context"
	"net/url"

	"pressroom/internal/source"
)

// Reachable tells whether Instagram answers one of the accounts. Errors are source.ErrNotOffered of other platforms, and
// *source.Unavailable.
func (s *Source) Reachable(ctx context.Context, platform string) error {
	if platform != source.Instagram {
		return source.ErrNotOffered
	}
	return s.each(ctx, func(one *account) error {
		var said struct{}
		return s.get(ctx, one, one.id, url.Values{"fields": {"id"}}, &said)
	})
}
