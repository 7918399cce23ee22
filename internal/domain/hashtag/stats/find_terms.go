package stats

import (
	"slices"
	"strings"
	"unicode/utf8"

	"pressroom/internal/domain/provider"
)

const (
	maxWords   = 10  // of a phrase
	gramSize   = 3   // characters
	prefixMark = "^" // stands for the beginning of a hashtag in a gram; no hashtag has the sign
)

// lookup is one way to look for hashtags: through those of one of the grams, for those that match all patterns. Without
// patterns the gram says it all.
type lookup struct {
	grams, patterns []string
}

// normalizeWords is the words as hashtags are written, each once, without those that no hashtag can contain.
func normalizeWords(words []string) []string {
	var out []string
	for _, word := range words {
		word = strings.TrimLeft(provider.Folded(word), "#")
		if isSearchable(word) && !slices.Contains(out, word) {
			out = append(out, word)
		}
	}
	return out[:min(maxWords, len(out))]
}

func isSearchable(word string) bool {
	unfit := strings.ContainsFunc(word, func(r rune) bool { return !provider.InHashtag(r) })
	return word != "" && !unfit && utf8.RuneCountInString(word) <= provider.MaxHashtag
}

// lookupsForAll looks for what contains all the words. Words that are all shorter than a gram can only be looked for at
// the beginning, or as one.
func lookupsForAll(words []string) []lookup {
	if len(words) == 1 {
		return lookupsForWord(words[0])
	}
	patterns := likePatterns(words)
	if grams := trigrams(words); len(grams) > 0 {
		return []lookup{{grams, patterns}}
	}
	out := lookupsForWord(strings.Join(words, ""))
	for _, word := range words {
		for _, l := range lookupsForWord(word) {
			out = append(out, lookup{l.grams, patterns})
		}
	}
	return out
}

// lookupsForAny looks for what contains one of several words.
func lookupsForAny(words []string) []lookup {
	if len(words) == 1 {
		return nil
	}
	var out []lookup
	for _, word := range words {
		out = append(out, lookupsForWord(word)...)
	}
	return out
}

// lookupsForWord looks for what begins with a word of two characters, or contains a longer one. Nothing is looked for by a
// single character.
func lookupsForWord(word string) []lookup {
	switch length := utf8.RuneCountInString(word); {
	case length < gramSize-1 || length > provider.MaxHashtag:
		return nil
	case length < gramSize:
		return []lookup{{grams: []string{prefixMark + word}}}
	case length == gramSize:
		return []lookup{{grams: []string{word}}}
	}
	return []lookup{{trigrams([]string{word}), likePatterns([]string{word})}}
}

// trigrams is the grams in words, each once. Of several words it is one of each in turn, so that the first few are of
// all of them.
func trigrams(words []string) []string {
	spelt := make([][]rune, len(words))
	for n, word := range words {
		spelt[n] = []rune(word)
	}
	var out []string
	for at := range provider.MaxHashtag {
		for _, letters := range spelt {
			if at+gramSize > len(letters) {
				continue
			}
			if gram := string(letters[at : at+gramSize]); !slices.Contains(out, gram) {
				out = append(out, gram)
			}
		}
	}
	return out
}

var likeEscaper = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// likePatterns is the pattern of each word, whose underscores stand for themselves.
func likePatterns(words []string) []string {
	out := make([]string, len(words))
	for n, word := range words {
		out[n] = "%" + likeEscaper.Replace(word) + "%"
	}
	return out
}
