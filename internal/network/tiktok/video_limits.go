package tiktok

import (
	"fmt"
	"math"
	"sync"
	"time"

	"pressroom.example/pressroom/internal/network"
)

const (
	maxVideoLimits = 10_000         // accounts
	videoLimitTTL  = 24 * time.Hour // age after which a limit is ignored
)

// videoLimits holds the maximum video duration of each account, as last returned by TikTok.
type videoLimits struct {
	now func() time.Time

	mu        sync.Mutex
	byAccount map[string]videoLimit
}

type videoLimit struct {
	maxDuration time.Duration // maximum duration; 0 if TikTok returned none
	readAt      time.Time
}

func (l *videoLimits) store(account string, maxDuration time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byAccount == nil || len(l.byAccount) >= maxVideoLimits {
		l.byAccount = map[string]videoLimit{}
	}
	l.byAccount[account] = videoLimit{maxDuration, l.now()}
}

// check returns a problem if a video is too long for the account. It does not block the post, because the account's
// settings may have changed.
func (l *videoLimits) check(c network.Content, choices network.TikTokOptions) []network.Problem {
	if c.Account == "" || choices.Mode == network.TikTokInbox || len(c.Media) == 0 || c.Media[0].Kind != network.Video {
		return nil
	}
	l.mu.Lock()
	limit := l.byAccount[c.Account]
	l.mu.Unlock()
	duration := c.Media[0].Duration
	if limit.maxDuration == 0 || duration <= limit.maxDuration || l.now().Sub(limit.readAt) > videoLimitTTL {
		return nil
	}
	problem := network.Problem{Code: "media_too_long", Message: fmt.Sprintf(
		"The video lasts %.0f seconds; TikTok allows at most %.0f for this account. Trim it.",
		math.Ceil(duration.Seconds()), limit.maxDuration.Seconds())}
	return []network.Problem{problem}
}
