// Package marker implements markers. A marker is a text in a post, such as [sandbox:reject], that makes a network of
// the sandbox simulate a failure.
package marker

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"time"

	"pressroom.example/pressroom/internal/sandbox/store"
)

// The markers that a post's text can contain. A marker applies to all networks, or to a single network if it ends in
// @NAME, as in "[sandbox:slow=3@bluesky]". If a text has several markers, Attempt.Publish applies them in this order:
// reject, expired-token, rate-limit, error, slow, and then lost-answer and unconfirmed. TikTok uses a different order.
const (
	Reject       = "reject"        // rejects the content
	ExpiredToken = "expired-token" // once: ends the session that sent the request
	RateLimit    = "rate-limit"    // rejects the post with a rate limit error
	Failure      = "error"         // once: fails with an internal error
	slow         = "slow"          // slow=SECONDS: waits before the post is stored
	lostResponse = "lost-answer"   // once: stores the post and closes the connection without a response
	// unconfirmed has the same effect as lost-answer. In addition, until unconfirmedDuration has passed, the sandbox
	// does not respond to requests whose response would contain the post.
	unconfirmed = "unconfirmed"
	Drop        = "drop" // stores the post and rejects it later; only on YouTube
	// Unapproved simulates an app that YouTube, TikTok or Pinterest has not approved or, on X, an app without credits.
	// Other networks ignore it.
	Unapproved = "unapproved"
	// NotFound hides a container for a few seconds after it is ready, so that publishing fails. The real Threads
	// sometimes does this.
	NotFound    = "media-not-found"
	Draft       = "draft"         // keeps a video as a draft that its owner has to share; only on Facebook
	TooMuchData = "too-much-data" // rejects requests for long pages that contain this post; only on Facebook
)

// MaxSlow is the maximum wait that a marker can request.
const MaxSlow = 60 * time.Second

// unconfirmedDuration is how long an unconfirmed post remains hidden. It is longer than 24 hours, the time for which
// pressroom looks for an unconfirmed post.
const unconfirmedDuration = 25 * time.Hour

// ErrLost makes the sandbox close the connection without sending a response.
var ErrLost = errors.New("a marker drops the response")

var markerPattern = regexp.MustCompile(
	`\[sandbox:(reject|expired-token|rate-limit|error|lost-answer|unconfirmed|drop|unapproved|media-not-found|too-much-data|draft|` +
		`slow=([0-9]{1,4}))(?:@([a-z]+))?\]`)

// Set contains the markers in a text that apply to one network.
type Set struct {
	names map[string]bool
	Slow  time.Duration
}

// Has reports whether the set has a marker.
func (m Set) Has(name string) bool { return m.names[name] }

// Read returns the markers of text that apply to platform. If there are several waits, the longest one applies.
func Read(text, platform string) Set {
	set := Set{names: map[string]bool{}}
	for _, match := range markerPattern.FindAllStringSubmatch(text, -1) {
		if match[3] != "" && match[3] != platform {
			continue
		}
		if match[2] == "" {
			set.names[match[1]] = true
			continue
		}
		seconds, _ := strconv.Atoi(match[2]) // at most four digits
		set.Slow = max(set.Slow, min(time.Duration(seconds)*time.Second, MaxSlow))
	}
	return set
}

// ConsumeOnce reports whether the set has the marker and the marker has not yet affected the post. In that case, it
// records that the marker has affected the post.
func ConsumeOnce(ctx context.Context, t store.Tx, platform string, m Set, postID, marker string) (bool, error) {
	if !m.Has(marker) {
		return false, nil
	}
	return t.ConsumeMarker(ctx, platform, postID, marker)
}

// LosesResponse reports whether a marker drops the response to a publication, and records that the marker has affected
// the post.
func LosesResponse(ctx context.Context, t store.Tx, platform string, m Set, postID string) (bool, error) {
	for _, marker := range []string{lostResponse, unconfirmed} {
		if lost, err := ConsumeOnce(ctx, t, platform, m, postID, marker); lost || err != nil {
			return lost, err
		}
	}
	return false, nil
}

// Withhold returns ErrLost if a marker still hides the post.
func Withhold(platform, text string, at, now time.Time) error {
	if now.Sub(at) < unconfirmedDuration && Read(text, platform).Has(unconfirmed) {
		return ErrLost
	}
	return nil
}

// WithholdAny returns ErrLost if a marker still hides one of the posts.
func WithholdAny(posts []store.Post, now time.Time) error {
	for _, p := range posts {
		if err := Withhold(p.Platform, p.Text, p.At, now); err != nil {
			return err
		}
	}
	return nil
}
