package network

import (
	"context"
	"time"
)

// Collector is a network that returns analytics of an account's own posts.
type Collector interface {
	// Collect returns metrics of the posts since a time, newest first, limited to a number of posts. Its errors are of
	// type *Error. The result may be partly filled beside an error.
	Collect(ctx context.Context, g Grant, since time.Time, limit int) (Collection, error)
}

// PartialLister is a Collector whose list may lack published posts, so absence from it proves nothing.
type PartialLister interface {
	Collector
	ListsPartially()
}

// Collection is a network's analytics of one account. A figure that the network did not provide is nil, never 0.
type Collection struct {
	Followers *int64
	// URL of the account's profile picture; empty if unknown. It may be set beside an error.
	Picture   string
	NoPicture bool // the account has no picture, as the network says
	Posts     []CollectedPost
	// posts of the requested time may be missing, because there were too many or some were skipped
	Truncated bool
}

// CollectedPost holds the current metrics of one post of the account.
type CollectedPost struct {
	ID       string
	URL      string // of the post, for people
	Text     string
	Format   string // text, image, video, reel, carousel, story or link; empty if unknown
	PostedAt time.Time
	Reach    *int64 // unique viewers
	Views    *int64 // impressions or plays
	Likes    *int64 // reactions of every kind
	Comments *int64 // including replies
	Shares   *int64 // reposts, quotes and private shares
	Saves    *int64 // bookmarks
	Clicks   *int64 // on links, and on the post if the network counts them
}
