package words

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"pressroom/internal/domain/provider"
)

// leastLetters is how many letters a word has at least, unless it is a character that is a word: one letter is a
// list's a) or a piece of an abbreviation.
const leastLetters = 2

// usual is for how many words there is room at first: for those of most captions.
const usual = 24

// plainly says which characters of ASCII words are written with: most captions have no others, and looking into
// Unicode's tables for each is what takes longest.
var plainly = func() [utf8.RuneSelf]bool {
	var table [utf8.RuneSelf]bool
	for r := range table {
		table[r] = provider.InHashtag(rune(r))
	}
	return table
}()

// sentence is the words of a caption, each once, with what stop.txt says of each.
type sentence struct {
	words []string
	uses  []use
}

// read adds the words of a text in the form of plain.
func (s *sentence) read(text string) {
	for text != "" {
		piece, ascii := firstPiece(text)
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
				word, rest = next(rest)
				s.add(trimmed(word))
			}
		}
		text = text[len(piece):]
	}
}

// firstPiece is what a text begins with that words are written with, and whether all of it is ASCII.
func firstPiece(text string) (string, bool) {
	ascii := true
	for i, r := range text {
		if r < utf8.RuneSelf {
			if !plainly[r] {
				return text[:i], ascii
			}
			continue
		}
		if outside(r) {
			return text[:i], ascii
		}
		ascii = false
	}
	return text, ascii
}

func (s *sentence) add(word string) {
	if counts(word) && !slices.Contains(s.words, word) {
		s.words, s.uses = append(s.words, word), append(s.uses, stops()[word])
	}
}

// next is the first word of a piece that holds nothing but what words are written with, and the rest of the piece.
// In ASCII such a piece is one word.
func next(piece string) (string, string) {
	if strings.IndexFunc(piece, beyondASCII) < 0 {
		return piece, ""
	}
	end := strings.IndexFunc(piece, notHiragana)
	if end == 0 {
		word, rest, _ := uniseg.FirstWordInString(piece, -1)
		return word, rest
	}
	if end < 0 {
		end = len(piece)
	}
	return piece[:end], piece[end:]
}

func beyondASCII(r rune) bool { return r >= utf8.RuneSelf }

// notHiragana tells what ends a row of hiragana; the sign that makes a vowel long does not.
func notHiragana(r rune) bool {
	return r < utf8.RuneSelf || !unicode.Is(unicode.Hiragana, r) && r != 'ー' && !unicode.IsMark(r)
}

// trimmed is a word without the underscores that make it look slanted, and without marks that lost their letter.
func trimmed(word string) string {
	word = strings.TrimRight(word, "_")
	return strings.TrimLeftFunc(word, func(r rune) bool { return r == '_' || unicode.IsMark(r) })
}

// counts tells whether a word is long enough to be one, and short enough.
func counts(word string) bool {
	letters, length, alone := 0, 0, false
	for _, r := range word {
		length++
		if unicode.IsLetter(r) {
			letters++
			alone = unicode.Is(unicode.Han, r)
		}
	}
	return length <= provider.MaxHashtag && (letters >= leastLetters || letters == 1 && alone)
}
