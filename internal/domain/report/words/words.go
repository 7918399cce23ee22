// Package words takes captions apart into what can be counted: hashtags, and words that say something. What comes
// out are single tokens of letters, digits, marks and underscores, 1–100 characters each, in the form of
// provider.Folded: never a piece of a sentence.
package words

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pressroom/internal/domain/provider"
)

// Caption is what there is to count in a caption: each hashtag, without its sign, and each word once, in the order in
// which they come. Links, addresses, names of profiles, numbers, emoji and what stands in every sentence are in neither.
//
// Where a word ends is Unicode's rule (UAX 29). It has no dictionary: Chinese falls into its characters, of Japanese a
// row of hiragana is taken for a word, and of other scripts without spaces, as Thai, no words come.
type Caption struct{ Hashtags, Words []string }

// Parse takes a caption apart.
func Parse(caption string) Caption {
	found := wordSet{words: make([]string, 0, initialCapacity), uses: make([]stopUse, 0, initialCapacity)}
	hashtags := splitHashtags(stripLinks(caption), found.addText)
	return Caption{Hashtags: hashtags, Words: found.withoutStopWords()}
}

// Hashtags reads the hashtags of a caption alone.
func Hashtags(caption string) []string {
	if !strings.ContainsAny(caption, "#＃﹟") {
		return nil
	}
	return splitHashtags(stripLinks(caption), func(string) {})
}

// splitHashtags lists the hashtags of a text, each once, and hands over what lies before, between and behind them.
func splitHashtags(text string, between func(string)) []string {
	var found []string
	for from := 0; ; {
		sign := strings.IndexByte(text[from:], '#')
		if sign < 0 {
			between(text)
			return found
		}
		sign += from
		if !startsHashtag(text[:sign]) {
			from = sign + 1
			continue
		}
		between(text[:sign])
		name := text[sign+1:]
		if end := strings.IndexFunc(name, isOutsideHashtag); end >= 0 {
			name = name[:end]
		}
		if tag, err := provider.Hashtag(name); err == nil && !slices.Contains(found, tag) {
			found = append(found, tag)
		}
		text, from = text[sign+1+len(name):], 0
	}
}

// startsHashtag tells whether a # begins a hashtag behind a text, which is empty right behind another hashtag.
func startsHashtag(before string) bool {
	last, size := utf8.DecodeLastRuneInString(before)
	return size == 0 || (!provider.InHashtag(last) || isSpacelessScript(last)) && last != '&' && last != '/'
}

func isOutsideHashtag(r rune) bool { return !provider.InHashtag(r) }

// isSpacelessScript tells of scripts that put no space before a hashtag because they have none.
func isSpacelessScript(r rune) bool {
	return r >= utf8.RuneSelf &&
		unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
