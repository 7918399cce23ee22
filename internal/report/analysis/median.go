package analysis

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat/distuv"
)

// confidence is how often an interval is to hold the truth.
const confidence = 0.95

// medianOf is the median of values with its confidence interval and the quartiles; nil of nothing. It sorts values.
func medianOf(values []float64) *Median {
	if len(values) == 0 {
		return nil
	}
	slices.Sort(values)
	out := Median{
		Median: tidy(quantile(values, 0.5)), Posts: len(values),
		LowerQuartile: tidy(quantile(values, 0.25)), UpperQuartile: tidy(quantile(values, 0.75)),
	}
	if low, high, ok := medianInterval(values); ok {
		out.Low, out.High = new(tidy(low)), new(tidy(high))
	}
	return &out
}

// quantile is the value below which a share of the sorted values lies, by a straight line between the two values next
// to it (type 7 of Hyndman and Fan 1996).
func quantile(sorted []float64, share float64) float64 {
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
	if covers(d) < confidence {
		return 0, 0, false
	}
	for covers(d+1) >= confidence {
		d++
	}
	wide, narrow := covers(d), covers(d+1)
	part := (wide - confidence) / (wide - narrow)
	inward := float64(n-d) * part / (float64(d) + float64(n-2*d)*part)
	low := (1-inward)*sorted[d-1] + inward*sorted[d]
	high := (1-inward)*sorted[n-d] + inward*sorted[n-d-1]
	return low, high, true
}

// tidy rounds to four significant digits: more than any of these figures can claim.
func tidy(value float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(value, 'g', 4, 64), 64)
	if err != nil {
		return value
	}
	return rounded
}
