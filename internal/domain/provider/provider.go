// Package provider holds the words for what stands publicly on somebody's profile at a network: what can be asked
// for, what comes back, and why it may not. Where it comes from is one folder below this one for each way.
package provider

import (
	"errors"
	"slices"
	"time"
)

// The platforms whose profiles can be asked for.
const (
	Instagram = "instagram"
	TikTok    = "tiktok"
)

// The types of media that a profile has. Which platform has which, Types tells.
const (
	Profile    = "profile" // the avatar, then the posts
	Avatar     = "avatar"
	Posts      = "posts"
	Reels      = "reels"
	Stories    = "stories"
	Highlights = "highlights"
	Playlists  = "playlists"
)

// The kinds of an item.
const (
	Image = "image"
	Video = "video"
)

// Types lists what can be asked for of a platform's profiles; nothing of an unknown platform.
func Types(platform string) []string {
	return slices.Clone(types[platform])
}

var types = map[string][]string{
	Instagram: {Profile, Avatar, Posts, Reels, Stories, Highlights},
	TikTok:    {Profile, Avatar, Posts, Playlists},
}

// Pages tells whether a type can have further pages. The others come as one.
func Pages(kind string) bool {
	return kind == Profile || kind == Posts || kind == Reels
}

// Query asks for a page of a profile's media.
type Query struct {
	Platform string
	Type     string // one of Types
	Username string // as Username gives it
	Cursor   string // Page.Next of the page before; empty for the first
	Limit    int    // items at most
}

// Page is some of a profile's media, the newest first.
type Page struct {
	Items []Item
	Next  string // Query.Cursor of the next page; empty on the last
}

// Item is one image or video. What the source did not tell is zero. The text and the address are a stranger's.
type Item struct {
	ID            string // the source's own, 1–100 characters of A–Z a–z 0–9 _ -
	Kind          string // Image or Video
	URL           string // where its bytes are, for a while
	TakenAt       time.Time
	Caption       string
	Width, Height int // pixels
	Duration      time.Duration
}

var (
	// ErrNotFound says that the network has no such profile.
	ErrNotFound = errors.New("there is no such profile")
	// ErrPrivate says that the profile is not shown to the public.
	ErrPrivate = errors.New("the profile is private")
	// ErrTooLarge says that a file is larger than what was to be taken.
	ErrTooLarge = errors.New("the file is too large")
)

// Unavailable says that a source cannot tell now: out of reach, asked too often, or not understood.
type Unavailable struct { //nolint:errname // it reads provider.Unavailable
	After time.Duration // how long it asked to be left alone; 0 where it did not say
	Err   error         // what happened, for the log
}

func (u *Unavailable) Error() string { return "the source is unavailable: " + u.Err.Error() }

func (u *Unavailable) Unwrap() error { return u.Err }
