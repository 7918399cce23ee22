package bluesky

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

const (
	maxTagGraphemes = 64
	maxTagBytes     = 640
)

// tag reads a hashtag at the beginning of rest: its length in bytes with the sign, and the tag without it.
// The length is 0 where there is none, and where the tag is longer than the network takes.
func tag(rest string) (int, string) {
	_, sign := utf8.DecodeRuneInString(rest)
	body := rest[sign:]
	if end := strings.IndexFunc(body, func(r rune) bool { return !inTag(r) }); end >= 0 {
		body = body[:end]
	}
	body = strings.TrimRight(body, "_")
	if unicode.Is(unicode.M, first(body)) || !strings.ContainsFunc(body, unicode.IsLetter) {
		return 0, ""
	}
	if len(body) > maxTagBytes || uniseg.GraphemeClusterCount(body) > maxTagGraphemes {
		return 0, ""
	}
	return sign + len(body), body
}

// inTag tells what a tag may hold. Many scripts need combining marks to write a word; those that only choose
// how an emoji is drawn are not of that kind.
func inTag(r rune) bool {
	if unicode.Is(unicode.Variation_Selector, r) {
		return false
	}
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.In(r, unicode.Mn, unicode.Mc)
}
