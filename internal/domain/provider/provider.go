// Package provider defines the queries, results and errors that all providers of public profile and hashtag data share.
// The providers are in the packages below this one.
package provider

import (
	"errors"
	"slices"
	"time"
)

// The supported platforms.
const (
	Instagram = "instagram"
	TikTok    = "tiktok"
)

// The types of a profile's media. MediaTypes lists the types of a platform.
const (
	Profile    = "profile" // the avatar, then the posts
	Avatar     = "avatar"
	Posts      = "posts"
	Reels      = "reels"
	Stories    = "stories"
	Highlights = "highlights"
	Playlists  = "playlists"
)

// The kinds of media items.
const (
	Image = "image"
	Video = "video"
)

// MediaTypes returns the media types of a platform, or nil if the platform is unknown.
func MediaTypes(platform string) []string {
	return slices.Clone(mediaTypes[platform])
}

var mediaTypes = map[string][]string{
	Instagram: {Profile, Avatar, Posts, Reels, Stories, Highlights},
	TikTok:    {Profile, Avatar, Posts, Playlists},
}

// HasPages reports whether a media type is returned in pages.
func HasPages(kind string) bool {
	return kind == Profile || kind == Posts || kind == Reels
}

// Query requests a page of a profile's media.
type Query struct {
	Platform string
	Type     string // one of MediaTypes
	Username string // normalized by ParseUsername
	Cursor   string // Page.Next of the previous page; empty for the first page
	Limit    int    // maximum number of items
}

// Page is a page of a profile's media, newest first.
type Page struct {
	Items []Item
	Next  string // Query.Cursor of the next page; empty on the last page
}

// Item is an image or video. Unknown fields are zero. Texts and URLs are untrusted.
type Item struct {
	ID            string // assigned by the provider; 1–100 characters of A–Z a–z 0–9 _ -
	Kind          string // Image or Video
	URL           string // of the file; temporary
	TakenAt       time.Time
	Caption       string
	Width, Height int // pixels
	Duration      time.Duration
}

var (
	// ErrNotFound is returned if the network has no such profile or hashtag.
	ErrNotFound = errors.New("profile not found")
	// ErrPrivate is returned if the profile is private.
	ErrPrivate = errors.New("the profile is private")
	// ErrTooLarge is returned if a file exceeds the requested limit.
	ErrTooLarge = errors.New("the file is too large")
)

// UnavailableError is returned if a provider temporarily cannot be used: it is unreachable or rate limited, or its
// response is invalid.
type UnavailableError struct {
	After time.Duration // requested delay before a retry; 0 if unknown
	Err   error         // for the log
}

func (u *UnavailableError) Error() string { return "the provider is unavailable: " + u.Err.Error() }

func (u *UnavailableError) Unwrap() error { return u.Err }
