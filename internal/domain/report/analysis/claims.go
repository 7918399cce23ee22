package analysis

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

const (
	// falseDiscoveryRate is the maximum expected share of false claims among all claims. For a profile without effects,
	// it is the maximum probability of any claim.
	falseDiscoveryRate = 0.03
	timeWeight         = 0.6 // weight of times; the rest is the weight of hashtags

	minClaimPosts = 5    // minimum number of posts in a claimed block
	minClaimRatio = 1.05 // smaller effects are not claimed even if significant
)

// markSignificant marks the blocks and hashtags whose effect is significant. It controls the false discovery rate with
// the procedure of Benjamini and Hochberg (1995). Times and hashtags have fixed weights (Genovese, Roeder and
// Wasserman, 2006), so the number of hashtags does not affect claims about times.
func (e *effects) markSignificant(times, hashtags []levelEffect, groups [][]int) {
	times = slices.DeleteFunc(times, func(le levelEffect) bool { return le.posts < minClaimPosts })
	pValues := append(e.weightedPValues(times, timeWeight), e.weightedPValues(hashtags, 1-timeWeight)...)
	limit := bhThreshold(pValues)
	isSignificant := func(i int, le levelEffect) bool { return pValues[i] <= limit && le.log >= math.Log(minClaimRatio) }
	for i, le := range times {
		e.blocks[le.index].isSignificant = isSignificant(i, le)
	}
	for i, le := range hashtags {
		if isSignificant(len(times)+i, le) {
			for _, tag := range groups[le.index] {
				e.significantHashtags[tag] = true
			}
		}
	}
}

// weightedPValues returns the one-sided p-value of each effect, multiplied by the number of effects and divided by
// share.
func (e *effects) weightedPValues(levelEffects []levelEffect, share float64) []float64 {
	student := distuv.StudentsT{Sigma: 1, Nu: e.fit.degreesOfFreedom}
	out := make([]float64, len(levelEffects))
	for i, le := range levelEffects {
		out[i] = student.Survival(le.log/le.stdErr) * float64(len(levelEffects)) / share
	}
	return out
}

// bhThreshold returns the largest weighted p-value that counts as significant, or -1 if there is none. The kth smallest
// p-value qualifies if it is at most k times falseDiscoveryRate. The largest p-value that qualifies is the threshold.
func bhThreshold(pValues []float64) float64 {
	limit := -1.0
	for i, p := range slices.Sorted(slices.Values(pValues)) {
		if p <= float64(i+1)*falseDiscoveryRate {
			limit = p
		}
	}
	return limit
}
