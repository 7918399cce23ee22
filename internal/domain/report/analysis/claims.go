package analysis

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

const (
	// falseDiscoveryRate is the share of claims that may be expected to be wrong. Of a profile without any effect every claim
	// is, so it is the chance of making one.
	falseDiscoveryRate = 0.03
	timeWeight         = 0.6 // of it is for times; the rest is for hashtags

	minClaimPosts = 5    // posts of a block below which it is not claimed
	minClaimRatio = 1.05 // a smaller effect is not worth a claim, however sure it is
)

// claim marks the blocks and hashtags that can be claimed to do better, so that no more than falseClaims of all claims
// are expected to be wrong: the procedure of Benjamini and Hochberg 1995, in which times and hashtags have their
// shares however many hashtags there are (weights of Genovese, Roeder and Wasserman 2006).
func (e *effects) claim(times, hashtags []levelEffect, groups [][]int) {
	times = slices.DeleteFunc(times, func(one levelEffect) bool { return one.posts < minClaimPosts })
	doubts := append(e.weightedPValues(times, timeWeight), e.weightedPValues(hashtags, 1-timeWeight)...)
	limit := bhThreshold(doubts)
	allowed := func(i int, one levelEffect) bool { return doubts[i] <= limit && one.log >= math.Log(minClaimRatio) }
	for i, one := range times {
		e.blocks[one.index].claimed = allowed(i, one)
	}
	for i, one := range hashtags {
		if allowed(len(times)+i, one) {
			for _, tag := range groups[one.index] {
				e.claimedHashtags[tag] = true
			}
		}
	}
}

// weightedPValues are the chances that effects as good as these come about by chance, for as many as there are, over the share
// of false claims that is for them.
func (e *effects) weightedPValues(found []levelEffect, share float64) []float64 {
	student := distuv.StudentsT{Sigma: 1, Nu: e.fit.degreesOfFreedom}
	out := make([]float64, len(found))
	for i, one := range found {
		out[i] = student.Survival(one.log/one.err) * float64(len(found)) / share
	}
	return out
}

// bhThreshold is the largest doubt that allows a claim: the k-th smallest is allowed up to k times falseClaims.
func bhThreshold(doubts []float64) float64 {
	limit := -1.0
	for i, doubt := range slices.Sorted(slices.Values(doubts)) {
		if doubt <= float64(i+1)*falseDiscoveryRate {
			limit = doubt
		}
	}
	return limit
}
