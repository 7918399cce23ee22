package provider

import (
	"errors"
	"time"
)

// The formats of a post.
const (
	FormatImage    = "image"
	FormatVideo    = "video"
	FormatReel     = "reel" // Instagram's short video
	FormatCarousel = "carousel"
)

// ErrNotOffered says that a source never tells what was asked for, on that platform: another one may.
var ErrNotOffered = errors.New("the source does not tell this")

// ProfileQuery asks for the public figures of a profile.
type ProfileQuery struct {
	Platform string
	Username string    // as Username gives it
	Since    time.Time // posts before it are not wanted
	Most     int       // posts at most
}

// ProfileFigures is what stands publicly about a profile and its posts.
type ProfileFigures struct {
	Account Account
	Posts   []Post // the newest first
}

// Account is a profile. A figure that was not told is nil, never 0. The texts are a stranger's.
type Account struct {
	Username                  string
	DisplayName               string
	Biography                 string
	Website                   string
	Followers, Follows, Posts *int64
	MeasuredAt                time.Time
}

// Post is one public post. A figure that was not told is nil, never 0; a time or text that was not told is zero. The
// texts and the address are a stranger's.
type Post struct {
	ID       string // the network's own, 1–100 characters of A–Z a–z 0–9 _ -
	Format   string // one of the formats; empty where it was not told
	TakenAt  time.Time
	Caption  string
	URL      string // of the post, for people
	Hashtags []string
	Likes    *int64
	Comments *int64
	Shares   *int64
	Views    *int64
	Duration time.Duration
}

// HashtagQuery asks for the public figures of a hashtag.
type HashtagQuery struct {
	Platform string
	Hashtag  string // as Hashtag gives it
	Most     int    // posts at most, of each kind
	// Background says that nobody waits for it. A source that may be asked for few hashtags leaves most of them to those who
	// do, and is unavailable instead.
	Background bool
	// Spare says that no team asked for it either: a source that may be asked for few hashtags leaves part of what the
	// background may ask for to what teams keep in their lists.
	Spare bool
}

// HashtagFigures is what stands publicly under a hashtag. No official source tells its size.
type HashtagFigures struct {
	Hashtag    string
	Size       *int64    // posts in all, where the source measured it
	Top        []Post    // what the network shows as its best, of any age
	Recent     []Post    // the newest first
	From       time.Time // Recent holds every post from then until MeasuredAt; zero where the source cannot tell
	MeasuredAt time.Time
}
