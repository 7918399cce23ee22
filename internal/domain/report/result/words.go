package result

import (
	"cmp"
	"slices"
)

// NewWords returns at most most words by number of posts, or nil if there are none.
func NewWords(count map[string]int, posts, most int) *Words {
	if len(count) == 0 {
		return nil
	}
	words := make([]Word, 0, len(count))
	for word, posts := range count {
		words = append(words, Word{Word: word, Posts: posts})
	}
	slices.SortFunc(words, func(a, b Word) int { return CompareUse(a.Posts, b.Posts, a.Word, b.Word) })
	return &Words{Posts: posts, Different: len(count), Words: slices.Clone(words[:min(most, len(words))])}
}

// CompareUse orders names by descending number of posts, then by name.
func CompareUse(a, b int, nameA, nameB string) int {
	return cmp.Or(cmp.Compare(b, a), cmp.Compare(nameA, nameB))
}
