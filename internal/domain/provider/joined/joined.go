// Package joined combines several providers into one. A provider is used only for queries that earlier providers do not
// support. The server sets the order: the official providers first for metrics, the bridge first for media.
package joined

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"pressroom.example/pressroom/internal/domain/provider"
)

// Provider provides metrics of profiles and hashtags. It returns provider.ErrNotOffered for unsupported queries.
type Provider interface {
	Profile(ctx context.Context, q provider.ProfileQuery) (provider.ProfileMetrics, error)
	Hashtag(ctx context.Context, q provider.HashtagQuery) (provider.HashtagMetrics, error)
}

// MediaProvider is a provider that also provides profile media.
type MediaProvider interface {
	ProfileMedia(ctx context.Context, q provider.Query) (provider.Page, error)
	Fetch(ctx context.Context, address string, maxBytes int64, into io.Writer) error
}

// NamedProvider is a provider with a name. The name prefixes stored URLs and cursors, so it must not change.
type NamedProvider struct {
	Name   string // lowercase letters, digits and _; not http or https
	Source Provider
}

// Source combines providers.
type Source struct{ providers []NamedProvider }

var namePattern = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

// New combines providers. Names must be unique and must not look like a URL scheme.
func New(providers ...NamedProvider) (*Source, error) {
	seen := map[string]bool{"http": true, "https": true}
	for _, p := range providers {
		if !namePattern.MatchString(p.Name) || seen[p.Name] || p.Source == nil {
			return nil, fmt.Errorf("provider %q has no source, or its name is invalid or not unique", p.Name)
		}
		seen[p.Name] = true
	}
	return &Source{providers}, nil
}

// Profile returns the result of the first provider that supports the query.
func (s *Source) Profile(ctx context.Context, q provider.ProfileQuery) (provider.ProfileMetrics, error) {
	for _, p := range s.providers {
		metrics, err := p.Source.Profile(ctx, q)
		if !errors.Is(err, provider.ErrNotOffered) {
			return metrics, err
		}
	}
	return provider.ProfileMetrics{}, provider.ErrNotOffered
}

// Hashtag returns the result of the first provider that supports the query.
func (s *Source) Hashtag(ctx context.Context, q provider.HashtagQuery) (provider.HashtagMetrics, error) {
	for _, p := range s.providers {
		metrics, err := p.Source.Hashtag(ctx, q)
		if !errors.Is(err, provider.ErrNotOffered) {
			return metrics, err
		}
	}
	return provider.HashtagMetrics{}, provider.ErrNotOffered
}

// ProfileMedia returns a page from the first provider that supports the query. Further pages come from the same
// provider. URLs and cursors are prefixed with the provider's name, so that they work after a restart.
func (s *Source) ProfileMedia(ctx context.Context, q provider.Query) (provider.Page, error) {
	hasCursor := q.Cursor != ""
	name, cursor := s.splitName(q.Cursor)
	q.Cursor = cursor
	for _, p := range s.providers {
		media, ok := p.Source.(MediaProvider)
		if !ok || hasCursor && p.Name != name {
			continue
		}
		page, err := media.ProfileMedia(ctx, q)
		if errors.Is(err, provider.ErrNotOffered) {
			continue
		}
		return p.prefixAddresses(page), err
	}
	if hasCursor && name == "" {
		return provider.Page{}, errUnknownSource
	}
	return provider.Page{}, provider.ErrNotOffered
}

// prefixAddresses adds the provider's name to the URLs and the cursor of a page.
func (n NamedProvider) prefixAddresses(page provider.Page) provider.Page {
	for i := range page.Items {
		page.Items[i].URL = n.Name + ":" + page.Items[i].URL
	}
	if page.Next != "" {
		page.Next = n.Name + ":" + page.Next
	}
	return page
}

var errUnknownSource = &provider.UnavailableError{Err: errors.New("the provider of this item is no longer configured")}

// splitName splits a stored URL or cursor into the provider's name and the rest. Earlier releases had only one provider
// and did not store a prefix. If there is no prefix, splitName returns the name of the only provider with media, or ""
// if there are several.
func (s *Source) splitName(address string) (string, string) {
	name, rest, hasPrefix := strings.Cut(address, ":")
	var names []string
	for _, p := range s.providers {
		if _, ok := p.Source.(MediaProvider); ok {
			if hasPrefix && p.Name == name {
				return name, rest
			}
			names = append(names, p.Name)
		}
	}
	if len(names) == 1 {
		return names[0], address
	}
	return "", address
}

// Fetch downloads the file of an item from the item's provider. It returns the errors of that provider.
func (s *Source) Fetch(ctx context.Context, address string, limit int64, into io.Writer) error {
	name, address := s.splitName(address)
	for _, p := range s.providers {
		if media, ok := p.Source.(MediaProvider); ok && p.Name == name {
			return media.Fetch(ctx, address, limit, into)
		}
	}
	return errUnknownSource
}
