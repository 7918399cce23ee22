package analysis

import (
	"cmp"
	"slices"

	"pressroom.example/pressroom/internal/domain/report/result"
)

// The maximum numbers of hashtags and words in a report.
const (
	maxTopHashtags     = 10  // in the summary
	maxTopWords        = 20  // in the summary
	maxSectionHashtags = 100 // in the section
	maxSectionWords    = 100 // in the section
)

// hashtagsSection returns the hashtags, most effective first and then most used first. It returns nil if there are no
// posts.
func hashtagsSection(prof *profile, e *effects) *result.FindingHashtags {
	if len(prof.posts) == 0 {
		return nil
	}
	uses := make([]int, len(prof.hashtags))
	perPost := make([]float64, 0, len(prof.posts))
	for _, p := range prof.posts {
		perPost = append(perPost, float64(len(p.hashtags)))
		for _, tag := range p.hashtags {
			uses[tag]++
		}
	}
	slices.Sort(perPost)
	median := result.Round4(result.Quantile(perPost, 0.5))
	out := &result.FindingHashtags{Posts: len(prof.posts), Different: len(prof.hashtags), MedianPerPost: &median,
		Hashtags: []result.FindingHashtag{}}
	order := make([]int, len(uses))
	for tag := range order {
		order[tag] = tag
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(e.hashtagRank(b), e.hashtagRank(a)), result.CompareUse(uses[a], uses[b],
			prof.hashtags[a], prof.hashtags[b]))
	})
	for _, tag := range order[:min(maxSectionHashtags, len(order))] {
		entry := result.FindingHashtag{Hashtag: prof.hashtags[tag], Posts: uses[tag], Works: new(e.significantHashtags[tag])}
		if ratio, compared := e.hashtags[tag]; compared {
			entry.Ratio = &ratio
		}
		out.Hashtags = append(out.Hashtags, entry)
	}
	return out
}

// hashtagRank returns the shrunk ratio, or 1 for a hashtag that was not compared.
func (e *effects) hashtagRank(tag int) float64 {
	ratio, compared := e.hashtags[tag]
	if !compared {
		return 1
	}
	return *ratio.Shrunk
}
