package result

import (
	"cmp"
	"slices"
)

// NewWords returns at most limit words, most used first, or nil if there are none. postsByWord holds the number of
// posts by word, and posts is the number of analyzed posts.
func NewWords(postsByWord map[string]int, posts, limit int) *FindingWords {
	if len(postsByWord) == 0 {
		return nil
	}
	words := make([]FindingWord, 0, len(postsByWord))
	for word, posts := range postsByWord {
		words = append(words, FindingWord{Word: word, Posts: posts})
	}
	slices.SortFunc(words, func(a, b FindingWord) int { return CompareUse(a.Posts, b.Posts, a.Word, b.Word) })
	return &FindingWords{Posts: posts, Different: len(postsByWord), Words: slices.Clone(words[:min(limit, len(words))])}
}

// CompareUse compares two names for sorting: by number of posts (a and b), highest first, and then alphabetically.
func CompareUse(a, b int, nameA, nameB string) int {
	return cmp.Or(cmp.Compare(b, a), cmp.Compare(nameA, nameB))
}
