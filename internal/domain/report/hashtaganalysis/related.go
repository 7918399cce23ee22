package hashtaganalysis

import (
	"cmp"
	"slices"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/report/result"
)

const (
	// minSupport is the minimum number of posts with a hashtag for a comparison.
	minSupport = 5
	// minCompared is the minimum number of posts in each of two samples for a comparison.
	minCompared = 20
	// maxTop and maxSection are the maximum numbers of hashtags and words in the summary and in a section.
	maxTop, maxSection = 20, 200
)

func countByTag(posts []provider.Post, tags map[string][]string) tally {
	out := tally{total: len(posts), counts: map[string]int{}}
	for _, p := range posts {
		for _, tag := range tags[p.ID] {
			out.counts[tag]++
		}
	}
	return out
}

func (t tally) shareOf(name string) proportion { return proportion{t.counts[name], t.total} }

// relatedHashtags returns the hashtags that occur together with the analyzed hashtag. It returns nil if there are no
// posts.
func (m measuredPosts) relatedHashtags(
	hashtag string, tags map[string][]string, background Background,
) *result.FindingHashtags {
	all, top, recent := countByTag(m.posts, tags), countByTag(m.top, tags), countByTag(m.recent, tags)
	delete(all.counts, hashtag)
	testCount := 0
	for _, posts := range all.counts {
		if posts >= minSupport {
			testCount++
		}
	}
	reference := tally{total: background.Posts, counts: background.PostsByHashtag}
	z := bonferroniZ(testCount)
	out := result.FindingHashtags{Posts: all.total, Different: len(all.counts), Hashtags: []result.FindingHashtag{}}
	for name, posts := range all.counts {
		h := result.FindingHashtag{Hashtag: name, Posts: posts,
			Share:   new(result.Round4(float64(posts) / float64(all.total))),
			Related: new(bool)}
		if posts >= minSupport {
			h = addLift(h, all, reference, z)
			h.InTop = inTop(top.shareOf(name), recent.shareOf(name))
		}
		out.Hashtags = append(out.Hashtags, h)
	}
	slices.SortFunc(out.Hashtags, compareRelated)
	out.Hashtags = out.Hashtags[:min(len(out.Hashtags), maxSection)]
	if all.total == 0 {
		return nil
	}
	return &out
}

// addLift sets the lift of a hashtag and whether it is significant, if there are enough posts.
func addLift(h result.FindingHashtag, target, reference tally, z float64) result.FindingHashtag {
	if target.total < minCompared || reference.total < minCompared {
		return h
	}
	a, o := target.shareOf(h.Hashtag), reference.shareOf(h.Hashtag)
	o.count = min(max(0, o.count), o.total)
	lift := a.relativeRisk(o, normal95).Round()
	h.Lift = &lift
	h.Related = new(a.relativeRisk(o, z).Low > 1)
	return h
}

// inTop returns the share of top posts with a hashtag relative to the share of recent posts, or nil if there are too
// few posts.
func inTop(top, recent proportion) *result.FindingRatio {
	if top.total < minCompared || recent.total < minCompared || top.count+recent.count < minSupport {
		return nil
	}
	ratio := top.relativeRisk(recent, normal95).Round()
	return &ratio
}

// compareRelated orders hashtags. Hashtags with a significant lift come first, ordered by the lower bound of the lift.
// The others are ordered by frequency.
func compareRelated(a, b result.FindingHashtag) int {
	mostUsed := result.CompareUse(a.Posts, b.Posts, a.Hashtag, b.Hashtag)
	switch {
	case *a.Related != *b.Related && *a.Related:
		return -1
	case *a.Related != *b.Related:
		return 1
	case *a.Related:
		return cmp.Or(cmp.Compare(b.Lift.Low, a.Lift.Low), mostUsed)
	}
	return mostUsed
}
