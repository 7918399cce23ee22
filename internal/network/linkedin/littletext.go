package linkedin

import (
	"regexp"
	"strings"
	"unicode"
)

// reservedChars have a meaning in LinkedIn's "little text" format. An unescaped one silently truncates the post.
//
// Source: https://learn.microsoft.com/linkedin/marketing/community-management/shares/little-text-format
const reservedChars = `\|{}@[]()<>#*_~`

// tokenPattern finds hashtags, and also URLs and words with # inside, which are none.
var tokenPattern = regexp.MustCompile(
	`(?i:https?)://[^\s<>]+|[\p{L}\p{N}\p{M}_]+(?:#[\p{L}\p{N}\p{M}_]+)*|#[\p{L}\p{N}\p{M}_]+`)

// escape returns a text as little text: hashtags as LinkedIn's hashtag template, everything else as plain text, also
// mentions. LinkedIn counts the text without escapes.
func escape(text string) string {
	var written strings.Builder
	done := 0
	for _, at := range tokenPattern.FindAllStringIndex(text, -1) {
		token := text[at[0]:at[1]]
		if token[0] != '#' || !strings.ContainsFunc(token, unicode.IsLetter) {
			continue
		}
		escapeInto(&written, text[done:at[0]])
		written.WriteString(`{hashtag|\#|`)
		escapeInto(&written, token[len("#"):])
		written.WriteByte('}')
		done = at[1]
	}
	escapeInto(&written, text[done:])
	return written.String()
}

func escapeInto(written *strings.Builder, text string) {
	for _, r := range text {
		if strings.ContainsRune(reservedChars, r) {
			written.WriteByte('\\')
		}
		written.WriteRune(r)
	}
}

// escapedPattern matches a hashtag template or one escaped character.
var escapedPattern = regexp.MustCompile(`(?s)\{hashtag\|\\?#\|((?:\\.|[^\\{}|])+)\}|\\(.)`)

// unescape returns the text that people see, for little text as escape writes it.
func unescape(little string) string {
	var seen strings.Builder
	done := 0
	for _, at := range escapedPattern.FindAllStringSubmatchIndex(little, -1) {
		seen.WriteString(little[done:at[0]])
		if at[2] >= 0 {
			seen.WriteString("#" + unescape(little[at[2]:at[3]])) // templates do not nest
		} else {
			seen.WriteString(little[at[4]:at[5]])
		}
		done = at[1]
	}
	seen.WriteString(little[done:])
	return seen.String()
}
