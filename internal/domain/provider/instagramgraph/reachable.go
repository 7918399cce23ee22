package instagramgraph

import (
	"context"
	"net/url"

	"pressroom.example/pressroom/internal/domain/provider"
)

// Reachable checks whether Instagram accepts a request from at least one of the configured accounts. It returns
// provider.ErrNotOffered for other platforms, and *provider.UnavailableError if the request fails for all accounts.
func (s *Source) Reachable(ctx context.Context, platform string) error {
	if platform != provider.Instagram {
		return provider.ErrNotOffered
	}
	return s.tryAccounts(ctx, func(acct *accountState) error {
		var parsed struct{}
		return s.get(ctx, acct, acct.id, url.Values{"fields": {"id"}}, &parsed)
	})
}
