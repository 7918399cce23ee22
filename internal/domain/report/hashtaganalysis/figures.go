package hashtaganalysis

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"pressroom/internal/domain/report/result"
)

// proportion counts something among some.
type proportion struct{ with, of int }

// relativeRisk is how many times as frequent it is among these as among others, with the interval that the normal distribution
// of the logarithm gives (Katz and others 1978; half a case is added to each count, so that none is 0). z is how many
// standard errors the interval reaches to both sides.
func (s proportion) relativeRisk(other proportion, z float64) result.Ratio {
	a, n := float64(s.with)+0.5, float64(s.of)+0.5
	b, m := float64(other.with)+0.5, float64(other.of)+0.5
	ratio := a / n / (b / m)
	reach := math.Exp(z * math.Sqrt(max(0, 1/a-1/n+1/b-1/m)))
	return result.Ratio{Value: ratio, Low: ratio / reach, High: ratio * reach}
}

// bonferroniZ is how many standard errors something has to stand out for a claim, to one side, so that
// among so many that are looked at something is claimed wrongly in 2.5 % of cases at most (Bonferroni).
func bonferroniZ(looked int) float64 {
	return distuv.UnitNormal.Quantile(1 - tailProbability/float64(max(1, looked)))
}
