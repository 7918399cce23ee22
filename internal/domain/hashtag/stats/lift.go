package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// minPosts is the minimum number of posts in each sample for comparing shares.
const minPosts = 20

// lift compares how often a hashtag occurs in two samples: in x of n target posts and in y of m reference posts.
type lift struct{ x, n, y, m float64 }

func newLift(x, n, y, m int) lift { return lift{float64(x), float64(n), float64(y), float64(m)} }

// estimate returns the lift, which is the ratio of the shares, rounded to three decimals. It adds 0.5 to each count to
// avoid zeros.
func (l lift) estimate() float64 {
	ratio := (l.x + 0.5) / (l.n + 0.5) / ((l.y + 0.5) / (l.m + 0.5))
	return math.Round(ratio*1000) / 1000
}

// lowerBound returns the one-sided lower confidence bound of the lift at level 1-alpha, or 0 if a sample is too small.
// Given x+y posts with the hashtag, x is binomially distributed. The exact bound (Clopper and Pearson, 1934) also holds
// for small counts, where normal approximations are far too narrow.
func (l lift) lowerBound(alpha float64) float64 {
	if l.n < minPosts || l.m < minPosts || l.x == 0 {
		return 0
	}
	share := distuv.Beta{Alpha: l.x, Beta: l.y + 1}.Quantile(alpha)
	return share / (1 - share) * l.m / l.n
}
