package provider

import (
	"errors"
	"time"
)

// The formats of posts.
const (
	FormatImage    = "image"
	FormatVideo    = "video"
	FormatReel     = "reel" // Instagram's short video
	FormatCarousel = "carousel"
)

// ErrNotOffered is returned if a provider does not support a query for that platform. Another provider may support it.
var ErrNotOffered = errors.New("not offered by the provider")

// ProfileQuery requests the public metrics of a profile.
type ProfileQuery struct {
	Platform  string
	Username  string    // normalized by ParseUsername
	Since     time.Time // posts before this time are not returned
	PostLimit int       // maximum number of posts
}

// ProfileMetrics holds the public metrics of a profile and its posts.
type ProfileMetrics struct {
	Account Account
	Posts   []Post // newest first
}

// Account is a public profile. Unknown metrics are nil, never 0. Texts are untrusted.
type Account struct {
	Username                  string
	DisplayName               string
	Biography                 string
	Website                   string
	Followers, Follows, Posts *int64
	MeasuredAt                time.Time
}

// Post is a public post. Unknown metrics are nil, never 0. Unknown times and texts are zero. Texts and URLs are
// untrusted.
type Post struct {
	ID       string // assigned by the network; 1–100 characters of A–Z a–z 0–9 _ -
	Format   string // one of the formats, or empty if unknown
	TakenAt  time.Time
	Caption  string
	URL      string // of the post's page
	Hashtags []string
	Likes    *int64
	Comments *int64
	Shares   *int64
	Views    *int64
	Duration time.Duration
}

// HashtagQuery requests the public metrics of a hashtag.
type HashtagQuery struct {
	Platform  string
	Hashtag   string // normalized by ParseHashtag
	PostLimit int    // maximum number of posts of each kind
	// Background marks a query that nobody waits for. A provider with a small quota reserves most of it for other
	// queries and returns an UnavailableError.
	Background bool
	// LowPriority marks a background query that no team requested. It may use only part of the background quota.
	LowPriority bool
}

// HashtagMetrics holds the public metrics of a hashtag. No official API returns a hashtag's size.
type HashtagMetrics struct {
	Hashtag    string
	Size       *int64    // total number of posts, if known
	Top        []Post    // top posts as ranked by the network, of any age
	Recent     []Post    // newest first
	From       time.Time // Recent is complete from this time to MeasuredAt; zero if unknown
	MeasuredAt time.Time
}
