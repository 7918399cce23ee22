package hashtaganalysis

import (
	"cmp"
	"slices"

	"pressroom/internal/domain/provider"
	"pressroom/internal/domain/report/result"
)

const (
	// support is in how many posts a hashtag has to be before anything is said about how often it is there.
	support = 5
	// leastCompared is of how many posts on either side a share is compared.
	leastCompared = 20
	// topMost and sectionMost are how many hashtags or words are told at most, in the summary and in the section.
	topMost, sectionMost = 20, 200
)

func byTag(posts []provider.Post, tags map[string][]string) tally {
	out := tally{of: len(posts), with: map[string]int{}}
	for _, p := range posts {
		for _, tag := range tags[p.ID] {
			out.with[tag]++
		}
	}
	return out
}

func (t tally) shareOf(name string) shareOf { return shareOf{t.with[name], t.of} }

// beside is which hashtags stand beside the analysed one.
func (s shown) beside(own string, tags map[string][]string, background Background) *result.Hashtags {
	all, top, recent := byTag(s.all, tags), byTag(s.top, tags), byTag(s.recent, tags)
	delete(all.with, own)
	supported := 0
	for _, posts := range all.with {
		if posts >= support {
			supported++
		}
	}
	elsewhere := tally{of: background.Posts, with: background.With}
	z := strict(supported)
	out := result.Hashtags{Posts: all.of, Different: len(all.with), Hashtags: []result.Hashtag{}}
	for name, posts := range all.with {
		b := result.Hashtag{Hashtag: name, Posts: posts, Share: new(result.Tidy(float64(posts) / float64(all.of))), Related: new(bool)}
		if posts >= support {
			b = compared(b, all, elsewhere, z)
			b.InTop = inTop(top.shareOf(name), recent.shareOf(name))
		}
		out.Hashtags = append(out.Hashtags, b)
	}
	slices.SortFunc(out.Hashtags, closer)
	out.Hashtags = out.Hashtags[:min(len(out.Hashtags), sectionMost)]
	if all.of == 0 {
		return nil
	}
	return &out
}

// compared says how many times as often the hashtag is here as elsewhere, and whether that can be claimed.
func compared(b result.Hashtag, here, elsewhere tally, z float64) result.Hashtag {
	if here.of < leastCompared || elsewhere.of < leastCompared {
		return b
	}
	a, o := here.shareOf(b.Hashtag), elsewhere.shareOf(b.Hashtag)
	o.with = min(max(0, o.with), o.of)
	lift := a.over(o, normal95).Rounded()
	b.Lift = &lift
	b.Related = new(a.over(o, z).Low > 1)
	return b
}

func inTop(top, recent shareOf) *result.Ratio {
	if top.of < leastCompared || recent.of < leastCompared || top.with+recent.with < support {
		return nil
	}
	ratio := top.over(recent, normal95).Rounded()
	return &ratio
}

// closer ranks what belongs to the hashtag first, by what its lift is at least, and the rest by how often it is there.
func closer(a, b result.Hashtag) int {
	mostUsed := result.MostUsed(a.Posts, b.Posts, a.Hashtag, b.Hashtag)
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
