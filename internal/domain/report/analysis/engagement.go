package analysis

import (
	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/report/result"
)

// engagement returns the median rates of the counted posts, and the median metrics of all posts that are not young.
func engagement(prof *profile) result.FindingEngagement {
	out := result.FindingEngagement{Basis: result.Measured, Counts: prof.counts}
	var byFollowers, byViews []float64
	for _, p := range prof.posts {
		if !p.isCounted {
			continue
		}
		out.PostsAnalysed++
		if prof.followers != nil && *prof.followers > 0 {
			byFollowers = append(byFollowers, p.engagement/float64(*prof.followers))
		}
		if views := valid(p.Views); views != nil && *views > 0 {
			byViews = append(byViews, p.engagement/float64(*views))
		}
	}
	out.RateByFollowers, out.RateByViews = result.NewMedian(byFollowers), result.NewMedian(byViews)
	out.Likes = result.NewMedian(prof.values(func(p *provider.Post) *int64 { return p.Likes }))
	out.Comments = result.NewMedian(prof.values(func(p *provider.Post) *int64 { return p.Comments }))
	out.Shares = result.NewMedian(prof.values(func(p *provider.Post) *int64 { return p.Shares }))
	out.Views = result.NewMedian(prof.values(func(p *provider.Post) *int64 { return p.Views }))
	return out
}

// values returns the known values of a metric in posts that are not young.
func (prof *profile) values(metric func(*provider.Post) *int64) []float64 {
	var values []float64
	for _, p := range prof.posts {
		if value := valid(metric(p.Post)); value != nil && !p.isYoung {
			values = append(values, float64(*value))
		}
	}
	return values
}
