package stats

import (
	"slices"
	"strings"
	"unicode/utf8"

	"pressroom/internal/domain/provider"
)

const (
	mostWords = 10  // of a phrase
	gramSize  = 3   // characters
	beginning = "^" // stands for the beginning of a hashtag in a gram; no hashtag has the sign
)

// look is one way to look for hashtags: through those of one of the grams, for those that match all patterns. Without
// patterns the gram says it all.
type look struct {
	grams, patterns []string
}

// searchable is the words as hashtags are written, each once, without those that no hashtag can contain.
func searchable(words []string) []string {
	var out []string
	for _, word := range words {
		word = strings.TrimLeft(provider.Folded(word), "#")
		if fits(word) && !slices.Contains(out, word) {
			out = append(out, word)
		}
	}
	return out[:min(mostWords, len(out))]
}

func fits(word string) bool {
	unfit := strings.ContainsFunc(word, func(r rune) bool { return !provider.InHashtag(r) })
	return word != "" && !unfit && utf8.RuneCountInString(word) <= provider.MaxHashtag
}

// lookForAll looks for what contains all the words. Words that are all shorter than a gram can only be looked for at
// the beginning, or as one.
func lookForAll(words []string) []look {
	if len(words) == 1 {
		return lookForOne(words[0])
	}
	patterns := containing(words)
	if grams := gramsOf(words); len(grams) > 0 {
		return []look{{grams, patterns}}
	}
	out := lookForOne(strings.Join(words, ""))
	for _, word := range words {
		for _, l := range lookForOne(word) {
			out = append(out, look{l.grams, patterns})
		}
	}
	return out
}

// lookForAny looks for what contains one of several words.
func lookForAny(words []string) []look {
	if len(words) == 1 {
		return nil
	}
	var out []look
	for _, word := range words {
		out = append(out, lookForOne(word)...)
	}
	return out
}

// lookForOne looks for what begins with a word of two characters, or contains a longer one. Nothing is looked for by a
// single character.
func lookForOne(word string) []look {
	switch length := utf8.RuneCountInString(word); {
	case length < gramSize-1 || length > provider.MaxHashtag:
		return nil
	case length < gramSize:
		return []look{{grams: []string{beginning + word}}}
	case length == gramSize:
		return []look{{grams: []string{word}}}
	}
	return []look{{gramsOf([]string{word}), containing([]string{word})}}
}

// gramsOf is the grams in words, each once. Of several words it is one of each in turn, so that the first few are of
// all of them.
func gramsOf(words []string) []string {
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

var literally = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// containing is the pattern of each word, whose underscores stand for themselves.
func containing(words []string) []string {
	out := make([]string, len(words))
	for n, word := range words {
		out[n] = "%" + literally.Replace(word) + "%"
	}
	return out
}
