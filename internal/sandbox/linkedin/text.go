package linkedin

import (
	"regexp"
	"strings"
)

// Elements of little text: a hashtag template, a mention, a bare hashtag, an escaped character, plain text.
var (
	littleTag     = regexp.MustCompile(`^\{hashtag\|\\?#\|((?:\\.|[^\\{}|])+)\}`)
	littleMention = regexp.MustCompile(`^@\[([^\[\]]+)\]\(urn:li:(?:person|organization):[A-Za-z0-9_-]+\)`)
	littleBare    = regexp.MustCompile(`^#[\p{L}\p{N}\p{M}]+`)
	littleEscaped = regexp.MustCompile(`(?s)^\\(.)`)
	littlePlain   = regexp.MustCompile(`(?s)^[^\\|{}@\[\]()<>#*_~]+`)
)

// visibleText returns the visible text. Like the genuine one it ends at the first character that should have been
// escaped.
func visibleText(little string) string {
	var seen strings.Builder
	for little != "" {
		taken, shown := firstPiece(little)
		if taken == 0 {
			break
		}
		seen.WriteString(shown)
		little = little[taken:]
	}
	return seen.String()
}

// firstPiece returns the length of the first element in bytes, and its visible text.
func firstPiece(little string) (int, string) {
	for _, form := range []*regexp.Regexp{littlePlain, littleEscaped, littleMention, littleBare} {
		if match := form.FindStringSubmatch(little); match != nil {
			return len(match[0]), match[len(match)-1]
		}
	}
	if match := littleTag.FindStringSubmatch(little); match != nil {
		return len(match[0]), "#" + visibleText(match[1]) // templates do not nest
	}
	return 0, ""
}
