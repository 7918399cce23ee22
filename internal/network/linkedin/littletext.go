package linkedin

import (
	"regexp"
	"strings"
	"unicode"
)

// reservedChars have a meaning in LinkedIn's "little text" format. LinkedIn silently truncates a post at an unescaped
// reserved character.
//
// Source: https://learn.microsoft.com/linkedin/marketing/community-management/shares/little-text-format
const reservedChars = `\|{}@[]()<>#*_~`

// tokenPattern matches hashtags. It also matches URLs and words that contain #, so that escape does not treat them as
// hashtags.
var tokenPattern = regexp.MustCompile(
	`(?i:https?)://[^\s<>]+|[\p{L}\p{N}\p{M}_]+(?:#[\p{L}\p{N}\p{M}_]+)*|#[\p{L}\p{N}\p{M}_]+`)

// escape encodes text as little text. Hashtags become LinkedIn's hashtag template. Everything else is plain text.
// LinkedIn's length limit applies to the text before escaping.
func escape(text string) string {
	var out strings.Builder
	lastEnd := 0
	for _, at := range tokenPattern.FindAllStringIndex(text, -1) {
		token := text[at[0]:at[1]]
		if token[0] != '#' || !strings.ContainsFunc(token, unicode.IsLetter) {
			continue
		}
		escapeInto(&out, text[lastEnd:at[0]])
		out.WriteString(`{hashtag|\#|`)
		escapeInto(&out, token[len("#"):])
		out.WriteByte('}')
		lastEnd = at[1]
	}
	escapeInto(&out, text[lastEnd:])
	return out.String()
}

func escapeInto(out *strings.Builder, text string) {
	for _, r := range text {
		if strings.ContainsRune(reservedChars, r) {
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
}

// escapePattern matches a hashtag template, one escaped character or a mention.
var escapePattern = regexp.MustCompile(
	`(?s)\{hashtag\|\\?#\|((?:\\.|[^\\{}|])+)\}|\\(.)|@\[((?:\\.|[^\\\[\]])+)\]\(urn:li:[A-Za-z]+:[A-Za-z0-9_-]+\)`)

// unescape reverses escape: it returns the text that people see, with an @ before mentions.
func unescape(little string) string {
	var out strings.Builder
	lastEnd := 0
	for _, at := range escapePattern.FindAllStringSubmatchIndex(little, -1) {
		out.WriteString(little[lastEnd:at[0]])
		switch {
		case at[2] >= 0:
			out.WriteString("#" + unescape(little[at[2]:at[3]])) // templates do not nest
		case at[6] >= 0:
			out.WriteString("@" + unescape(little[at[6]:at[7]])) // names have no mentions
		default:
			out.WriteString(little[at[4]:at[5]])
		}
		lastEnd = at[1]
	}
	out.WriteString(little[lastEnd:])
	return out.String()
}
