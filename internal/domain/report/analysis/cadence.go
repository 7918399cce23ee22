package analysis

import (
	"math"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/domain/report/result"
)

const (
	minEvennessPosts = 6 // minimum number of posts with a known time to compute the evenness
	daysPerWeek      = 7.0
)

// cadence returns how often and how regularly the profile posts, or nil if fewer than two posts have a time.
func cadence(prof *profile) *result.FindingCadence {
	var times []time.Time
	for _, p := range prof.posts {
		if p.hasTime {
			times = append(times, p.TakenAt)
		}
	}
	if len(times) < 2 {
		return nil
	}
	newestAt := times[len(times)-1]
	until := prof.measuredAt
	if until.IsZero() {
		until = newestAt
	}
	gaps := make([]float64, 0, len(times))
	for i := range times[1:] {
		gaps = append(gaps, days(times[i+1].Sub(times[i])))
	}
	slices.Sort(gaps)
	span := days(until.Sub(times[0]))
	out := &result.FindingCadence{
		Posts: len(times), Days: result.Round4(span), LastPostDays: result.Round4(days(until.Sub(newestAt))),
		// The oldest post starts the period and is not counted. A shorter period counts as one day.
		PostsPerWeek: result.Round4(float64(len(times)-1) / max(span, 1) * daysPerWeek),
		MedianGap:    result.Round4(result.Quantile(gaps, 0.5)), LongestGap: result.Round4(gaps[len(gaps)-1]),
	}
	if len(times) >= minEvennessPosts {
		out.Evenness = evenness(gaps)
	}
	return out
}

// evenness returns m/(m+s) for the mean m and standard deviation s of the gaps, or nil if m is 0. This is (1-B)/2 for
// the burstiness B of Goh and Barabási (2008).
func evenness(gaps []float64) *float64 {
	mean, variance := 0.0, 0.0
	for _, gap := range gaps {
		mean += gap / float64(len(gaps))
	}
	for _, gap := range gaps {
		variance += (gap - mean) * (gap - mean) / float64(len(gaps))
	}
	if mean <= 0 {
		return nil
	}
	return new(result.Round4(mean / (mean + math.Sqrt(variance))))
}
