package analysis

import "math"

// leastScored is how many posts a component of the score rests on at least.
const leastScored = 5

// scale reads a figure as a part of the score: floor is worth 0, ceiling 100.
type scale struct {
	component, figure string
	weight            float64
	floor, ceiling    float64
	logarithmic       bool
}

// scales are the components with their weights and the figures they are read from. Where a component has two, the
// first that is known counts. docs/scoring.md says where the ends come from.
var scales = []scale{
	{"engagement", "rate_by_followers", 0.35, 0.001, 0.1, true},
	{"engagement", "rate_by_views", 0.35, 0.003, 0.3, true},
	{"reach", "views_by_followers", 0.2, 0.01, 1, true},
	{"growth", "percent_per_month", 0.15, -2, 4, false},
	{"activity", "posts_per_week", 0.15, 0.5, 14, true},
	{"consistency", "evenness", 0.15, 0.2, 0.8, false},
}

// value is what a figure is worth on the scale, from 0 to 100.
func (s scale) value(figure float64) float64 {
	low, high := s.floor, s.ceiling
	if s.logarithmic {
		// Nothing at all lies below every floor.
		low, high, figure = math.Log(low), math.Log(high), math.Log(max(figure, s.floor/2))
	}
	return 100 * min(1, max(0, (figure-low)/(high-low)))
}

// scoreOf sums up what is known; nil where no component is.
func scoreOf(out Profile, all *figures) *ScoreSection {
	known := scored(out, all)
	section := &ScoreSection{Components: []ComponentCause{}, Missing: []string{}}
	total := 0.0
	for i, s := range scales {
		measured, ok := known[s.figure]
		last := len(section.Components) - 1
		if last >= 0 && section.Components[last].Name == s.component {
			continue
		}
		if !ok {
			if i+1 == len(scales) || scales[i+1].component != s.component {
				section.Missing = append(section.Missing, s.component)
			}
			continue
		}
		total += s.weight
		section.Components = append(section.Components, s.cause(measured))
	}
	if len(section.Components) == 0 {
		return nil
	}
	sum := 0.0
	for i := range section.Components {
		c := &section.Components[i]
		c.Weight = tidy(c.FullWeight / total)
		sum += c.Value * c.FullWeight / total
	}
	section.Value = tenth(sum)
	return section
}

func (s scale) cause(measured float64) ComponentCause {
	kind := "linear"
	if s.logarithmic {
		kind = "logarithmic"
	}
	return ComponentCause{
		Component: Component{Name: s.component, Value: tenth(s.value(measured))},
		Figure:    s.figure, Measured: measured, Floor: s.floor, Ceiling: s.ceiling, Scale: kind, FullWeight: s.weight,
	}
}

// scored lists the figures that are known well enough to count.
func scored(out Profile, all *figures) map[string]float64 {
	known := map[string]float64{}
	for name, median := range map[string]*Median{"rate_by_followers": out.Engagement.RateByFollowers, "rate_by_views": out.Engagement.RateByViews, "views": out.Engagement.Views} {
		if median != nil && median.Posts >= leastScored {
			known[name] = median.Median
		}
	}
	if views, told := known["views"]; told && all.followers != nil && *all.followers > 0 {
		known["views_by_followers"] = tidy(views / float64(*all.followers))
	}
	if growth := out.Sections.Growth; growth != nil && growth.PercentPerMonth != nil {
		known["percent_per_month"] = growth.PercentPerMonth.Value
	}
	if cadence := out.Sections.Cadence; cadence != nil && cadence.Posts >= leastScored {
		known["posts_per_week"] = cadence.PostsPerWeek
		if cadence.Evenness != nil {
			known["evenness"] = *cadence.Evenness
		}
	}
	return known
}

// short is the score without how it came about.
func (s *ScoreSection) short() *Score {
	if s == nil {
		return nil
	}
	out := &Score{Value: s.Value, Components: []Component{}}
	for _, c := range s.Components {
		out.Components = append(out.Components, c.Component)
	}
	return out
}

// tenth rounds to one digit behind the point.
func tenth(value float64) float64 { return math.Round(value*10) / 10 }
