package analysis

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

const (
	// falseClaims is the share of claims that may be expected to be wrong. Of a profile without any effect every claim
	// is, so it is the chance of making one.
	falseClaims = 0.03
	timeShare   = 0.6 // of it is for times; the rest is for hashtags

	leastClaimed = 5    // posts of a block below which it is not claimed
	leastRatio   = 1.05 // a smaller effect is not worth a claim, however sure it is
)

// claim marks the blocks and hashtags that can be claimed to do better, so that no more than falseClaims of all claims
// are expected to be wrong: the procedure of Benjamini and Hochberg 1995, in which times and hashtags have their
// shares however many hashtags there are (weights of Genovese, Roeder and Wasserman 2006).
func (e *effects) claim(times, hashtags []estimated, groups [][]int) {
	times = slices.DeleteFunc(times, func(one estimated) bool { return one.posts < leastClaimed })
	doubts := append(e.doubts(times, timeShare), e.doubts(hashtags, 1-timeShare)...)
	limit := threshold(doubts)
	allowed := func(i int, one estimated) bool { return doubts[i] <= limit && one.log >= math.Log(leastRatio) }
	for i, one := range times {
		e.blocks[one.place].claimed = allowed(i, one)
	}
	for i, one := range hashtags {
		if allowed(len(times)+i, one) {
			for _, tag := range groups[one.place] {
				e.works[tag] = true
			}
		}
	}
}

// doubts are the chances that effects as good as these come about by chance, for as many as there are, over the share
// of false claims that is for them.
func (e *effects) doubts(found []estimated, share float64) []float64 {
	student := distuv.StudentsT{Sigma: 1, Nu: e.solved.freedom}
	out := make([]float64, len(found))
	for i, one := range found {
		out[i] = student.Survival(one.log/one.err) * float64(len(found)) / share
	}
	return out
}

// threshold is the largest doubt that allows a claim: the k-th smallest is allowed up to k times falseClaims.
func threshold(doubts []float64) float64 {
	limit := -1.0
	for i, doubt := range slices.Sorted(slices.Values(doubts)) {
		if doubt <= float64(i+1)*falseClaims {
			limit = doubt
		}
	}
	return limit
}
