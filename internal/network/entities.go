package network

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

var linkPattern = regexp.MustCompile(`(?i:https?)://[^\s\pZ<>"「」『』（）、。，]+`)

// Links returns the URLs with http:// or https:// in a text, without trailing punctuation. Domains without a scheme are
// not included, because networks treat them differently.
func Links(text string) []string {
	links := linkPattern.FindAllString(text, -1)
	for i := range links {
		links[i] = strings.TrimRight(links[i], ".,;:!?'…’)]}")
	}
	return links
}

// SameWords reports whether two texts are equal except for white space and the Unicode form, because networks change
// both.
func SameWords(a, b string) bool {
	return slices.Equal(strings.Fields(norm.NFC.String(a)), strings.Fields(norm.NFC.String(b)))
}

// Hashtags returns the words after # or its full-width form, without the sign. A hashtag consists of letters, digits
// and underscores, contains at least one letter, and is not part of a word or URL.
func Hashtags(text string) []string {
	return slices.DeleteFunc(markedWords(text, "#＃"), func(word string) bool {
		return !strings.ContainsFunc(word, unicode.IsLetter)
	})
}

var cashtagPattern = regexp.MustCompile(`(?:^|[^\pL\pN_$])\$([A-Za-z]{1,6}(?:[._][A-Za-z]{1,2})?)\b`)

// Cashtags returns the stock symbols that follow $, without the sign.
func Cashtags(text string) []string {
	var symbols []string
	for _, match := range cashtagPattern.FindAllStringSubmatch(linkPattern.ReplaceAllLiteralString(text, " "), -1) {
		symbols = append(symbols, match[1])
	}
	return symbols
}

// Mentions returns the words after @ or its full-width form, without the sign. A name ends before its first dot.
func Mentions(text string) []string { return markedWords(text, "@＠") }

// markedWords returns the words after one of the signs.
func markedWords(text, signs string) []string {
	var words []string
	text = linkPattern.ReplaceAllLiteralString(text, " ")
	previous := ' '
	for i, r := range text {
		if strings.ContainsRune(signs, r) && !isWordRune(previous) {
			if word := leadingWord(text[i+len(string(r)):]); word != "" {
				words = append(words, word)
			}
		}
		previous = r
	}
	return words
}

func leadingWord(text string) string {
	if end := strings.IndexFunc(text, func(r rune) bool { return !isWordRune(r) }); end >= 0 {
		return text[:end]
	}
	return text
}

// isWordRune reports whether a word may contain the character. It accepts letters, digits, underscores and combining
// marks.
func isWordRune(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) ||
		unicode.In(r, unicode.Mn, unicode.Mc) && !unicode.Is(unicode.Variation_Selector, r)
}
