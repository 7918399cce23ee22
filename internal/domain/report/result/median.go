package result

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Confidence is how often an interval is to hold the truth.
const Confidence = 0.95

// Median is the middle of the posts' values, with two ranges that say different things: low to high is where the
// median itself lies with 95 % confidence, lower_quartile to upper_quartile is where half of the posts lie.
type Median struct {
	Median        float64  `json:"median"`
	Low           *float64 `json:"low,omitempty" jsonschema:"Lower end of the median's 95 % confidence interval; left out below six posts."`
	High          *float64 `json:"high,omitempty" jsonschema:"Upper end of the median's 95 % confidence interval; left out below six posts."`
	LowerQuartile float64  `json:"lower_quartile" jsonschema:"A quarter of the posts lies below."`
	UpperQuartile float64  `json:"upper_quartile" jsonschema:"A quarter of the posts lies above."`
	Posts         int      `json:"posts" jsonschema:"Posts that tell the figure."`
}

// NewMedian is the median of values with its confidence interval and the quartiles; nil of nothing. It sorts values.
func NewMedian(values []float64) *Median {
	if len(values) == 0 {
		return nil
	}
	slices.Sort(values)
	out := Median{
		Median: Round4(Quantile(values, 0.5)), Posts: len(values),
		LowerQuartile: Round4(Quantile(values, 0.25)), UpperQuartile: Round4(Quantile(values, 0.75)),
	}
	if low, high, ok := medianInterval(values); ok {
		out.Low, out.High = new(Round4(low)), new(Round4(high))
	}
	return &out
}

// Quantile is the value below which a share of the sorted values lies, by a straight line between the two values next
// to it (type 7 of Hyndman and Fan 1996).
func Quantile(sorted []float64, share float64) float64 {
	place := share * float64(len(sorted)-1)
	below := int(place)
	if below+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	part := place - float64(below)
	return (1-part)*sorted[below] + part*sorted[below+1]
}

// medianInterval is the interval for the median that the sign test gives, between two order statistics (Hettmansperger
// and Sheather 1986). It assumes nothing about how the values spread. Below six of them there is none.
func medianInterval(sorted []float64) (float64, float64, bool) {
	n := len(sorted)
	binomial := distuv.Binomial{N: float64(n), P: 0.5}
	// The d-th values from both ends enclose the median unless fewer than d values lie on one side of it.
	covers := func(d int) float64 { return 1 - 2*binomial.CDF(float64(d-1)) }
	d := max(1, int((float64(n)-2*math.Sqrt(float64(n)))/2))
	if covers(d) < Confidence {
		return 0, 0, false
	}
	for covers(d+1) >= Confidence {
		d++
	}
	wide, narrow := covers(d), covers(d+1)
	part := (wide - Confidence) / (wide - narrow)
	inward := float64(n-d) * part / (float64(d) + float64(n-2*d)*part)
	low := (1-inward)*sorted[d-1] + inward*sorted[d]
	high := (1-inward)*sorted[n-d] + inward*sorted[n-d-1]
	return low, high, true
}
