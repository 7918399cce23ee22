package sandbox

import (
	"math"
	"time"
)

// tally holds the counts of a post.
type tally struct{ views, reach, likes, comments, shares, saves, clicks int64 }

const (
	tallySettles = 30 * time.Hour // by which a post has about two thirds of its final counts
	oneDay       = 24 * time.Hour
)

// followersSince is when accounts have their initial number of followers.
var followersSince = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// followers returns an account's number of followers at a time. Nothing else affects it.
func followers(platform, account string, now time.Time) int64 {
	rng := dice("followers", platform, account)
	first := math.Exp(7.6 + 0.7*rng.NormFloat64())
	daily := 0.0002 + 0.0008*rng.Float64()
	days := max(0, now.Sub(followersSince).Hours()/oneDay.Hours())
	return int64(first * (1 + daily*days))
}

// count returns the counts of a post at a time, which depend only on the post and its age. Final counts are log-normal
// and grow with the followers that the account had when it posted.
func count(p post, now time.Time) tally {
	rng := dice("tally", p.platform, p.id)
	normal := func(middle, spread float64) float64 { return math.Exp(middle + spread*rng.NormFloat64()) }
	views := float64(followers(p.platform, p.account, p.at)) * normal(-0.6, 0.8) * attraction(p) * settled(now.Sub(p.at))
	seen := 0.6 + 0.35*rng.Float64() // share of views by different people
	part := func(middle, spread float64) int64 { return int64(views * min(normal(middle, spread), 0.5)) }
	return tally{
		views: int64(views), reach: int64(views * seen),
		likes: part(-3.2, 0.5), comments: part(-5.4, 0.6), shares: part(-5, 0.6), saves: part(-4.8, 0.6),
		clicks: part(-4, 0.7),
	}
}

// attraction returns the factor by which a post's media raise its views.
func attraction(p post) float64 {
	switch {
	case len(p.media) > 1:
		return 1.4
	case len(p.media) == 1 && p.media[0].Video():
		return 1.6
	case len(p.media) == 1:
		return 1.2
	}
	return 1
}

// settled returns the share of the final counts that a post of an age has.
func settled(age time.Duration) float64 {
	return 1 - math.Exp(-max(0, age.Hours())/tallySettles.Hours())
}
