package tag

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat/distuv"
)

// quartiles are the median of values with its 95 % interval and the quartiles; nil of nothing. It sorts values.
func quartiles(values []float64) *Quartiles {
	if len(values) == 0 {
		return nil
	}
	slices.Sort(values)
	out := Quartiles{
		Median: tidy(quantile(values, 0.5)), Posts: len(values),
		LowerQuartile: tidy(quantile(values, 0.25)), UpperQuartile: tidy(quantile(values, 0.75)),
	}
	if low, high, ok := aroundMedian(values); ok {
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

// aroundMedian is the interval that the sign test gives for the median, between two order statistics (Hettmansperger
// and Sheather 1986). It assumes nothing about how the values spread. Below six of them there is none.
func aroundMedian(sorted []float64) (float64, float64, bool) {
	n := len(sorted)
	flips := distuv.Binomial{N: float64(n), P: 0.5}
	// The d-th values from both ends enclose the median unless fewer than d values lie on one side of it.
	covers := func(d int) float64 { return 1 - 2*flips.CDF(float64(d-1)) }
	d := max(1, int((float64(n)-2*math.Sqrt(float64(n)))/2))
	if covers(d) < 1-2*tail {
		return 0, 0, false
	}
	for covers(d+1) >= 1-2*tail {
		d++
	}
	outer, inner := covers(d), covers(d+1)
	part := (outer - (1 - 2*tail)) / (outer - inner)
	inward := float64(n-d) * part / (float64(d) + float64(n-2*d)*part)
	low := (1-inward)*sorted[d-1] + inward*sorted[d]
	high := (1-inward)*sorted[n-d] + inward*sorted[n-d-1]
	return low, high, true
}

// shareOf counts something among some.
type shareOf struct{ with, of int }

// over is how many times as frequent it is among these as among others, with the interval that the normal distribution
// of the logarithm gives (Katz and others 1978; half a case is added to each count, so that none is 0). z is how many
// standard errors the interval reaches to both sides.
func (s shareOf) over(other shareOf, z float64) Ratio {
	a, n := float64(s.with)+0.5, float64(s.of)+0.5
	b, m := float64(other.with)+0.5, float64(other.of)+0.5
	ratio := a / n / (b / m)
	reach := math.Exp(z * math.Sqrt(max(0, 1/a-1/n+1/b-1/m)))
	return Ratio{Value: ratio, Low: ratio / reach, High: ratio * reach}
}

func (r Ratio) rounded() Ratio { return Ratio{tidy(r.Value), tidy(r.Low), tidy(r.High)} }

// strict is how many standard errors something has to stand out for a claim, to one side, so that
// among so many that are looked at something is claimed wrongly in 2.5 % of cases at most (Bonferroni).
func strict(looked int) float64 {
	return distuv.UnitNormal.Quantile(1 - tail/float64(max(1, looked)))
}

// tidy rounds to four significant digits: more than any of these figures can claim.
func tidy(value float64) float64 { return digits(value, 4) }

func digits(value float64, count int) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(value, 'g', count, 64), 64)
	if err != nil {
		return value
	}
	return rounded
}
