package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// minPosts is of how many posts on either side a share is compared.
const minPosts = 20

// lift compares how often a hashtag is here with how often it is elsewhere: in x of n posts, and in y of m.
type lift struct{ x, n, y, m float64 }

func newLift(x, n, y, m int) lift { return lift{float64(x), float64(n), float64(y), float64(m)} }

// estimate is how many times as often it is here. Half a post is added to each count, so that none is 0.
func (l lift) estimate() float64 {
	ratio := (l.x + 0.5) / (l.n + 0.5) / ((l.y + 0.5) / (l.m + 0.5))
	return math.Round(ratio*1000) / 1000
}

// lowerBound is what the lift is at least, but for a chance of being wrong. Of the posts that carry the hashtag, x of x + y are
// here, which is binomial; its exact bound (Clopper and Pearson 1934) also holds where few posts carry it, where those of
// the normal distribution are far too bold. It is 0 where too few posts are there to compare.
func (l lift) lowerBound(wrong float64) float64 {
	if l.n < minPosts || l.m < minPosts || l.x == 0 {
		return 0
	}
	part := distuv.Beta{Alpha: l.x, Beta: l.y + 1}.Quantile(wrong)
	return part / (1 - part) * l.m / l.n
}
