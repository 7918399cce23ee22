package search

import (
	"cmp"
	"maps"
	"slices"

	"pressroom/internal/domain/hashtag/stats"
)

// minPosts is on how many posts a hashtag stands before it is asked for, so that no single author chooses what is.
const minPosts = 5

// tally is on how many of the posts that a source showed a hashtag stands.
type tally map[string]int

func (t tally) add(posts []stats.TaggedPost) {
	for _, p := range posts {
		for _, name := range p.Hashtags {
			t[name]++
		}
	}
}

// frequent are the hashtags on several posts, those on the most first. That they stand there is no claim that they belong.
func (t tally) frequent() []string {
	often := slices.DeleteFunc(slices.Collect(maps.Keys(t)), func(name string) bool { return t[name] < minPosts })
	slices.SortFunc(often, func(a, b string) int { return cmp.Or(t[b]-t[a], cmp.Compare(a, b)) })
	return often
}
