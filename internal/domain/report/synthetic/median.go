package synthetic

import "math"

// trendSteps is the number of steps that approximate the trend.
const trendSteps = 4

// component is a component of a mixture of log-normal distributions: its weight and the mean of the logarithm.
type component struct{ weight, mean float64 }

// populationMedian returns the true median engagement of the mixture of all combinations of effects. It requires
// independent effects, so Plan.Confounded must be false.
func (g *generator) populationMedian(truth Truth) float64 {
	mixture := g.components(truth)
	low, high := g.level-5, g.level+5
	for range 30 {
		middle := (low + high) / 2
		cdf := 0.0
		for _, p := range mixture {
			cdf += p.weight * 0.5 * math.Erfc((p.mean-middle)/(Sigma*math.Sqrt2))
		}
		if cdf < 0.5 {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Exp(low)
}

func (g *generator) components(truth Truth) []component {
	mixture := []component{{1, g.level}}
	if truth.Block >= 0 {
		better := g.shares[truth.Block]
		mixture = sumMixtures(mixture, []component{{1 - better, 0}, {better, truth.Blocks[truth.Block]}})
	}
	for _, tag := range effectiveHashtags {
		mixture = sumMixtures(mixture, []component{{1 - hashtagShare, 0}, {hashtagShare, truth.Hashtags[tag]}})
	}
	var kinds, parts []component
	for _, format := range formats {
		kinds = append(kinds, component{format.share, truth.Formats[format.name]})
	}
	for i := range trendSteps {
		parts = append(parts, component{1.0 / trendSteps, g.trend * ((float64(i)+0.5)/trendSteps - 0.5)})
	}
	return sumMixtures(sumMixtures(mixture, kinds), parts)
}

// sumMixtures returns the mixture for the sum of two independent variables. It has one component for each pair of
// components.
func sumMixtures(mixture, others []component) []component {
	var out []component
	for _, p := range mixture {
		for _, other := range others {
			out = append(out, component{p.weight * other.weight, p.mean + other.mean})
		}
	}
	return out
}
