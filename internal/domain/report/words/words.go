// Package words extracts hashtags and significant words from captions. Each result is a single token, normalized by
// provider.NormalizeText, with 1 to 100 letters, digits, marks and underscores. It never contains a phrase or a
// sentence.
package words

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/domain/provider"
)

// Caption holds the distinct hashtags (without #) and words of a caption, in order. Links, email addresses, mentions,
// numbers, emoji and stop words are excluded.
//
// Text is split into words by the rules of Unicode (UAX #29), without a dictionary. Chinese is split into characters,
// and a sequence of hiragana is one word. Other scripts without spaces, such as Thai, yield no words.
type Caption struct{ Hashtags, Words []string }

// Parse parses a caption.
func Parse(caption string) Caption {
	found := wordSet{words: make([]string, 0, initialCapacity), uses: make([]stopUse, 0, initialCapacity)}
	hashtags := splitHashtags(stripLinks(caption), found.addText)
	return Caption{Hashtags: hashtags, Words: found.withoutStopWords()}
}

// Hashtags returns the distinct hashtags of a caption, without #. It is faster than Parse.
func Hashtags(caption string) []string {
	if !strings.ContainsAny(caption, "#＃﹟") {
		return nil
	}
	return splitHashtags(stripLinks(caption), func(string) {})
}

// splitHashtags returns the distinct hashtags of a text and calls addText with each part of the text between them.
func splitHashtags(text string, addText func(string)) []string {
	var hashtags []string
	for offset := 0; ; {
		index := strings.IndexByte(text[offset:], '#')
		if index < 0 {
			addText(text)
			return hashtags
		}
		index += offset
		if !startsHashtag(text[:index]) {
			offset = index + 1
			continue
		}
		addText(text[:index])
		name := text[index+1:]
		if end := strings.IndexFunc(name, isOutsideHashtag); end >= 0 {
			name = name[:end]
		}
		if tag, err := provider.ParseHashtag(name); err == nil && !slices.Contains(hashtags, tag) {
			hashtags = append(hashtags, tag)
		}
		text, offset = text[index+1+len(name):], 0
	}
}

// startsHashtag reports whether a # that follows the text in before starts a hashtag. before is empty at the start of
// the text and directly after another hashtag.
func startsHashtag(before string) bool {
	last, size := utf8.DecodeLastRuneInString(before)
	return size == 0 || (!provider.IsHashtagRune(last) || isSpacelessScript(last)) && last != '&' && last != '/'
}

func isOutsideHashtag(r rune) bool { return !provider.IsHashtagRune(r) }

// isSpacelessScript reports whether a character belongs to a script that is written without spaces, even before a
// hashtag.
func isSpacelessScript(r rune) bool {
	return r >= utf8.RuneSelf &&
		unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer,
			unicode.Myanmar)
}
