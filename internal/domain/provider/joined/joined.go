// Package joined makes one source of several, in the operator's order: the next is asked only for what one never tells.
package joined

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"pressroom/internal/domain/provider"
)

// Figures is a source. What it never tells is provider.ErrNotOffered.
type Figures interface {
	Profile(ctx context.Context, q provider.ProfileQuery) (provider.ProfileFigures, error)
	Hashtag(ctx context.Context, q provider.HashtagQuery) (provider.HashtagFigures, error)
}

// Media is a source that has profiles' media too.
type Media interface {
	ProfileMedia(ctx context.Context, q provider.Query) (provider.Page, error)
	Fetch(ctx context.Context, address string, most int64, into io.Writer) error
}

// Named is a source under a name, which stands in what is kept of its media: it has to stay the same.
type Named struct {
	Name   string // of letters, digits and _; neither http nor https
	Source Figures
}

// Source is several sources.
type Source struct{ all []Named }

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

// New joins sources. Names that cannot be told apart from what they stand before, or from one another, are an error.
func New(all ...Named) (*Source, error) {
	seen := map[string]bool{"http": true, "https": true}
	for _, one := range all {
		if !nameForm.MatchString(one.Name) || seen[one.Name] || one.Source == nil {
			return nil, fmt.Errorf("the source %q has no name of its own, or is none", one.Name)
		}
		seen[one.Name] = true
	}
	return &Source{all}, nil
}

// Profile is what the first source tells that tells it at all.
func (s *Source) Profile(ctx context.Context, q provider.ProfileQuery) (provider.ProfileFigures, error) {
	for _, one := range s.all {
		figures, err := one.Source.Profile(ctx, q)
		if !errors.Is(err, provider.ErrNotOffered) {
			return figures, err
		}
	}
	return provider.ProfileFigures{}, provider.ErrNotOffered
}

// Hashtag is what the first source tells that tells it at all.
func (s *Source) Hashtag(ctx context.Context, q provider.HashtagQuery) (provider.HashtagFigures, error) {
	for _, one := range s.all {
		figures, err := one.Source.Hashtag(ctx, q)
		if !errors.Is(err, provider.ErrNotOffered) {
			return figures, err
		}
	}
	return provider.HashtagFigures{}, provider.ErrNotOffered
}

// ProfileMedia is what the first source has that has it at all; a further page is its too. Addresses and cursors begin
// with the source's name, so that whoever keeps them needs to know no more, also after a restart.
func (s *Source) ProfileMedia(ctx context.Context, q provider.Query) (provider.Page, error) {
	further := q.Cursor != ""
	name, cursor := s.split(q.Cursor)
	q.Cursor = cursor
	for _, one := range s.all {
		media, has := one.Source.(Media)
		if !has || further && one.Name != name {
			continue
		}
		page, err := media.ProfileMedia(ctx, q)
		if errors.Is(err, provider.ErrNotOffered) {
			continue
		}
		return one.sign(page), err
	}
	if further && name == "" {
		return provider.Page{}, errForgotten
	}
	return provider.Page{}, provider.ErrNotOffered
}

// sign writes the source's name before what is kept of a page.
func (n Named) sign(page provider.Page) provider.Page {
	for i := range page.Items {
		page.Items[i].URL = n.Name + ":" + page.Items[i].URL
	}
	if page.Next != "" {
		page.Next = n.Name + ":" + page.Next
	}
	return page
}

var errForgotten = &provider.Unavailable{Err: errors.New("the source that this is of is not joined any more")}

// split takes the name of a source off what is kept of its media. What has none is from before there were several, and
// is that of the only source that has media, if there is one alone.
func (s *Source) split(kept string) (string, string) {
	name, rest, named := strings.Cut(kept, ":")
	var holders []string
	for _, one := range s.all {
		if _, has := one.Source.(Media); has {
			if named && one.Name == name {
				return name, rest
			}
			holders = append(holders, one.Name)
		}
	}
	if len(holders) == 1 {
		return holders[0], kept
	}
	return "", kept
}

// Fetch writes the bytes of an item to into, by the source whose item it is. Its errors are that source's.
func (s *Source) Fetch(ctx context.Context, address string, most int64, into io.Writer) error {
	name, address := s.split(address)
	for _, one := range s.all {
		if media, has := one.Source.(Media); has && one.Name == name {
			return media.Fetch(ctx, address, most, into)
		}
	}
	return errForgotten
}
