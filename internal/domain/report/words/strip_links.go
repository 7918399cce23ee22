package words

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/domain/provider"
)

// stripLinks returns a caption without links, email addresses and mentions, normalized by provider.NormalizeText. It
// replaces invalid UTF-8 with U+FFFD, which is not part of any word.
func stripLinks(caption string) string {
	if !utf8.ValidString(caption) {
		caption = strings.ToValidUTF8(caption, "\ufffd")
	}
	text := provider.NormalizeText(caption)
	var out strings.Builder
	copied := 0
	for from := 0; ; {
		sign := strings.IndexAny(text[from:], ".@:")
		if sign < 0 {
			break
		}
		start, end := fieldBounds(text, from+sign)
		if field := text[start:end]; mayContainAddress(field) {
			out.WriteString(text[copied:start])
			out.WriteString(stripField(field))
			copied = end
		}
		from = end
	}
	if copied == 0 {
		return text
	}
	out.WriteString(text[copied:])
	return out.String()
}

// fieldBounds returns the bounds of the space-delimited field that contains a position.
func fieldBounds(text string, offset int) (int, int) {
	start := strings.LastIndexFunc(text[:offset], unicode.IsSpace)
	if start >= 0 {
		_, size := utf8.DecodeRuneInString(text[start:])
		start += size
	}
	end := strings.IndexFunc(text[offset:], unicode.IsSpace)
	if end < 0 {
		return max(0, start), len(text)
	}
	return max(0, start), offset + end
}

// stripField replaces links, email addresses and mentions in a field with spaces. Regular expressions are slow, so
// cheap checks come first.
func stripField(field string) string {
	at := strings.LastIndexByte(field, '@')
	if at > 0 {
		field = emailPattern.ReplaceAllString(field, " ")
	}
	if mayContainLink(field) {
		field = linkPattern.ReplaceAllString(field, " ")
	}
	if at >= 0 {
		field = mentionPattern.ReplaceAllString(field, " ")
	}
	return field
}

// mayContainLink reports whether a field may contain a link. It looks for a slash, "www." and top-level domains.
func mayContainLink(field string) bool {
	if strings.Contains(field, "/") || strings.Contains(field, "www.") {
		return true
	}
	for {
		_, rest, dotted := strings.Cut(field, ".")
		if !dotted {
			return false
		}
		label := rest
		if end := strings.IndexFunc(rest, isLabelEnd); end >= 0 {
			label = rest[:end]
		}
		if slices.Contains(topLevelDomains, label) {
			return true
		}
		field = rest
	}
}

// isLabelEnd reports whether the character ends a domain label, like \b in linkPattern.
func isLabelEnd(r rune) bool { return r >= utf8.RuneSelf || !asciiWordChars[r] }

// mayContainAddress reports whether a field may contain a link, an email address or a mention. It ignores a period at
// the end of the field.
func mayContainAddress(field string) bool {
	for i := range len(field) - 1 {
		switch field[i] {
		case '@', ':':
			return true
		case '.':
			if next := field[i+1]; 'a' <= next && next <= 'z' {
				return true
			}
		}
	}
	return false
}

// Patterns of links, email addresses and mentions in lower-case text. A path ends at the first non-ASCII character,
// because a script without spaces may continue directly after the link.
var (
	emailPattern = regexp.MustCompile(`[\pL\pN._%+-]+@[\pL\pN-]+(?:\.[\pL\pN-]+)+`)
	linkPattern  = regexp.MustCompile(`[a-z]+://[^/]*[!-~]*` +
		`|\bwww\.[!-~]+` +
		`|[\pL\pN-]+(?:\.[\pL\pN-]+)*\.[a-z]{2,}/[!-~]*` +
		`|[\pL\pN-]+(?:\.[\pL\pN-]+)*\.(?:` + strings.Join(topLevelDomains, "|") + `)\b`)
	mentionPattern = regexp.MustCompile(`@[a-z0-9_.]+`)
)

// topLevelDomains are recognized in links without a scheme. The list has only domains that are rarely words. Otherwise,
// a period without a space after it, as in "done.next", would look like a link.
var topLevelDomains = strings.Fields("com net org info biz edu gov app shop store io co tv ly de fr es nl pl br pt " +
	"tr " +
	"ru jp uk eu ch at ca au")
