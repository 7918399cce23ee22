package bluesky

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

const (
	maxTagGraphemes = 64 // limits of app.bsky.richtext.facet#tag
	maxTagBytes     = 640
)

// parseTag returns the length in bytes of the hashtag at the beginning of rest, and the tag without its sign. The
// length is 0 if rest does not begin with a hashtag, or if the tag is longer than the network accepts.
func parseTag(rest string) (int, string) {
	_, signSize := utf8.DecodeRuneInString(rest)
	body := rest[signSize:]
	if end := strings.IndexFunc(body, func(r rune) bool { return !isTagRune(r) }); end >= 0 {
		body = body[:end]
	}
	body = strings.TrimRight(body, "_")
	if unicode.Is(unicode.M, firstRune(body)) || !strings.ContainsFunc(body, unicode.IsLetter) {
		return 0, ""
	}
	if len(body) > maxTagBytes || uniseg.GraphemeClusterCount(body) > maxTagGraphemes {
		return 0, ""
	}
	return signSize + len(body), body
}

// isTagRune reports whether a tag may contain r. Combining marks are allowed, because many scripts need them. Variation
// selectors are not.
func isTagRune(r rune) bool {
	if unicode.Is(unicode.Variation_Selector, r) {
		return false
	}
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.In(r, unicode.Mn, unicode.Mc)
}
