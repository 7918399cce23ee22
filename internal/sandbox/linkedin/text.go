package linkedin

import (
	"regexp"
	"strings"
)

// The elements of "little text", LinkedIn's text format: a hashtag template, a mention, a hashtag without a template,
// an escaped character, and plain text.
var (
	littleTemplate = regexp.MustCompile(`^\{hashtag\|\\?#\|((?:\\.|[^\\{}|])+)\}`)
	littleMention  = regexp.MustCompile(`^@\[((?:\\.|[^\\\[\]])+)\]\(urn:li:(?:person|organization):[A-Za-z0-9_-]+\)`)
	littleHashtag  = regexp.MustCompile(`^#[\p{L}\p{N}\p{M}]+`)
	littleEscaped  = regexp.MustCompile(`(?s)^\\(.)`)
	littlePlain    = regexp.MustCompile(`(?s)^[^\\|{}@\[\]()<>#*_~]+`)
)

// visibleText returns the visible text of little text. As on LinkedIn, the text ends at the first character that should
// have been escaped.
func visibleText(little string) string {
	var out strings.Builder
	for little != "" {
		length, visible := firstElement(little)
		if length == 0 {
			break
		}
		out.WriteString(visible)
		little = little[length:]
	}
	return out.String()
}

// firstElement returns the length of the first element in bytes, and its visible text.
func firstElement(little string) (int, string) {
	for _, pattern := range []*regexp.Regexp{littlePlain, littleEscaped, littleMention, littleHashtag} {
		if match := pattern.FindStringSubmatch(little); match != nil && pattern == littleMention {
			return len(match[0]), visibleText(match[1]) // a name contains no mentions
		} else if match != nil {
			return len(match[0]), match[len(match)-1]
		}
	}
	if match := littleTemplate.FindStringSubmatch(little); match != nil {
		return len(match[0]), "#" + visibleText(match[1]) // templates do not nest
	}
	return 0, ""
}
