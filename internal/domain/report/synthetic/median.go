package synthetic

import "math"

// trendSteps is the number of steps that approximate the trend.
const trendSteps = 4

// component is a component of a mixture of log-normal distributions: its weight and the mean of the logarithm.
type component struct{ share, mean float64 }

// populationMedian returns the true median engagement of the mixture of all combinations of effects. It requires
// independent effects, so Plan.Confounded must be false.
func (m *generator) populationMedian(truth Truth) float64 {
	mixture := m.components(truth)
	low, high := m.level-5, m.level+5
	for range 30 {
		middle := (low + high) / 2
		cdf := 0.0
		for _, p := range mixture {
			cdf += p.share * 0.5 * math.Erfc((p.mean-middle)/(Sigma*math.Sqrt2))
		}
		if cdf < 0.5 {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Exp(low)
}

func (m *generator) components(truth Truth) []component {
	mixture := []component{{1, m.level}}
	if truth.Block >= 0 {
		better := m.shares[truth.Block]
		mixture = cross(mixture, []component{{1 - better, 0}, {better, truth.Blocks[truth.Block]}})
	}
	for _, tag := range effectiveHashtags {
		mixture = cross(mixture, []component{{1 - hashtagShare, 0}, {hashtagShare, truth.Hashtags[tag]}})
	}
	var kinds, parts []component
	for _, format := range formats {
		kinds = append(kinds, component{format.share, truth.Formats[format.name]})
	}
	for i := range trendSteps {
		parts = append(parts, component{1.0 / trendSteps, m.trend * ((float64(i)+0.5)/trendSteps - 0.5)})
	}
	return cross(cross(mixture, kinds), parts)
}

// cross returns the mixture for the sum of two independent variables. It has one component for each pair of components.
func cross(mixture, others []component) []component {
	var out []component
	for _, p := range mixture {
		for _, other := range others {
			out = append(out, component{p.share * other.share, p.mean + other.mean})
		}
	}
	return out
}
