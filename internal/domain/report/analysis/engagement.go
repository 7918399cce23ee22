package analysis

import (
	"pressroom/internal/domain/provider"
	"pressroom/internal/domain/report/result"
)

// engagementOf takes the medians of what the counted posts tell.
func engagementOf(all *figures) result.Engagement {
	out := result.Engagement{Basis: result.Measured, Counts: all.counts}
	var byFollowers, byViews []float64
	for _, p := range all.posts {
		if !p.counted {
			continue
		}
		out.PostsAnalysed++
		if all.followers != nil && *all.followers > 0 {
			byFollowers = append(byFollowers, p.engagement/float64(*all.followers))
		}
		if views := told(p.Views); views != nil && *views > 0 {
			byViews = append(byViews, p.engagement/float64(*views))
		}
	}
	out.RateByFollowers, out.RateByViews = result.MedianOf(byFollowers), result.MedianOf(byViews)
	out.Likes = result.MedianOf(all.each(func(p *provider.Post) *int64 { return p.Likes }))
	out.Comments = result.MedianOf(all.each(func(p *provider.Post) *int64 { return p.Comments }))
	out.Shares = result.MedianOf(all.each(func(p *provider.Post) *int64 { return p.Shares }))
	out.Views = result.MedianOf(all.each(func(p *provider.Post) *int64 { return p.Views }))
	return out
}

// each lists a figure of the settled posts that tell it.
func (f *figures) each(of func(*provider.Post) *int64) []float64 {
	var values []float64
	for _, p := range f.posts {
		if figure := told(of(p.Post)); figure != nil && !p.young {
			values = append(values, float64(*figure))
		}
	}
	return values
}
