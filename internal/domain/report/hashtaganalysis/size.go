package hashtaganalysis

import (
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"pressroom/internal/domain/report/result"
)

const (
	// minTopPosts is how many top posts of known age an estimate of the size needs, leastRecent how many posts counted.
	minTopPosts    = 20
	minRecentPosts = 5
	// minAgeSpan is how many days the top posts have to reach back: where all are younger, either the hashtag is young or
	// the network shows young posts alone, and which of both cannot be told.
	minAgeSpan = 30
	// currentFor is how long a counted rate, or a size that was measured, is taken for the present's.
	currentFor = 14 * 24 * time.Hour
	// dailySD and byWeek are how much the rate of a short time differs from the day's, and that of a day from the week's, as
	// standard deviations of the logarithm: what a wave of 28 % of the mean over the day has, and one of 7 % over the week.
	dailySD  = 0.2
	weeklySD = 0.05
	// normal95 is how many standard errors a 95 % interval reaches to both sides.
	normal95 = 1.959963984540054
	// maxSize is the largest number of posts that is told: beyond it figures are faults.
	maxSize = 1e15
)

// The first sizes of the tiers; nano is below them.
const (
	small  = 10_000
	medium = 100_000
	large  = 500_000
	huge   = 1_000_000
)

// Tier is the name for hashtags with so many posts.
func Tier(posts int64) string {
	switch {
	case posts >= huge:
		return "huge"
	case posts >= large:
		return "large"
	case posts >= medium:
		return "medium"
	case posts >= small:
		return "small"
	}
	return "nano"
}

// size is how many posts the hashtag has: as it was measured; else a measurement of late and what came since; else an
// estimate by the ages of its top posts. It is nil where too little is known. The note says what it rests on.
func size(s measuredPosts, now Sample, earlier []Sample) (*Posts, string) {
	if now.hasSize() {
		return &Posts{Count: *now.Size, Basis: Measured}, ""
	}
	counts := recentSamples(now, earlier)
	if s.at.IsZero() || len(counts) == 0 {
		return nil, noteSizeUnknown
	}
	rate := pool(counts)
	out, note := sizeSince(rate, now, earlier), noteSizeSince
	if out == nil {
		out, note = sizeByAges(s, rate), noteSizeByAges
	}
	if out == nil {
		return nil, noteSizeUnknown
	}
	seen := int64(len(s.all))
	out.Count, *out.Low, *out.High = max(out.Count, seen), max(*out.Low, seen), max(*out.High, seen)
	return out, note
}

// hasSize tells whether the size was, and is one that can be.
func (s Sample) hasSize() bool { return s.Size != nil && *s.Size >= 0 && *s.Size <= maxSize }

// recentSamples are this measurement and those shortly before.
func recentSamples(now Sample, earlier []Sample) []Sample {
	recent := []Sample{now}
	for _, s := range earlier {
		if now.At.Sub(s.At) <= currentFor {
			recent = append(recent, s)
		}
	}
	return nonOverlapping(recent)
}

// sizeSince adds to the size that was measured last what came since then.
func sizeSince(rate poissonCount, now Sample, earlier []Sample) *Posts {
	var last *Sample
	for i, s := range earlier {
		if s.hasSize() && now.At.Sub(s.At) <= currentFor && (last == nil || s.At.After(last.At) || s.At.Equal(last.At) && *s.Size > *last.Size) {
			last = &earlier[i]
		}
	}
	if last == nil {
		return nil
	}
	perDay, passed, was := rate.perDay(), days(now.At.Sub(last.At)), float64(*last.Size)
	return newEstimate(was+perDay.Value*passed, was+perDay.Low*passed, was+perDay.High*passed)
}

// sizeByAges takes the top posts for a fair sample of all that the hashtag ever had. Posts of age a are then as frequent
// among them as the rate was a days ago: f(a) = rate(a)/size. At age 0 the rate is known, and so size = rate/f(0).
func sizeByAges(s measuredPosts, rate poissonCount) *Posts {
	ages := s.ages(s.top)
	if len(ages) < minTopPosts || rate.posts < minRecentPosts {
		return nil
	}
	// The oldest tenth is only counted: how old it is hardly matters for the density at age 0, and one post of another
	// time changes nothing.
	inner := len(ages) - len(ages)/10
	span := ages[inner-1]
	if span < minAgeSpan {
		return nil
	}
	within := slices.Clone(ages[:inner-1])
	for i := range within {
		within[i] /= span
	}
	zero, ok := fitDensityAtZero(within)
	if !ok {
		return nil
	}
	total := float64(len(ages))
	density := float64(inner-1) / (total * span) * math.Exp(zero.log)
	rank := (1 - float64(inner)/total) / float64(inner) // of the logarithm of the age that ends the span
	return rateOverDensity(rate, density, zero.err*zero.err+rank)
}

// rateOverDensity is the rate divided by the density, with an interval made of those of both (Zou and Donner 2008).
func rateOverDensity(rate poissonCount, density, variance float64) *Posts {
	perDay := rate.perDay()
	value := math.Log(perDay.Value / density)
	variance += paceVariance(rate.days)
	chances := distuv.Gamma{Alpha: rate.shape, Beta: rate.days}
	reach := func(q float64) float64 {
		return math.Hypot(math.Log(chances.Quantile(q)/perDay.Value), normal95*math.Sqrt(variance))
	}
	return newEstimate(math.Exp(value), math.Exp(value-reach(tailProbability)), math.Exp(value+reach(1-tailProbability)))
}

// paceVariance is the variance that the logarithm of a rate has because it was not counted over whole weeks.
func paceVariance(days float64) float64 {
	switch {
	case days >= 7:
		return 0
	case days >= 1:
		return weeklySD * weeklySD
	}
	return dailySD*dailySD*(1-days) + weeklySD*weeklySD
}

// newEstimate is nil where the figures are out of all bounds.
func newEstimate(value, low, high float64) *Posts {
	if !(low >= 0 && high <= maxSize) {
		return nil
	}
	count, from, to := roundCount(value), roundCount(low), roundCount(high)
	return &Posts{Count: count, Low: &from, High: &to, Basis: Estimated}
}

// roundCount is a number of posts with three significant digits: more is not known of an estimate.
func roundCount(value float64) int64 { return int64(math.Round(result.RoundDigits(value, 3))) }
