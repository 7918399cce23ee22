package hashtaganalysis

import (
	"math"

	"pressroom.example/pressroom/internal/domain/report/result"
)

// scale maps a metric logarithmically to a component of the score. worst maps to 0 and best to 100.
type scale struct {
	name, metric string
	worst, best  float64
	weight       float64
}

// The components of the score. Their scales are conventions that spread typical metrics over 0 to 100. See
// docs/scoring.md.
var (
	activity    = scale{name: "activity", metric: "posts_per_day", worst: 1, best: 1000, weight: 0.3}
	reactions   = scale{name: "reactions", metric: "median_likes", worst: 1, best: 1000, weight: 0.4}
	competition = scale{name: "competition", metric: "top_likes_by_recent_likes", worst: 10_000, best: 1, weight: 0.3}
)

// minScored is the minimum number of recent posts with known likes that the score components based on likes require.
const minScored = 5

// value returns the score of a metric, from 0 to 100.
func (s scale) value(metric float64) float64 {
	if metric <= 0 {
		metric = math.SmallestNonzeroFloat64
	}
	part := math.Log(metric/s.worst) / math.Log(s.best/s.worst)
	return 100 * max(0, min(1, part))
}

// score rates activity, likes of recent posts, and how reachable the top posts are. It returns nil if all of them are
// unknown.
func score(rate *TagRate, a result.FindingAudience) *result.FindingScoreSection {
	components, missing := []result.FindingComponentCause{}, []string{}
	for _, part := range []struct {
		scale
		value *float64
	}{{activity, perDay(rate)}, {reactions, medianLikes(a.Recent)}, {competition, topDistance(a)}} {
		if part.value == nil {
			missing = append(missing, part.name)
			continue
		}
		components = append(components, result.FindingComponentCause{
			FindingComponent: result.FindingComponent{Name: part.name, Value: result.Round4(part.scale.value(*part.value))},
			Figure:           part.metric, Measured: result.Round4(*part.value), Worst: &part.worst,
			Best:       &part.best,
			FullWeight: part.weight,
		})
	}
	return result.NewScore(components, missing, result.Round4)
}

func perDay(rate *TagRate) *float64 {
	if rate == nil {
		return nil
	}
	return &rate.Value
}

func medianLikes(r *result.FindingReactions) *float64 {
	if r == nil || r.Likes == nil || r.Likes.Posts < minScored {
		return nil
	}
	return &r.Likes.Median
}

// topDistance returns the lower quartile of the likes of top posts divided by the median likes of recent posts. One
// like is added to both, because many posts have no likes.
func topDistance(a result.FindingAudience) *float64 {
	if a.Top == nil || a.Top.Likes == nil || medianLikes(a.Recent) == nil {
		return nil
	}
	return new((a.Top.Likes.LowerQuartile + 1) / (a.Recent.Likes.Median + 1))
}
