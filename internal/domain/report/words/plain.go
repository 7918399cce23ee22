package words

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pressroom/internal/domain/provider"
)

// stripLinks is a caption in the form of provider.Folded without links, e-mail addresses and names of profiles. Sequences
// that are no UTF-8 become characters that are in no word.
func stripLinks(caption string) string {
	if !utf8.ValidString(caption) {
		caption = strings.ToValidUTF8(caption, "\ufffd")
	}
	text := provider.Folded(caption)
	var kept strings.Builder
	done := 0
	for from := 0; ; {
		sign := strings.IndexAny(text[from:], ".@:")
		if sign < 0 {
			break
		}
		start, end := fieldBounds(text, from+sign)
		if field := text[start:end]; mayContainAddress(field) {
			kept.WriteString(text[done:start])
			kept.WriteString(stripField(field))
			done = end
		}
		from = end
	}
	if done == 0 {
		return text
	}
	kept.WriteString(text[done:])
	return kept.String()
}

// fieldBounds is from where to where the piece without spaces reaches in which a place of a text lies.
func fieldBounds(text string, place int) (int, int) {
	start := strings.LastIndexFunc(text[:place], unicode.IsSpace)
	if start >= 0 {
		_, size := utf8.DecodeRuneInString(text[start:])
		start += size
	}
	end := strings.IndexFunc(text[place:], unicode.IsSpace)
	if end < 0 {
		return max(0, start), len(text)
	}
	return max(0, start), place + end
}

// stripField is a piece without links, addresses and names. Regular expressions take long, so they look only at what may
// hold what they look for.
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

// mayContainLink tells whether a piece may hold a link: one that has neither a slash nor www nor the ending of a host has none.
func mayContainLink(field string) bool {
	if strings.Contains(field, "/") || strings.Contains(field, "www.") {
		return true
	}
	for {
		_, behind, dotted := strings.Cut(field, ".")
		if !dotted {
			return false
		}
		label := behind
		if end := strings.IndexFunc(behind, isLabelEnd); end >= 0 {
			label = behind[:end]
		}
		if slices.Contains(topLevelDomains, label) {
			return true
		}
		field = behind
	}
}

// isLabelEnd tells what \b of regular expressions takes for the end of a word.
func isLabelEnd(r rune) bool { return r >= utf8.RuneSelf || !asciiWordChars[r] }

// mayContainAddress tells whether a piece without spaces may hold a link or an address: what ends a sentence is no point.
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

// What is left out of a caption before words are looked for, in lower case. A path ends where the characters of links
// end, as a script without spaces may go on right behind it.
var (
	emailPattern = regexp.MustCompile(`[\pL\pN._%+-]+@[\pL\pN-]+(?:\.[\pL\pN-]+)+`)
	linkPattern  = regexp.MustCompile(`[a-z]+://[^/]*[!-~]*` +
		`|\bwww\.[!-~]+` +
		`|[\pL\pN-]+(?:\.[\pL\pN-]+)*\.[a-z]{2,}/[!-~]*` +
		`|[\pL\pN-]+(?:\.[\pL\pN-]+)*\.(?:` + strings.Join(topLevelDomains, "|") + `)\b`)
	mentionPattern = regexp.MustCompile(`@[a-z0-9_.]+`)
)

// topLevelDomains are those by which names of hosts without https:// before them are known: they are hardly words, as a sentence
// may begin without a space behind the last one's full stop.
var topLevelDomains = strings.Fields("com net org info biz edu gov app shop store io co tv ly de fr es nl pl br pt tr ru jp uk eu ch at ca au")
