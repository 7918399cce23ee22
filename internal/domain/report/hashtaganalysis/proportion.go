package hashtaganalysis

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"pressroom.example/pressroom/internal/domain/report/result"
)

// proportion is a count of successes in a sample.
type proportion struct{ count, total int }

// relativeRisk returns the ratio of two proportions with the log interval of Katz et al. (1978). It adds 0.5 to each
// count to avoid zeros. z is the normal quantile of the interval.
func (p proportion) relativeRisk(other proportion, z float64) result.FindingRatio {
	a, n := float64(p.count)+0.5, float64(p.total)+0.5
	b, m := float64(other.count)+0.5, float64(other.total)+0.5
	ratio := a / n / (b / m)
	reach := math.Exp(z * math.Sqrt(max(0, 1/a-1/n+1/b-1/m)))
	return result.FindingRatio{Value: ratio, Low: ratio / reach, High: ratio * reach}
}

// bonferroniZ returns the one-sided normal quantile for a familywise error rate of 2.5% over a number of tests.
func bonferroniZ(tests int) float64 {
	return distuv.UnitNormal.Quantile(1 - tailProbability/float64(max(1, tests)))
}
