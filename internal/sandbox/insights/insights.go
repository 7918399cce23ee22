// Package insights generates the counts of posts and the followers of accounts.
package insights

import (
	"math"
	"time"

	"pressroom.example/pressroom/internal/sandbox/store"
	"pressroom.example/pressroom/internal/sandbox/world"
)

// Counts holds the counts of a post.
type Counts struct{ Views, Reach, Likes, Comments, Shares, Saves, Clicks int64 }

const (
	settlingTime = 30 * time.Hour // time after which a post has about two thirds of its final counts
	oneDay       = 24 * time.Hour
)

// followersSince is the time at which accounts have their initial number of followers.
var followersSince = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// Followers returns an account's number of followers at a time. Nothing else affects it.
func Followers(platform, account string, now time.Time) int64 {
	rng := world.Dice("followers", platform, account)
	first := math.Exp(7.6 + 0.7*rng.NormFloat64())
	daily := 0.0002 + 0.0008*rng.Float64()
	days := max(0, now.Sub(followersSince).Hours()/oneDay.Hours())
	return int64(first * (1 + daily*days))
}

// Count returns the counts of a post at a time, which depend only on the post and its age. Final counts are log-normal
// and grow with the followers that the account had when it posted.
func Count(p store.Post, now time.Time) Counts {
	rng := world.Dice("tally", p.Platform, p.ID)
	normal := func(middle, spread float64) float64 { return math.Exp(middle + spread*rng.NormFloat64()) }
	views := float64(Followers(p.Platform, p.Account, p.At)) * normal(-0.6, 0.8) * attraction(p) *
		settledShare(now.Sub(p.At))
	seen := 0.6 + 0.35*rng.Float64() // share of views by distinct people
	part := func(middle, spread float64) int64 { return int64(views * min(normal(middle, spread), 0.5)) }
	return Counts{
		Views: int64(views), Reach: int64(views * seen),
		Likes: part(-3.2, 0.5), Comments: part(-5.4, 0.6), Shares: part(-5, 0.6), Saves: part(-4.8, 0.6),
		Clicks: part(-4, 0.7),
	}
}

// attraction returns the factor by which a post's media raise its views.
func attraction(p store.Post) float64 {
	switch {
	case len(p.Media) > 1:
		return 1.4
	case len(p.Media) == 1 && p.Media[0].Video():
		return 1.6
	case len(p.Media) == 1:
		return 1.2
	}
	return 1
}

// settledShare returns the share of the final counts that a post of an age has.
func settledShare(age time.Duration) float64 {
	return 1 - math.Exp(-max(0, age.Hours())/settlingTime.Hours())
}
