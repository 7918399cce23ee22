package network

import (
	"context"
	"time"
)

// Collector is a network that provides metrics for an account's own posts.
type Collector interface {
	// Collect returns the metrics of at most limit posts that were published since the given time, newest first. Its
	// errors are of type *Error. The Collection may be partly filled even if the error is not nil.
	Collect(ctx context.Context, g Grant, since time.Time, limit int) (Collection, error)
}

// PartialLister is a Collector that may omit published posts, so a post that is missing from its list may still exist.
type PartialLister interface {
	Collector
	ListsPartially()
}

// HiddenLister is a Collector whose list omits posts that only the account's owner can see.
type HiddenLister interface {
	Collector
	// ListHidden returns at most limit hidden posts that were published since the given time, without metrics.
	ListHidden(ctx context.Context, g Grant, since time.Time, limit int) ([]CollectedPost, error)
}

// Collection is a network's analytics of one account. A metric that the network did not provide is nil, never 0.
type Collection struct {
	Followers *int64
	// URL of the account's profile picture; empty if unknown. It may be set even if Collect returned an error.
	Picture   string
	NoPicture bool // the network reports that the account has no picture
	Posts     []CollectedPost
	// posts from the requested period may be missing, because there were too many or Collect skipped some
	Truncated bool
}

// CollectedPost holds the current metrics of one post of the account.
type CollectedPost struct {
	ID       string
	URL      string // URL of the post's web page
	Text     string
	Format   string // text, image, video, reel, carousel, story or link; empty if unknown
	PostedAt time.Time
	Reach    *int64 // unique viewers
	Views    *int64 // impressions or plays
	Likes    *int64 // including all other reactions
	Comments *int64 // including replies
	Shares   *int64 // reposts, quotes and private shares
	Saves    *int64 // bookmarks
	Clicks   *int64 // clicks on links, and on the post if the network counts them
}
