package stats

import (
	"slices"
	"strings"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/domain/provider"
)

const (
	maxWords   = 10  // maximum number of words in a phrase
	gramSize   = 3   // characters
	prefixMark = "^" // marks the start of a hashtag in a gram; no hashtag contains it
)

// lookup finds the hashtags that contain one of the grams and match all patterns.
type lookup struct {
	grams, patterns []string
}

// normalizeWords returns the distinct words, normalized like hashtags. It omits words that no hashtag can contain, and
// words after the tenth.
func normalizeWords(words []string) []string {
	var out []string
	for _, word := range words {
		word = strings.TrimLeft(provider.NormalizeText(word), "#")
		if isSearchable(word) && !slices.Contains(out, word) {
			out = append(out, word)
		}
	}
	return out[:min(maxWords, len(out))]
}

// isSearchable reports whether a hashtag can contain a normalized word.
func isSearchable(word string) bool {
	invalid := strings.ContainsFunc(word, func(r rune) bool { return !provider.IsHashtagRune(r) })
	return word != "" && !invalid && utf8.RuneCountInString(word) <= provider.MaxHashtag
}

// lookupsForAll returns the lookups for hashtags that contain all words. If every word is shorter than a gram, only
// prefixes and the joined words can be found.
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

// lookupsForAny returns the lookups for hashtags that contain any of several words.
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

// lookupsForWord returns the lookup for hashtags that begin with a word of two characters or contain a longer word.
// Single characters are not searched.
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

// trigrams returns the distinct trigrams of words. It takes one trigram of each word in turn, so that the first
// trigrams cover all words.
func trigrams(words []string) []string {
	letters := make([][]rune, len(words))
	for n, word := range words {
		letters[n] = []rune(word)
	}
	var out []string
	for start := range provider.MaxHashtag {
		for _, word := range letters {
			if start+gramSize > len(word) {
				continue
			}
			if gram := string(word[start : start+gramSize]); !slices.Contains(out, gram) {
				out = append(out, gram)
			}
		}
	}
	return out
}

var likeEscaper = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// likePatterns returns a LIKE pattern for each word. Underscores match literally.
func likePatterns(words []string) []string {
	out := make([]string, len(words))
	for n, word := range words {
		out[n] = "%" + likeEscaper.Replace(word) + "%"
	}
	return out
}
