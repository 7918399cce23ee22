package words

import (
	_ "embed" // stop.txt
	"math/bits"
	"strings"
	"sync"

	"pressroom.example/pressroom/internal/domain/provider"
)

//go:embed stop.txt
var stopText string

// minSureWords is how many unambiguous stop words of a language a caption must have before the language's ambiguous
// stop words count too. For example, "la" does not prove that a caption is Spanish.
const minSureWords = 2

// stopUse holds the languages where a word is an unambiguous (sure) or ambiguous stop word. Each language is one bit.
type stopUse struct{ sure, ambiguous uint32 }

// stopWords maps the words of stop.txt, normalized by provider.NormalizeText, to their languages.
var stopWords = sync.OnceValue(func() map[string]stopUse {
	table := map[string]stopUse{}
	language := 0
	for line := range strings.Lines(stopText) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		for _, word := range fields[1:] {
			name, ambiguous := strings.CutPrefix(word, "~")
			entry := table[provider.NormalizeText(name)]
			if ambiguous {
				entry.ambiguous |= 1 << language
			} else {
				entry.sure |= 1 << language
			}
			table[provider.NormalizeText(name)] = entry
		}
		language++
	}
	return table
})

// withoutStopWords returns the words that are not stop words. It reuses the memory of s.words.
func (s *wordSet) withoutStopWords() []string {
	var seen [32]int
	for _, use := range s.uses {
		for languages := use.sure; languages != 0; languages &= languages - 1 {
			seen[bits.TrailingZeros32(languages)]++
		}
	}
	var present uint32
	for language, count := range seen {
		if count >= minSureWords {
			present |= 1 << language
		}
	}
	kept := s.words[:0]
	for i, word := range s.words {
		if s.uses[i].sure == 0 && s.uses[i].ambiguous&present == 0 {
			kept = append(kept, word)
		}
	}
	return kept
}
