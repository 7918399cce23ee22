package synthetic

import "math"

// trendSteps is into how many parts the period is cut for what grows over it.
const trendSteps = 4

// component is a share of all posts whose logarithm of engagement has the same middle.
type component struct{ share, mean float64 }

// populationMedian is the median engagement of all posts that the profile might have made: of the mixture of everything that
// has an effect, each as often as it comes. It is for plans that are not tangled, where all of it is independent.
func (m *generator) populationMedian(truth Truth) float64 {
	parcels := m.components(truth)
	low, high := m.level-5, m.level+5
	for range 30 {
		middle := (low + high) / 2
		below := 0.0
		for _, p := range parcels {
			below += p.share * 0.5 * math.Erfc((p.mean-middle)/(Sigma*math.Sqrt2))
		}
		if below < 0.5 {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Exp(low)
}

func (m *generator) components(truth Truth) []component {
	parcels := []component{{1, m.level}}
	if truth.Block >= 0 {
		better := m.shares[truth.Block]
		parcels = cross(parcels, []component{{1 - better, 0}, {better, truth.Blocks[truth.Block]}})
	}
	for _, tag := range working {
		parcels = cross(parcels, []component{{1 - hashtagShare, 0}, {hashtagShare, truth.Hashtags[tag]}})
	}
	var kinds, parts []component
	for _, format := range formats {
		kinds = append(kinds, component{format.share, truth.Formats[format.name]})
	}
	for i := range trendSteps {
		parts = append(parts, component{1.0 / trendSteps, m.trend * ((float64(i)+0.5)/trendSteps - 0.5)})
	}
	return cross(cross(parcels, kinds), parts)
}

// cross divides each parcel by what happens independently of it.
func cross(parcels, ways []component) []component {
	var out []component
	for _, p := range parcels {
		for _, way := range ways {
			out = append(out, component{p.share * way.share, p.mean + way.mean})
		}
	}
	return out
}
