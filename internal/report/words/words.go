// Package words takes captions apart into what can be counted: hashtags, and words that say something. What comes
// out are single tokens of letters, digits, marks and underscores, 1–100 characters each, in the form of
// source.Folded: never a piece of a sentence.
package words

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"pressroom/internal/source"
)

// leastLetters is how many letters a word has at least, unless it is a character that is a word: one letter is a
// list's a) or a piece of an abbreviation.
const leastLetters = 2

// Hashtags lists the hashtags of a caption, without their sign, each once, in the order in which they come.
func Hashtags(caption string) []string {
	var found []string
	take(plain(caption), func(name string) {
		if tag, err := source.Hashtag(name); err == nil && !slices.Contains(found, tag) {
			found = append(found, tag)
		}
	})
	return found
}

// Words lists the words of a caption, each once, in the order in which they come. Links, addresses, names of profiles,
// hashtags, numbers, emoji and what stands in every sentence are left out.
//
// Where a word ends is Unicode's rule (UAX 29). It has no dictionary: Chinese falls into its characters, of Japanese a
// row of hiragana is taken for a word, and of other scripts without spaces, as Thai, no words come.
func Words(caption string) []string {
	var found []string
	text := take(plain(caption), func(string) {})
	for piece := range strings.FieldsFuncSeq(text, outside) {
		for piece != "" {
			var word string
			word, piece = next(piece)
			if word = trimmed(word); counts(word) && !slices.Contains(found, word) {
				found = append(found, word)
			}
		}
	}
	return meaningful(found)
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

// take hands over what stands behind each # that begins a hashtag, and returns the text without them.
func take(text string, name func(string)) string {
	if !strings.Contains(text, "#") {
		return text
	}
	var kept strings.Builder
	var last rune // before what is looked at; 0 behind a hashtag, behind which another may begin at once
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		if r != '#' || source.InHashtag(last) && !spaceless(last) || last == '&' || last == '/' {
			kept.WriteRune(r)
			last = r
			continue
		}
		end := strings.IndexFunc(text, outside)
		if end < 0 {
			end = len(text)
		}
		name(text[:end])
		kept.WriteByte(' ')
		text, last = text[end:], 0
	}
	return kept.String()
}

func outside(r rune) bool { return !source.InHashtag(r) }

// spaceless tells of scripts that put no space before a hashtag because they have none.
func spaceless(r rune) bool {
	return r >= utf8.RuneSelf &&
		unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

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
	return length <= source.MaxHashtag && (letters >= leastLetters || letters == 1 && alone)
}
