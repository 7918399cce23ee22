package sandbox

import (
	"regexp"
	"strings"
)

// What little text is made of, at its beginning: a hashtag's template, a mention, a bare hashtag, an escaped character,
// one that has no meaning.
var (
	littleTag     = regexp.MustCompile(`^\{hashtag\|\\?#\|((?:\\.|[^\\{}|])+)\}`)
	littleMention = regexp.MustCompile(`^@\[([^\[\]]+)\]\(urn:li:(?:person|organization):[A-Za-z0-9_-]+\)`)
	littleBare    = regexp.MustCompile(`^#[\p{L}\p{N}\p{M}]+`)
	littleEscaped = regexp.MustCompile(`(?s)^\\(.)`)
	littlePlain   = regexp.MustCompile(`(?s)^[^\\|{}@\[\]()<>#*_~]+`)
)

// readLittleText is the text that people see. Like the real one it ends, and nobody is told, at the first character
// that should have been escaped.
func readLittleText(little string) string {
	var seen strings.Builder
	for little != "" {
		taken, shown := littlePiece(little)
		if taken == 0 {
			break
		}
		seen.WriteString(shown)
		little = little[taken:]
	}
	return seen.String()
}

// littlePiece is how many bytes the first piece of a little text has, and what is seen of it.
func littlePiece(little string) (int, string) {
	for _, form := range []*regexp.Regexp{littlePlain, littleEscaped, littleMention, littleBare} {
		if match := form.FindStringSubmatch(little); match != nil {
			return len(match[0]), match[len(match)-1]
		}
	}
	if match := littleTag.FindStringSubmatch(little); match != nil {
		return len(match[0]), "#" + readLittleText(match[1]) // no template is inside one
	}
	return 0, ""
}
