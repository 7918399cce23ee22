package sandbox

import (
	"context"
	"regexp"
	"strconv"
	"time"
)

// The markers that a post's text may hold. Each acts on every network, or with @NAME on that one alone, as
// in "[sandbox:slow=3@bluesky]". Several may stand in one text; they act in this order.
const (
	markReject       = "reject"        // the content is refused, each time
	markExpiredToken = "expired-token" // once: the session that sent the post is dead from now on
	markRateLimit    = "rate-limit"    // refused as too frequent, each time
	markError        = "error"         // once: an internal error
	markSlow         = "slow"          // slow=SECONDS: waits before it stores
	markLostAnswer   = "lost-answer"   // once: stored, and the connection cut before the answer
	// like lost-answer, and nothing that would tell of the post is answered afterwards
	markUnconfirmed = "unconfirmed"
)

// maxSlow is the longest that a marker may make an answer wait.
const maxSlow = 60 * time.Second

// untoldFor is how long nothing tells of a post that is to stay unconfirmed: a little longer than the day for which it
// is asked about.
const untoldFor = 25 * time.Hour

var markerForm = regexp.MustCompile(
	`\[sandbox:(reject|expired-token|rate-limit|error|lost-answer|unconfirmed|slow=([0-9]{1,4}))(?:@([a-z]+))?\]`)

// markers are those of a text that concern one network.
type markers struct {
	names map[string]bool
	slow  time.Duration
}

func (m markers) has(name string) bool { return m.names[name] }

// readMarkers finds the markers of text that concern platform. Of several waits the longest counts.
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

// once tells whether the post has the marker and it has not acted yet; from then on it has.
func once(ctx context.Context, t tx, platform string, m markers, postID, marker string) (bool, error) {
	if !m.has(marker) {
		return false, nil
	}
	return t.spend(ctx, platform, postID, marker)
}

// loses tells whether the answer to the publication that is kept now gets lost.
func loses(ctx context.Context, t tx, platform string, m markers, postID string) (bool, error) {
	for _, marker := range []string{markLostAnswer, markUnconfirmed} {
		if lost, err := once(ctx, t, platform, m, postID, marker); lost || err != nil {
			return lost, err
		}
	}
	return false, nil
}

// untold is errCut where a network that was asked would tell of a text that is to stay unconfirmed: it was published at
// that time.
func untold(platform, text string, at, now time.Time) error {
	if now.Sub(at) < untoldFor && readMarkers(text, platform).has(markUnconfirmed) {
		return errCut
	}
	return nil
}

// untoldAmong is untold of the posts that a network would list.
func untoldAmong(posts []post, now time.Time) error {
	for _, p := range posts {
		if err := untold(p.platform, p.text, p.at, now); err != nil {
			return err
		}
	}
	return nil
}
