package wire

import (
	"slices"
	"time"

	"pressroom.example/pressroom/internal/domain/provider"
)

// Posts collects posts page by page.
type Posts struct {
	Since time.Time // posts before this time are dropped
	Limit int       // maximum number of posts

	posts     []provider.Post
	seen      map[string]bool
	truncated bool
}

// IsFull reports whether the limit has been reached.
func (p *Posts) IsFull() bool { return len(p.posts) >= p.Limit }

// IsTruncated reports whether posts were dropped because of the limit.
func (p *Posts) IsTruncated() bool { return p.truncated }

// Add adds the new posts of a page. It reports false if no further pages are needed, because the limit is reached, the
// last post of the page is before Since, or the page has no new posts.
func (p *Posts) Add(page []provider.Post) bool {
	if p.seen == nil {
		p.seen = map[string]bool{}
	}
	added := false
	for _, post := range page {
		if p.seen[post.ID] {
			continue
		}
		added, p.seen[post.ID] = true, true
		switch {
		case p.isTooOld(post):
		case p.IsFull():
			p.truncated = true
		default:
			p.posts = append(p.posts, post)
		}
	}
	return added && !p.IsFull() && !p.isTooOld(page[len(page)-1])
}

// isTooOld reports whether a post is known to be before Since.
func (p *Posts) isTooOld(post provider.Post) bool {
	return !post.TakenAt.IsZero() && post.TakenAt.Before(p.Since)
}

// All returns the posts in the order received.
func (p *Posts) All() []provider.Post { return p.posts }

// NewestFirst returns the posts, newest first. Posts without a time are last.
func (p *Posts) NewestFirst() []provider.Post {
	slices.SortStableFunc(p.posts, func(a, b provider.Post) int { return b.TakenAt.Compare(a.TakenAt) })
	return p.posts
}
