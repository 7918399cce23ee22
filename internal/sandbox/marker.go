package sandbox

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"time"
)

// The markers that a post's text can contain. A marker acts on every network, or with @NAME on one, as in
// "[sandbox:slow=3@bluesky]". A text can have several, which act in this order.
const (
	markReject       = "reject"        // refuses the content
	markExpiredToken = "expired-token" // once: ends the session that sent the post
	markRateLimit    = "rate-limit"    // refuses the post as too frequent
	markError        = "error"         // once: fails with an internal error
	markSlow         = "slow"          // slow=SECONDS: waits before the post is stored
	markLostAnswer   = "lost-answer"   // once: stores the post and closes the connection without an answer
	// like lost-answer, and calls that would show the post get no answer either
	markUnconfirmed = "unconfirmed"
)

// maxSlow is the longest wait that a marker can ask for.
const maxSlow = 60 * time.Second

// untoldFor is how long an unconfirmed post stays hidden: a little more than the day for which a service looks for it.
const untoldFor = 25 * time.Hour

// errLost closes the connection instead of answering.
var errLost = errors.New("the answer is lost on purpose")

var markerForm = regexp.MustCompile(
	`\[sandbox:(reject|expired-token|rate-limit|error|lost-answer|unconfirmed|slow=([0-9]{1,4}))(?:@([a-z]+))?\]`)

// markers are the markers of a text that concern one network.
type markers struct {
	names map[string]bool
	slow  time.Duration
}

func (m markers) has(name string) bool { return m.names[name] }

// readMarkers returns the markers of text that concern platform. Of several waits the longest counts.
func readMarkers(text, platform string) markers {
	found := markers{names: map[string]bool{}}
	for _, match := range markerForm.FindAllStringSubmatch(text, -1) {
		if match[3] != "" && match[3] != platform {
			continue
		}
		if match[2] == "" {
			found.names[match[1]] = true
			continue
		}
		seconds, _ := strconv.Atoi(match[2]) // at most four digits
		found.slow = max(found.slow, min(time.Duration(seconds)*time.Second, maxSlow))
	}
	return found
}

// once reports whether the post has the marker and the marker has not acted on it before.
func once(ctx context.Context, t tx, platform string, m markers, postID, marker string) (bool, error) {
	if !m.has(marker) {
		return false, nil
	}
	return t.spend(ctx, platform, postID, marker)
}

// loses reports whether the answer to a publication gets lost.
func loses(ctx context.Context, t tx, platform string, m markers, postID string) (bool, error) {
	for _, marker := range []string{markLostAnswer, markUnconfirmed} {
		if lost, err := once(ctx, t, platform, m, postID, marker); lost || err != nil {
			return lost, err
		}
	}
	return false, nil
}

// untold returns errLost if a network must not show a post yet because a marker keeps it unconfirmed.
func untold(platform, text string, at, now time.Time) error {
	if now.Sub(at) < untoldFor && readMarkers(text, platform).has(markUnconfirmed) {
		return errLost
	}
	return nil
}

// untoldAmong is untold for several posts.
func untoldAmong(posts []post, now time.Time) error {
	for _, p := range posts {
		if err := untold(p.platform, p.text, p.at, now); err != nil {
			return err
		}
	}
	return nil
}
