package result

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Confidence is the confidence level of intervals.
const Confidence = 0.95

// FindingMedian is the median of a metric over posts, with two ranges. Low to High is the 95% confidence interval of
// the median. LowerQuartile to UpperQuartile contains half of the posts.
type FindingMedian struct {
	Median        float64  `json:"median"`
	Low           *float64 `json:"low,omitempty" jsonschema:"Lower end of the median's 95% confidence interval. Omitted below six posts."`
	High          *float64 `json:"high,omitempty" jsonschema:"Upper end of the median's 95% confidence interval. Omitted below six posts."`
	LowerQuartile float64  `json:"lower_quartile" jsonschema:"First quartile: a quarter of the posts is below."`
	UpperQuartile float64  `json:"upper_quartile" jsonschema:"Third quartile: a quarter of the posts is above."`
	Posts         int      `json:"posts" jsonschema:"Number of posts with this metric."`
}

// NewMedian returns the median of values, or nil if there are no values. It sorts values.
func NewMedian(values []float64) *FindingMedian {
	if len(values) == 0 {
		return nil
	}
	slices.Sort(values)
	out := FindingMedian{
		Median: Round4(Quantile(values, 0.5)), Posts: len(values),
		LowerQuartile: Round4(Quantile(values, 0.25)), UpperQuartile: Round4(Quantile(values, 0.75)),
	}
	if low, high, ok := medianInterval(values); ok {
		out.Low, out.High = new(Round4(low)), new(Round4(high))
	}
	return &out
}

// Quantile returns the quantile of sorted values at share, a number from 0 to 1. It interpolates linearly (type 7 of
// Hyndman and Fan, 1996). There must be at least one value.
func Quantile(sorted []float64, share float64) float64 {
	position := share * float64(len(sorted)-1)
	lower := int(position)
	if lower+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	part := position - float64(lower)
	return (1-part)*sorted[lower] + part*sorted[lower+1]
}

// medianInterval returns the distribution-free confidence interval of the median, which is based on the sign test and
// interpolated between order statistics (Hettmansperger and Sheather, 1986). It reports false for fewer than six
// values.
func medianInterval(sorted []float64) (float64, float64, bool) {
	n := len(sorted)
	binomial := distuv.Binomial{N: float64(n), P: 0.5}
	// The d-th values from both ends enclose the median unless fewer than d values lie on one side of the median.
	covers := func(d int) float64 { return 1 - 2*binomial.CDF(float64(d-1)) }
	d := max(1, int((float64(n)-2*math.Sqrt(float64(n)))/2))
	if covers(d) < Confidence {
		return 0, 0, false
	}
	for covers(d+1) >= Confidence {
		d++
	}
	wideCoverage, narrowCoverage := covers(d), covers(d+1)
	part := (wideCoverage - Confidence) / (wideCoverage - narrowCoverage)
	inward := float64(n-d) * part / (float64(d) + float64(n-2*d)*part)
	low := (1-inward)*sorted[d-1] + inward*sorted[d]
	high := (1-inward)*sorted[n-d] + inward*sorted[n-d-1]
	return low, high, true
}
