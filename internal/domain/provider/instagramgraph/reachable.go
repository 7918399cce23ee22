package instagramgraph

import (
	"context"
	"net/url"

	"pressroom.example/pressroom/internal/domain/provider"
)

// Reachable checks whether Instagram answers one of the accounts. Errors are provider.ErrNotOffered for other platforms
// and *provider.Unavailable.
func (s *Source) Reachable(ctx context.Context, platform string) error {
	if platform != provider.Instagram {
		return provider.ErrNotOffered
	}
	return s.tryAccounts(ctx, func(one *account) error {
		var said struct{}
		return s.get(ctx, one, one.id, url.Values{"fields": {"id"}}, &said)
	})
}
