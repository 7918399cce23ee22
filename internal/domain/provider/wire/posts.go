package wire

import (
	"slices"
	"time"

	"pressroom/internal/domain/provider"
)

// Posts gathers a profile's or a hashtag's posts page by page.
type Posts struct {
	Since time.Time // those before it are not wanted
	Most  int       // so many at most

	taken []provider.Post
	seen  map[string]bool
	cut   bool
}

// Full tells whether there are as many as are wanted.
func (p *Posts) Full() bool { return len(p.taken) >= p.Most }

// Cut tells whether some were left out for there were enough.
func (p *Posts) Cut() bool { return p.cut }

// Add takes a page, each post once. It is false where further pages are not needed: there are enough, the page ends
// before Since, or it brought nothing new.
func (p *Posts) Add(page []provider.Post) bool {
	if p.seen == nil {
		p.seen = map[string]bool{}
	}
	brought := false
	for _, post := range page {
		if p.seen[post.ID] {
			continue
		}
		brought, p.seen[post.ID] = true, true
		switch {
		case p.early(post):
		case p.Full():
			p.cut = true
		default:
			p.taken = append(p.taken, post)
		}
	}
	return brought && !p.Full() && !p.early(page[len(page)-1])
}

// early tells whether a post is known to be older than what is wanted.
func (p *Posts) early(post provider.Post) bool {
	return !post.TakenAt.IsZero() && post.TakenAt.Before(p.Since)
}

// Taken is what was gathered, in the order in which it came.
func (p *Posts) Taken() []provider.Post { return p.taken }

// Newest is what was gathered, the newest first, and those without a time last.
func (p *Posts) Newest() []provider.Post {
	slices.SortStableFunc(p.taken, func(a, b provider.Post) int { return b.TakenAt.Compare(a.TakenAt) })
	return p.taken
}
