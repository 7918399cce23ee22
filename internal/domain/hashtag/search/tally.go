package search

import (
	"cmp"
	"maps"
	"slices"

	"pressroom.example/pressroom/internal/domain/hashtag/stats"
)

// minPosts is the minimum number of received posts that must use a hashtag for it to count as frequent.
const minPosts = 5

// tally counts the posts that use each hashtag.
type tally map[string]int

func (t tally) add(posts []stats.TaggedPost) {
	for _, p := range posts {
		for _, name := range p.Hashtags {
			t[name]++
		}
	}
}

// frequent returns the hashtags that at least minPosts posts use, the most frequent first. A frequent hashtag is not
// necessarily related: a related hashtag must also be significantly more frequent in these posts than in other posts.
func (t tally) frequent() []string {
	names := slices.DeleteFunc(slices.Collect(maps.Keys(t)), func(name string) bool { return t[name] < minPosts })
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(t[b]-t[a], cmp.Compare(a, b)) })
	return names
}
