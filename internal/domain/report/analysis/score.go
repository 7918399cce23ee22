package analysis

import (
	"math"
	"slices"

	"pressroom.example/pressroom/internal/domain/report/result"
)

// minScored is the minimum number of posts that must have a metric for the metric to count in the score.
const minScored = 5

// scale maps a metric to a component of the score. floor and lower values map to 0, ceiling and higher values to 100.
type scale struct {
	component, metric string
	weight            float64
	floor, ceiling    float64
	logarithmic       bool
}

// scales are the components with their weights and metrics. If a component has two metrics, the first known metric is
// used. docs/scoring.md explains the bounds.
var scales = []scale{
	{"engagement", "rate_by_followers", 0.35, 0.001, 0.1, true},
	{"engagement", "rate_by_views", 0.35, 0.003, 0.3, true},
	{"reach", "views_by_followers", 0.2, 0.01, 1, true},
	{"growth", "percent_per_month", 0.15, -2, 4, false},
	{"activity", "posts_per_week", 0.15, 0.5, 14, true},
	{"consistency", "evenness", 0.15, 0.2, 0.8, false},
}

// value returns the score of a metric, from 0 to 100.
func (s scale) value(metric float64) float64 {
	low, high := s.floor, s.ceiling
	if s.logarithmic {
		// Values below the floor score 0 anyway, and the logarithm of 0 is undefined.
		low, high, metric = math.Log(low), math.Log(high), math.Log(max(metric, s.floor/2))
	}
	return 100 * min(1, max(0, (metric-low)/(high-low)))
}

// score returns the score, or nil if no component is known.
func score(out result.Result, prof *profile) *result.FindingScoreSection {
	metrics := scoreMetrics(out, prof)
	components, missing := []result.FindingComponentCause{}, []string{}
	for i, s := range scales {
		measured, ok := metrics[s.metric]
		if last := len(components) - 1; last >= 0 && components[last].Name == s.component {
			continue
		}
		if ok {
			components = append(components, s.newComponent(measured))
		} else if i+1 == len(scales) || scales[i+1].component != s.component {
			missing = append(missing, s.component)
		}
	}
	return result.NewScore(components, missing, roundTenth)
}

// newComponent returns the component of the score for a measured metric.
func (s scale) newComponent(measured float64) result.FindingComponentCause {
	kind := "linear"
	if s.logarithmic {
		kind = "logarithmic"
	}
	return result.FindingComponentCause{
		FindingComponent: result.FindingComponent{Name: s.component, Value: roundTenth(s.value(measured))},
		Figure:           s.metric, Measured: measured, Floor: &s.floor, Ceiling: &s.ceiling, Scale: kind,
		FullWeight: s.weight,
	}
}

// scoreMetrics returns the metrics with enough data for the score. It omits engagement that does not include likes,
// because its score would be close to 0.
func scoreMetrics(out result.Result, prof *profile) map[string]float64 {
	medians := map[string]*result.FindingMedian{"views": out.Engagement.Views}
	if slices.Contains(prof.counts, "likes") {
		medians["rate_by_followers"], medians["rate_by_views"] = out.Engagement.RateByFollowers,
			out.Engagement.RateByViews
	}
	metrics := map[string]float64{}
	for name, median := range medians {
		if median != nil && median.Posts >= minScored {
			metrics[name] = median.Median
		}
	}
	if views, ok := metrics["views"]; ok && prof.followers != nil && *prof.followers > 0 {
		metrics["views_by_followers"] = result.Round4(views / float64(*prof.followers))
	}
	if growth := out.Sections.Growth; growth != nil && growth.PercentPerMonth != nil {
		metrics["percent_per_month"] = growth.PercentPerMonth.Value
	}
	if cadence := out.Sections.Cadence; cadence != nil && cadence.Posts >= minScored {
		metrics["posts_per_week"] = cadence.PostsPerWeek
		if cadence.Evenness != nil {
			metrics["evenness"] = *cadence.Evenness
		}
	}
	return metrics
}

// roundTenth rounds to one decimal.
func roundTenth(value float64) float64 { return math.Round(value*10) / 10 }
