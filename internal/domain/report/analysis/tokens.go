package analysis

import (
	"cmp"
	"slices"

	"pressroom.example/pressroom/internal/domain/report/result"
)

// Maximum numbers of items in the summary and in sections.
const (
	maxTopHashtags     = 10 // in the summary
	maxTopWords        = 20
	maxSectionHashtags = 100 // in the section
	maxSectionWords    = 100
)

// hashtagsSection ranks the hashtags. The most effective are first, or the most used if no effect is known.
func hashtagsSection(all *figures, e *effects) *result.FindingHashtags {
	if len(all.posts) == 0 {
		return nil
	}
	uses := make([]int, len(all.hashtags))
	perPost := make([]float64, 0, len(all.posts))
	for _, p := range all.posts {
		perPost = append(perPost, float64(len(p.hashtags)))
		for _, tag := range p.hashtags {
			uses[tag]++
		}
	}
	slices.Sort(perPost)
	median := result.Round4(result.Quantile(perPost, 0.5))
	out := &result.FindingHashtags{Posts: len(all.posts), Different: len(all.hashtags), MedianPerPost: &median,
		Hashtags: []result.FindingHashtag{}}
	order := make([]int, len(uses))
	for tag := range order {
		order[tag] = tag
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(e.hashtagRank(b), e.hashtagRank(a)), result.CompareUse(uses[a], uses[b],
			all.hashtags[a], all.hashtags[b]))
	})
	for _, tag := range order[:min(maxSectionHashtags, len(order))] {
		entry := result.FindingHashtag{Hashtag: all.hashtags[tag], Posts: uses[tag], Works: new(e.claimedHashtags[tag])}
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
