package tag

import (
	"cmp"
	"slices"

	"pressroom/internal/report/words"
	"pressroom/internal/source"
)

const (
	// support is in how many posts a hashtag has to be before anything is said about how often it is there.
	support = 5
	// leastCompared is of how many posts on either side a share is compared.
	leastCompared = 20
	// topMost and sectionMost are how many hashtags or words are told at most, in the summary and in the section.
	topMost, sectionMost = 20, 200
)

// tagged are the hashtags of posts, by the posts' ids.
func tagged(posts []source.Post) map[string][]string {
	out := make(map[string][]string, len(posts))
	for _, p := range posts {
		out[p.ID] = tagsOf(p)
	}
	return out
}

func byTag(posts []source.Post, tags map[string][]string) tally {
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
func (s shown) beside(own string, background Background) *Hashtags {
	tags := tagged(s.all)
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
	out := Hashtags{Posts: all.of, Different: len(all.with), Hashtags: []Beside{}}
	for name, posts := range all.with {
		b := Beside{Hashtag: name, Posts: posts, Share: tidy(float64(posts) / float64(all.of))}
		if posts >= support {
			b = b.compared(all, elsewhere, z)
			b.InTop = inTop(top.shareOf(name), recent.shareOf(name))
		}
		out.Hashtags = append(out.Hashtags, b)
	}
	slices.SortFunc(out.Hashtags, Beside.before)
	out.Hashtags = out.Hashtags[:min(len(out.Hashtags), sectionMost)]
	if all.of == 0 {
		return nil
	}
	return &out
}

// compared says how many times as often the hashtag is here as elsewhere, and whether that can be claimed.
func (b Beside) compared(here, elsewhere tally, z float64) Beside {
	if here.of < leastCompared || elsewhere.of < leastCompared {
		return b
	}
	a, o := here.shareOf(b.Hashtag), elsewhere.shareOf(b.Hashtag)
	o.with = min(max(0, o.with), o.of)
	lift := a.over(o, normal95).rounded()
	b.Lift = &lift
	b.Related = a.over(o, z).Low > 1
	return b
}

func inTop(top, recent shareOf) *Ratio {
	if top.of < leastCompared || recent.of < leastCompared || top.with+recent.with < support {
		return nil
	}
	ratio := top.over(recent, normal95).rounded()
	return &ratio
}

// before ranks what belongs to the hashtag first, by what its lift is at least, and the rest by how often it is there.
func (b Beside) before(other Beside) int {
	switch {
	case b.Related != other.Related && b.Related:
		return -1
	case b.Related != other.Related:
		return 1
	case b.Related:
		return cmp.Or(cmp.Compare(other.Lift.Low, b.Lift.Low), other.Posts-b.Posts, cmp.Compare(b.Hashtag, other.Hashtag))
	}
	return cmp.Or(other.Posts-b.Posts, cmp.Compare(b.Hashtag, other.Hashtag))
}

// said is which words the captions have; nil where there are none.
func (s shown) said() *Words {
	counts := map[string]int{}
	for _, p := range s.all {
		for _, word := range words.Words(p.Caption) {
			counts[word]++
		}
	}
	out := Words{Posts: len(s.all), Different: len(counts), Words: []Word{}}
	for word, posts := range counts {
		out.Words = append(out.Words, Word{Word: word, Posts: posts})
	}
	slices.SortFunc(out.Words, func(a, b Word) int { return cmp.Or(b.Posts-a.Posts, cmp.Compare(a.Word, b.Word)) })
	out.Words = out.Words[:min(len(out.Words), sectionMost)]
	if len(counts) == 0 {
		return nil
	}
	return &out
}
