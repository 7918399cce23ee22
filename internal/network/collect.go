package network

import (
	"context"
	"time"
)

// Collector is a network that tells an account what became of its own posts.
type Collector interface {
	// Collect tells of the posts since a moment, the newest first, at most so many. Errors are *Error, as elsewhere.
	Collect(ctx context.Context, g Grant, since time.Time, most int) (Collected, error)
}

// Reticent is a Collector whose list may lack posts that stand: that one is not in it proves nothing.
type Reticent interface {
	Collector
	Reticent()
}

// Collected is what a network tells an account of itself. A figure that it did not tell is nil, never 0.
type Collected struct {
	Followers *int64
	Posts     []Figures
	// posts may be lacking beside what is older than was asked for: there were too many, or some were left out
	Cut bool
}

// Figures are what a network counted at one post of the account, as of now.
type Figures struct {
	ID       string
	URL      string // of the post, for people
	Text     string
	Format   string // text, image, video, reel, carousel, story, link; empty where it was not told
	PostedAt time.Time
	Reach    *int64 // different people or accounts that saw it
	Views    *int64 // times it was shown or played
	Likes    *int64 // reactions of every sort
	Comments *int64 // and replies
	Shares   *int64 // reposts, quotes, and what was sent on
	Saves    *int64 // bookmarks
	Clicks   *int64 // on links, and on the post where the network counts that
}
