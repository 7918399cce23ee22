package search

import (
	"cmp"
	"maps"
	"slices"

	"pressroom/internal/domain/hashtag/stats"
)

// several is on how many posts a hashtag stands before it is asked for, so that no single author chooses what is.
const several = 5

// tally is on how many of the posts that a source showed a hashtag stands.
type tally map[string]int

func (t tally) add(posts []stats.Carrier) {
	for _, p := range posts {
		for _, name := range p.Hashtags {
			t[name]++
		}
	}
}

// most are the hashtags on several posts, those on the most first. That they stand there is no claim that they belong.
func (t tally) most() []string {
	often := slices.DeleteFunc(slices.Collect(maps.Keys(t)), func(name string) bool { return t[name] < several })
	slices.SortFunc(often, func(a, b string) int { return cmp.Or(t[b]-t[a], cmp.Compare(a, b)) })
	return often
}
