package analysis

import (
	"cmp"
	"slices"

	"pressroom/internal/report/words"
)

const (
	topHashtags = 10 // of the summary
	topWords    = 20
	allHashtags = 100 // of the section
	allWords    = 100
)

// hashtagsSection ranks the hashtags: those that most likely help first. Where nothing can be told about any, those
// used most come first.
func hashtagsSection(all *figures, e *effects) *Hashtags {
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
	out := &Hashtags{Posts: len(all.posts), Different: len(all.hashtags), MedianPerPost: medianOf(perPost).Median, Hashtags: []Hashtag{}}
	order := make([]int, len(uses))
	for tag := range order {
		order[tag] = tag
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(e.promise(b), e.promise(a)), mostUsed(uses[a], uses[b], all.hashtags[a], all.hashtags[b]))
	})
	for _, tag := range order[:min(allHashtags, len(order))] {
		entry := Hashtag{Hashtag: all.hashtags[tag], Posts: uses[tag], Works: e.works[tag]}
		if ratio, compared := e.hashtags[tag]; compared {
			entry.Ratio = &ratio
		}
		out.Hashtags = append(out.Hashtags, entry)
	}
	return out
}

// promise is what a hashtag is ranked by. One that was not compared is taken for as good as any.
func (e *effects) promise(tag int) float64 {
	ratio, compared := e.hashtags[tag]
	if !compared {
		return 1
	}
	return ratio.Shrunk
}

func mostUsed(a, b int, nameA, nameB string) int {
	return cmp.Or(cmp.Compare(b, a), cmp.Compare(nameA, nameB))
}

// wordsSection counts the words of the captions, the most used first.
func wordsSection(all *figures) *Words {
	count := map[string]int{}
	for _, p := range all.posts {
		for _, word := range words.Words(p.Caption) {
			count[word]++
		}
	}
	if len(count) == 0 {
		return nil
	}
	out := &Words{Posts: len(all.posts), Different: len(count), Words: make([]Word, 0, len(count))}
	for word, posts := range count {
		out.Words = append(out.Words, Word{word, posts})
	}
	slices.SortFunc(out.Words, func(a, b Word) int { return mostUsed(a.Posts, b.Posts, a.Word, b.Word) })
	out.Words = slices.Clone(out.Words[:min(allWords, len(out.Words))])
	return out
}
