// Package insights generates the metrics of posts and the numbers of followers of accounts.
package insights

import (
	"math"
	"time"

	"pressroom.example/pressroom/internal/sandbox/store"
	"pressroom.example/pressroom/internal/sandbox/world"
)

// Counts contains the metrics of a post.
type Counts struct{ Views, Reach, Likes, Comments, Shares, Saves, Clicks int64 }

const (
	settlingTime = 30 * time.Hour // age at which a post has 63% of its final counts
	oneDay       = 24 * time.Hour
)

// followersSince is the time until which every account has its initial number of followers.
var followersSince = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// Followers returns an account's number of followers at the time now. The number depends only on the arguments.
func Followers(platform, account string, now time.Time) int64 {
	rng := world.NewRand("followers", platform, account)
	initial := math.Exp(7.6 + 0.7*rng.NormFloat64())
	dailyGrowth := 0.0002 + 0.0008*rng.Float64()
	days := max(0, now.Sub(followersSince).Hours()/oneDay.Hours())
	return int64(initial * (1 + dailyGrowth*days))
}

// Count returns the counts of a post at the time now. The counts depend only on the post and its age. The final counts
// have a log-normal distribution, and are proportional to the number of followers that the account had when it posted.
func Count(p store.Post, now time.Time) Counts {
	rng := world.NewRand("tally", p.Platform, p.ID)
	logNormal := func(mean, deviation float64) float64 { return math.Exp(mean + deviation*rng.NormFloat64()) }
	views := float64(Followers(p.Platform, p.Account, p.At)) * logNormal(-0.6, 0.8) * mediaFactor(p) *
		settledShare(now.Sub(p.At))
	reach := 0.6 + 0.35*rng.Float64() // distinct viewers per view
	perView := func(mean, deviation float64) int64 { return int64(views * min(logNormal(mean, deviation), 0.5)) }
	return Counts{
		Views: int64(views), Reach: int64(views * reach),
		Likes: perView(-3.2, 0.5), Comments: perView(-5.4, 0.6), Shares: perView(-5, 0.6), Saves: perView(-4.8, 0.6),
		Clicks: perView(-4, 0.7),
	}
}

// mediaFactor returns the factor by which a post's media increase its views.
func mediaFactor(p store.Post) float64 {
	switch {
	case len(p.Media) > 1:
		return 1.4
	case len(p.Media) == 1 && p.Media[0].IsVideo():
		return 1.6
	case len(p.Media) == 1:
		return 1.2
	}
	return 1
}

// settledShare returns the fraction of its final counts that a post of the given age has reached.
func settledShare(age time.Duration) float64 {
	return 1 - math.Exp(-max(0, age.Hours())/settlingTime.Hours())
}
