package words

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"pressroom.example/pressroom/internal/domain/provider"
)

// minLetters is the minimum number of letters in a word, unless the letter is a Chinese character. Other single letters
// are usually list markers or abbreviations.
const minLetters = 2

// initialCapacity suffices for the words of most captions.
const initialCapacity = 24

// asciiWordChars caches provider.IsHashtagRune for ASCII. Most captions are ASCII, and lookups in Unicode tables took
// most of the run time.
var asciiWordChars = func() [utf8.RuneSelf]bool {
	var table [utf8.RuneSelf]bool
	for r := range table {
		table[r] = provider.IsHashtagRune(rune(r))
	}
	return table
}()

// wordSet holds the distinct words of a caption with their entries in stop.txt.
type wordSet struct {
	words []string
	uses  []stopUse
}

// addText adds the words of a text returned by stripLinks.
func (s *wordSet) addText(text string) {
	for text != "" {
		piece, ascii := wordPrefix(text)
		switch {
		case piece == "":
			_, size := utf8.DecodeRuneInString(text)
			text = text[size:]
			continue
		case ascii: // an ASCII piece is one word
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

// wordPrefix returns the longest prefix of word characters, and whether it is ASCII.
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

// nextWord splits the first word off a sequence of word characters. An ASCII sequence is one word.
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

// endsHiragana reports whether a character ends a sequence of hiragana. The prolonged sound mark does not end it.
func endsHiragana(r rune) bool {
	return r < utf8.RuneSelf || !unicode.Is(unicode.Hiragana, r) && r != 'ー' && !unicode.IsMark(r)
}

// trimWord removes underscores used for markup, and combining marks without a base letter.
func trimWord(word string) string {
	word = strings.TrimRight(word, "_")
	return strings.TrimLeftFunc(word, func(r rune) bool { return r == '_' || unicode.IsMark(r) })
}

// isWord reports whether a word has enough letters and is not too long.
func isWord(word string) bool {
	letters, length, ideograph := 0, 0, false
	for _, r := range word {
		length++
		if unicode.IsLetter(r) {
			letters++
			ideograph = unicode.Is(unicode.Han, r)
		}
	}
	return length <= provider.MaxHashtag && (letters >= minLetters || letters == 1 && ideograph)
}
