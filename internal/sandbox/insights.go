package sandbox

import (
	"math"
	"time"
)

// tally is what a network has counted at a post.
type tally struct{ views, reach, likes, comments, shares, saves, clicks int64 }

const (
	tallySettles = 30 * time.Hour // after which a post has had about two thirds of what it will ever have
	oneDay       = 24 * time.Hour
)

// followersSince is when the accounts had the followers that they began with.
var followersSince = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// followers is how many follow an account at a moment. It follows from the account and the moment alone.
func followers(platform, account string, now time.Time) int64 {
	throw := dice("followers", platform, account)
	first := math.Exp(7.6 + 0.7*throw.NormFloat64())
	daily := 0.0002 + 0.0008*throw.Float64()
	days := max(0, now.Sub(followersSince).Hours()/oneDay.Hours())
	return int64(first * (1 + daily*days))
}

// count is what the network has counted at a post at a moment. It follows from the post and its age alone: the end of
// it is log-normal, and grows with the followers that the account had when it posted.
func count(p post, now time.Time) tally {
	throw := dice("tally", p.platform, p.id)
	normal := func(middle, spread float64) float64 { return math.Exp(middle + spread*throw.NormFloat64()) }
	views := float64(followers(p.platform, p.account, p.at)) * normal(-0.6, 0.8) * p.draw() * settled(now.Sub(p.at))
	seen := 0.6 + 0.35*throw.Float64() // parts of the views that are of different people
	part := func(middle, spread float64) int64 { return int64(views * min(normal(middle, spread), 0.5)) }
	return tally{
		views: int64(views), reach: int64(views * seen),
		likes: part(-3.2, 0.5), comments: part(-5.4, 0.6), shares: part(-5, 0.6), saves: part(-4.8, 0.6),
		clicks: part(-4, 0.7),
	}
}

// draw is how much more a post is looked at for what it shows.
func (p post) draw() float64 {
	switch {
	case len(p.media) > 1:
		return 1.4
	case len(p.media) == 1 && p.media[0].film():
		return 1.6
	case len(p.media) == 1:
		return 1.2
	}
	return 1
}

// film tells whether a medium is a video.
func (m medium) film() bool { return len(m.Type) > len("video/") && m.Type[:len("video/")] == "video/" }

// settled is the part that a post of an age has had, of what it will ever have.
func settled(age time.Duration) float64 {
	return 1 - math.Exp(-max(0, age.Hours())/tallySettles.Hours())
}
