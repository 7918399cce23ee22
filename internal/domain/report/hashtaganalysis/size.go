package hashtaganalysis

import (
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"pressroom.example/pressroom/internal/domain/report/result"
)

const (
	// An estimate of the size requires at least this many top posts and recent posts with a time.
	minTopPosts    = 20
	minRecentPosts = 5
	// minAgeSpan is the minimum age in days of the oldest tenth of the top posts. If they are younger, either the
	// hashtag is young or the network shows only recent posts, and these cases cannot be distinguished.
	minAgeSpan = 30
	// maxSampleAge is how long a measured rate or size is used for estimates.
	maxSampleAge = 14 * 24 * time.Hour
	// dailySD and weeklySD are the standard deviations of the log rate within a day and within a week, which correspond
	// to sine waves with amplitudes of 28% and 7% of the mean.
	dailySD  = 0.2
	weeklySD = 0.05
	// normal95 is the quantile of the normal distribution for a 95% interval.
	normal95 = 1.959963984540054
	// maxSize is the largest plausible number of posts.
	maxSize = 1e15
)

// Lower bounds of the tiers above nano.
const (
	minSmall  = 10_000
	minMedium = 100_000
	minLarge  = 500_000
	minHuge   = 1_000_000
)

// Tier returns the tier for a number of posts.
func Tier(posts int64) string {
	switch {
	case posts >= minHuge:
		return "huge"
	case posts >= minLarge:
		return "large"
	case posts >= minMedium:
		return "medium"
	case posts >= minSmall:
		return "small"
	}
	return "nano"
}

// size returns the number of posts and a note on its basis. It prefers the measured number, then a recent measurement
// plus the posts since then, then an estimate from the ages of top posts. It returns nil if too little is known.
func size(m measuredPosts, current Sample, earlier []Sample) (*TagPosts, string) {
	if current.hasSize() {
		return &TagPosts{Count: *current.Size, Basis: Measured}, ""
	}
	counts := recentSamples(current, earlier)
	if m.at.IsZero() || len(counts) == 0 {
		return nil, noteSizeUnknown
	}
	rate := poolCounts(counts)
	out, note := sizeSince(rate, current, earlier), noteSizeSince
	if out == nil {
		out, note = sizeByAges(m, rate), noteSizeByAges
	}
	if out == nil {
		return nil, noteSizeUnknown
	}
	seen := int64(len(m.posts))
	out.Count, *out.Low, *out.High = max(out.Count, seen), max(*out.Low, seen), max(*out.High, seen)
	return out, note
}

// hasSize reports whether a plausible size was measured.
func (s Sample) hasSize() bool { return s.Size != nil && *s.Size >= 0 && *s.Size <= maxSize }

// recentSamples returns the current sample and the earlier samples that are at most maxSampleAge older, without
// overlapping samples.
func recentSamples(current Sample, earlier []Sample) []Sample {
	recent := []Sample{current}
	for _, s := range earlier {
		if current.At.Sub(s.At) <= maxSampleAge {
			recent = append(recent, s)
		}
	}
	return nonOverlapping(recent)
}

// sizeSince returns the last measured size plus the posts since then, or nil if no size was measured within
// maxSampleAge.
func sizeSince(rate poissonCount, current Sample, earlier []Sample) *TagPosts {
	var last *Sample
	for i, s := range earlier {
		if s.hasSize() && current.At.Sub(s.At) <= maxSampleAge && (last == nil || s.At.After(last.At) ||
			s.At.Equal(last.At) && *s.Size > *last.Size) {
			last = &earlier[i]
		}
	}
	if last == nil {
		return nil
	}
	perDay, elapsedDays, lastSize := rate.perDay(), days(current.At.Sub(last.At)), float64(*last.Size)
	return newEstimate(lastSize+perDay.Value*elapsedDays, lastSize+perDay.Low*elapsedDays, lastSize+perDay.High*elapsedDays)
}

// sizeByAges estimates the size from the ages of top posts, assuming that they are a random sample of all posts. The
// density of ages a is then f(a) = rate(a)/size. At age 0 the rate is known, so size = rate/f(0).
func sizeByAges(m measuredPosts, rate poissonCount) *TagPosts {
	ages := m.ages(m.top)
	if len(ages) < minTopPosts || rate.posts < minRecentPosts {
		return nil
	}
	// The ages of the oldest tenth have little influence on the density at age 0. These posts are only counted, so that
	// outliers have no effect.
	innerCount := len(ages) - len(ages)/10
	span := ages[innerCount-1]
	if span < minAgeSpan {
		return nil
	}
	innerAges := slices.Clone(ages[:innerCount-1])
	for i := range innerAges {
		innerAges[i] /= span
	}
	atZero, ok := fitDensityAtZero(innerAges)
	if !ok {
		return nil
	}
	total := float64(len(ages))
	density := float64(innerCount-1) / (total * span) * math.Exp(atZero.log)
	rank := (1 - float64(innerCount)/total) / float64(innerCount) // variance of the log of span, an order statistic
	return rateOverDensity(rate, density, atZero.stdErr*atZero.stdErr+rank)
}

// rateOverDensity returns rate divided by density. Its interval combines the uncertainty of both (Zou and Donner,
// 2008).
func rateOverDensity(rate poissonCount, density, variance float64) *TagPosts {
	perDay := rate.perDay()
	value := math.Log(perDay.Value / density)
	variance += paceVariance(rate.days)
	posterior := distuv.Gamma{Alpha: rate.shape, Beta: rate.days}
	reach := func(q float64) float64 {
		return math.Hypot(math.Log(posterior.Quantile(q)/perDay.Value), normal95*math.Sqrt(variance))
	}
	return newEstimate(math.Exp(value), math.Exp(value-reach(tailProbability)),
		math.Exp(value+reach(1-tailProbability)))
}

// paceVariance returns the variance of the log rate that is due to the daily and weekly cycles if less than a week was
// counted.
func paceVariance(days float64) float64 {
	switch {
	case days >= 7:
		return 0
	case days >= 1:
		return weeklySD * weeklySD
	}
	return dailySD*dailySD*(1-days) + weeklySD*weeklySD
}

// newEstimate returns an estimate, or nil if it is implausible.
func newEstimate(value, low, high float64) *TagPosts {
	if !(low >= 0 && high <= maxSize) {
		return nil
	}
	count, from, to := roundCount(value), roundCount(low), roundCount(high)
	return &TagPosts{Count: count, Low: &from, High: &to, Basis: Estimated}
}

// roundCount rounds to three significant digits.
func roundCount(value float64) int64 { return int64(math.Round(result.RoundDigits(value, 3))) }
