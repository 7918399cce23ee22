package words

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"pressroom/internal/domain/provider"
)

// minLetters is how many letters a word has at least, unless it is a character that is a word: one letter is a
// list's a) or a piece of an abbreviation.
const minLetters = 2

// initialCapacity is for how many words there is room at first: for those of most captions.
const initialCapacity = 24

// asciiWordChars says which characters of ASCII words are written with: most captions have no others, and looking into
// Unicode's tables for each is what takes longest.
var asciiWordChars = func() [utf8.RuneSelf]bool {
	var table [utf8.RuneSelf]bool
	for r := range table {
		table[r] = provider.InHashtag(rune(r))
	}
	return table
}()

// wordSet is the words of a caption, each once, with what stop.txt says of each.
type wordSet struct {
	words []string
	uses  []stopUse
}

// addText adds the words of a text in the form of plain.
func (s *wordSet) addText(text string) {
	for text != "" {
		piece, ascii := wordPrefix(text)
		switch {
		case piece == "":
			_, size := utf8.DecodeRuneInString(text)
			text = text[size:]
			continue
		case ascii: // it is one word
			s.add(strings.Trim(piece, "_"))
		default:
			for rest := piece; rest != ""; {
				var word string
				word, rest = nextWord(rest)
				s.add(trimWord(word))
			}
		}
		text = text[len(piece):]
	}
}

// wordPrefix is what a text begins with that words are written with, and whether all of it is ASCII.
func wordPrefix(text string) (string, bool) {
	ascii := true
	for i, r := range text {
		if r < utf8.RuneSelf {
			if !asciiWordChars[r] {
				return text[:i], ascii
			}
			continue
		}
		if isOutsideHashtag(r) {
			return text[:i], ascii
		}
		ascii = false
	}
	return text, ascii
}

func (s *wordSet) add(word string) {
	if isWord(word) && !slices.Contains(s.words, word) {
		s.words, s.uses = append(s.words, word), append(s.uses, stopWords()[word])
	}
}

// nextWord is the first word of a piece that holds nothing but what words are written with, and the rest of the piece.
// In ASCII such a piece is one word.
func nextWord(piece string) (string, string) {
	if strings.IndexFunc(piece, isNonASCII) < 0 {
		return piece, ""
	}
	end := strings.IndexFunc(piece, endsHiragana)
	if end == 0 {
		word, rest, _ := uniseg.FirstWordInString(piece, -1)
		return word, rest
	}
	if end < 0 {
		end = len(piece)
	}
	return piece[:end], piece[end:]
}

func isNonASCII(r rune) bool { return r >= utf8.RuneSelf }

// endsHiragana tells what ends a row of hiragana; the sign that makes a vowel long does not.
func endsHiragana(r rune) bool {
	return r < utf8.RuneSelf || !unicode.Is(unicode.Hiragana, r) && r != 'ー' && !unicode.IsMark(r)
}

// trimWord is a word without the underscores that make it look slanted, and without marks that lost their letter.
func trimWord(word string) string {
	word = strings.TrimRight(word, "_")
	return strings.TrimLeftFunc(word, func(r rune) bool { return r == '_' || unicode.IsMark(r) })
}

// isWord tells whether a word is long enough to be one, and short enough.
func isWord(word string) bool {
	letters, length, alone := 0, 0, false
	for _, r := range word {
		length++
		if unicode.IsLetter(r) {
			letters++
			alone = unicode.Is(unicode.Han, r)
		}
	}
	return length <= provider.MaxHashtag && (letters >= minLetters || letters == 1 && alone)
}
