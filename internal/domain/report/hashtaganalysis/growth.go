package hashtaganalysis

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"pressroom.example/pressroom/internal/domain/report/result"
)

// growth compares the current rate with earlier rates. It uses only samples of a day or more, because rates of
// different hours are not comparable, and returns nil if there are too few.
func growth(current Sample, earlier []Sample) *result.FindingGrowth {
	currentCount, ok := current.count()
	if !ok || currentCount.days < fullDay {
		return nil
	}
	var fullDaySamples []Sample
	for _, s := range nonOverlapping(earlier) {
		if c, _ := s.count(); c.days >= fullDay && !s.At.After(current.From) {
			fullDaySamples = append(fullDaySamples, s)
		}
	}
	if len(fullDaySamples) == 0 {
		return nil
	}
	earlierCount := poolCounts(fullDaySamples)
	if earlierCount.posts < 1 || earlierCount.posts+currentCount.posts < minSupport {
		return nil
	}
	ratio := currentCount.rateRatio(earlierCount).Round()
	return &result.FindingGrowth{
		Measurements: len(fullDaySamples), Days: result.Round4(daysBetween(current, fullDaySamples)), PostsPerDay: &ratio,
	}
}

// rateRatio returns the ratio of two Poisson rates. Given the total, one count is binomially distributed (Przyborowski
// and Wilenski, 1940), with Jeffreys prior. The interval is widened by the variation of the rate between hours and
// days.
func (c poissonCount) rateRatio(other poissonCount) result.FindingRatio {
	days := other.days / c.days
	value := c.posts / math.Max(other.posts, 0.5) * days
	chances := distuv.Beta{Alpha: c.posts + 0.5, Beta: other.posts + 0.5}
	ratioQuantile := func(q float64) float64 { p := chances.Quantile(q); return p / (1 - p) * days }
	center := (c.posts + 0.5) / (other.posts + 0.5) * days
	spread := normal95 * math.Sqrt(paceVariance(c.days)+paceVariance(other.days))
	low := center * math.Exp(-math.Hypot(math.Log(ratioQuantile(tailProbability)/center), spread))
	high := center * math.Exp(math.Hypot(math.Log(ratioQuantile(1-tailProbability)/center), spread))
	if c.posts == 0 {
		low = 0
	}
	return result.FindingRatio{Value: value, Low: min(low, value), High: max(high, value)}
}

// daysBetween returns the days between the center of the current window and the mean center of the earlier windows. The
// mean is weighted by length.
func daysBetween(current Sample, earlier []Sample) float64 {
	sum, weight := 0.0, 0.0
	for _, s := range earlier {
		length := days(s.At.Sub(s.From))
		sum += length * (days(current.At.Sub(s.At)) + length/2)
		weight += length
	}
	return sum/weight - days(current.At.Sub(current.From))/2
}
