package hashtaganalysis

import (
	"slices"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/report/result"
)

// The values of result.FindingEngagement.Of.
const (
	ofRecent = "recent"
	ofTop    = "top"
)

// metric returns a metric of a post, or nil if it is unknown.
type metric func(provider.Post) *int64

func likes(p provider.Post) *int64    { return p.Likes }
func comments(p provider.Post) *int64 { return p.Comments }
func views(p provider.Post) *int64    { return p.Views }

// values returns the known values of the metric. Negative values count as unknown.
func (m metric) values(posts []provider.Post) []float64 {
	var out []float64
	for _, p := range posts {
		if value := m(p); value != nil && *value >= 0 {
			out = append(out, float64(*value))
		}
	}
	return out
}

// reactions returns the reactions to posts, or nil if none are known.
func (m measuredPosts) reactions(posts []provider.Post) *result.FindingReactions {
	out := result.FindingReactions{
		Posts: len(posts), Likes: result.NewMedian(metric(likes).values(posts)),
		Comments: result.NewMedian(metric(comments).values(posts)),
		Views:    result.NewMedian(metric(views).values(posts)),
	}
	if out.Likes == nil && out.Comments == nil && out.Views == nil {
		return nil
	}
	if ages := m.ages(posts); len(ages) > 0 {
		out.MedianAge = new(result.Round4(result.Quantile(ages, 0.5)))
	}
	return &out
}

func (m measuredPosts) audience() result.FindingAudience {
	return result.FindingAudience{Top: m.reactions(m.top), Recent: m.reactions(m.recent)}
}

// engagement returns the reactions to recent posts, which are typical. If none are known, it returns the reactions to
// top posts, which are higher than usual.
func (m measuredPosts) engagement(a result.FindingAudience) result.FindingEngagement {
	out := result.FindingEngagement{Basis: Measured}
	source := a.Recent
	switch {
	case a.Recent != nil:
		out.Of = ofRecent
	case a.Top != nil:
		out.Of, source = ofTop, a.Top
	default:
		return out
	}
	out.PostsAnalysed = source.Posts
	out.Likes, out.Comments, out.Views = source.Likes, source.Comments, source.Views
	return out
}

// formats returns the formats with their shares of top and recent posts, most used first. It returns nil if no format
// is known.
func (m measuredPosts) formats() *result.FindingFormats {
	all, top, recent := countByFormat(m.posts), countByFormat(m.top), countByFormat(m.recent)
	out := result.FindingFormats{Posts: all.total}
	for name, posts := range all.counts {
		out.Formats = append(out.Formats, result.FindingFormat{Format: name, Posts: posts, TopShare: top.share(name),
			RecentShare: recent.share(name)})
	}
	slices.SortFunc(out.Formats, func(a, b result.FindingFormat) int {
		return result.CompareUse(a.Posts, b.Posts, a.Format,
			b.Format)
	})
	if out.Posts == 0 {
		return nil
	}
	return &out
}

// tally counts posts, in total and by the name of a format or hashtag.
type tally struct {
	total  int
	counts map[string]int
}

func countByFormat(posts []provider.Post) tally {
	formats := []string{provider.FormatImage, provider.FormatVideo, provider.FormatReel, provider.FormatCarousel}
	out := tally{counts: map[string]int{}}
	for _, p := range posts {
		if slices.Contains(formats, p.Format) {
			out.total++
			out.counts[p.Format]++
		}
	}
	return out
}

func (t tally) share(name string) *float64 {
	if t.total == 0 {
		return nil
	}
	return new(result.Round4(float64(t.counts[name]) / float64(t.total)))
}
