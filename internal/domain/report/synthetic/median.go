package synthetic

import "math"

// steps is into how many parts the period is cut for what grows over it.
const steps = 4

// parcel is a share of all posts whose logarithm of engagement has the same middle.
type parcel struct{ share, middle float64 }

// median is the median engagement of all posts that the profile might have made: of the mixture of everything that
// has an effect, each as often as it comes. It is for plans that are not tangled, where all of it is independent.
func (m *maker) median(truth Truth) float64 {
	parcels := m.parcels(truth)
	low, high := m.level-5, m.level+5
	for range 30 {
		middle := (low + high) / 2
		below := 0.0
		for _, p := range parcels {
			below += p.share * 0.5 * math.Erfc((p.middle-middle)/(Sigma*math.Sqrt2))
		}
		if below < 0.5 {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Exp(low)
}

func (m *maker) parcels(truth Truth) []parcel {
	parcels := []parcel{{1, m.level}}
	if truth.Block >= 0 {
		better := m.shares[truth.Block]
		parcels = split(parcels, []parcel{{1 - better, 0}, {better, truth.Blocks[truth.Block]}})
	}
	for _, tag := range working {
		parcels = split(parcels, []parcel{{1 - hashtagShare, 0}, {hashtagShare, truth.Hashtags[tag]}})
	}
	var kinds, parts []parcel
	for _, format := range formats {
		kinds = append(kinds, parcel{format.share, truth.Formats[format.name]})
	}
	for i := range steps {
		parts = append(parts, parcel{1.0 / steps, m.trend * ((float64(i)+0.5)/steps - 0.5)})
	}
	return split(split(parcels, kinds), parts)
}

// split divides each parcel by what happens independently of it.
func split(parcels, ways []parcel) []parcel {
	var out []parcel
	for _, p := range parcels {
		for _, way := range ways {
			out = append(out, parcel{p.share * way.share, p.middle + way.middle})
		}
	}
	return out
}
