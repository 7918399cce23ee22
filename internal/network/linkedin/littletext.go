package linkedin

import (
	"regexp"
	"strings"
	"unicode"
)

// reserved has a meaning in LinkedIn's "little text". One that stands in a post unescaped ends it there, and the
// network says nothing about it.
const reserved = `\|{}@[]()<>#*_~`

// tokens finds hashtags, and before them what is none: addresses, and words with a # inside.
var tokens = regexp.MustCompile(
	`(?i:https?)://[^\s<>]+|[\p{L}\p{N}\p{M}_]+(?:#[\p{L}\p{N}\p{M}_]+)*|#[\p{L}\p{N}\p{M}_]+`)

// escape writes a text as little text: a hashtag by LinkedIn's template for it, everything else as what it is, mentions
// among it. LinkedIn counts the text as people see it.
func escape(text string) string {
	var written strings.Builder
	done := 0
	for _, at := range tokens.FindAllStringIndex(text, -1) {
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
		if strings.ContainsRune(reserved, r) {
			written.WriteByte('\\')
		}
		written.WriteRune(r)
	}
}

// escaped is a hashtag's template, or one character behind a backslash.
var escaped = regexp.MustCompile(`(?s)\{hashtag\|\\?#\|((?:\\.|[^\\{}|])+)\}|\\(.)`)

// unescape is the text that people see, as far as escape writes it.
func unescape(little string) string {
	var seen strings.Builder
	done := 0
	for _, at := range escaped.FindAllStringSubmatchIndex(little, -1) {
		seen.WriteString(little[done:at[0]])
		if at[2] >= 0 {
			seen.WriteString("#" + unescape(little[at[2]:at[3]])) // no template is inside one
		} else {
			seen.WriteString(little[at[4]:at[5]])
		}
		done = at[1]
	}
	seen.WriteString(little[done:])
	return seen.String()
}
