package words

import (
	_ "embed" // the table beside this file
	"math/bits"
	"strings"
	"sync"

	"pressroom/internal/domain/provider"
)

//go:embed stop.txt
var stopText string

// minSureWords is how many sure words of a language a caption holds before its doubtful ones are taken for that language's,
// too: "la" alone is no proof of Spanish, and "un hat" is none of German.
const minSureWords = 2

// stopUse says in which languages a word says nothing; a bit for each.
type stopUse struct{ sure, doubtful uint32 }

// stopWords are the words of stop.txt.
var stopWords = sync.OnceValue(func() map[string]stopUse {
	table := map[string]stopUse{}
	language := 0
	for line := range strings.Lines(stopText) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		for _, word := range fields[1:] {
			name, doubtful := strings.CutPrefix(word, "~")
			entry := table[provider.Folded(name)]
			if doubtful {
				entry.doubtful |= 1 << language
			} else {
				entry.sure |= 1 << language
			}
			table[provider.Folded(name)] = entry
		}
		language++
	}
	return table
})

// withoutStopWords are the words without those that stand in every sentence. What it leaves it would leave again, as fewer
// words are proof of fewer languages.
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
		if s.uses[i].sure == 0 && s.uses[i].doubtful&present == 0 {
			kept = append(kept, word)
		}
	}
	return kept
}
