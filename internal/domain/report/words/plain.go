package words

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pressroom/internal/domain/provider"
)

// plain is a caption in the form of provider.Folded without links, e-mail addresses and names of profiles. Sequences
// that are no UTF-8 become characters that are in no word.
func plain(caption string) string {
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
		start, end := around(text, from+sign)
		if field := text[start:end]; pointed(field) {
			kept.WriteString(text[done:start])
			kept.WriteString(stripped(field))
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

// around is from where to where the piece without spaces reaches in which a place of a text lies.
func around(text string, place int) (int, int) {
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

// stripped is a piece without links, addresses and names. Regular expressions take long, so they look only at what may
// hold what they look for.
func stripped(field string) string {
	at := strings.LastIndexByte(field, '@')
	if at > 0 {
		field = mails.ReplaceAllString(field, " ")
	}
	if linked(field) {
		field = links.ReplaceAllString(field, " ")
	}
	if at >= 0 {
		field = mentions.ReplaceAllString(field, " ")
	}
	return field
}

// linked tells whether a piece may hold a link: one that has neither a slash nor www nor the ending of a host has none.
func linked(field string) bool {
	if strings.Contains(field, "/") || strings.Contains(field, "www.") {
		return true
	}
	for {
		_, behind, dotted := strings.Cut(field, ".")
		if !dotted {
			return false
		}
		label := behind
		if end := strings.IndexFunc(behind, beyondLabel); end >= 0 {
			label = behind[:end]
		}
		if slices.Contains(endings, label) {
			return true
		}
		field = behind
	}
}

// beyondLabel tells what \b of regular expressions takes for the end of a word.
func beyondLabel(r rune) bool { return r >= utf8.RuneSelf || !plainly[r] }

// pointed tells whether a piece without spaces may hold a link or an address: what ends a sentence is no point.
func pointed(field string) bool {
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
	mails = regexp.MustCompile(`[\pL\pN._%+-]+@[\pL\pN-]+(?:\.[\pL\pN-]+)+`)
	links = regexp.MustCompile(`[a-z]+://[^/]*[!-~]*` +
		`|\bwww\.[!-~]+` +
		`|[\pL\pN-]+(?:\.[\pL\pN-]+)*\.[a-z]{2,}/[!-~]*` +
		`|[\pL\pN-]+(?:\.[\pL\pN-]+)*\.(?:` + strings.Join(endings, "|") + `)\b`)
	mentions = regexp.MustCompile(`@[a-z0-9_.]+`)
)

// endings are those by which names of hosts without https:// before them are known: they are hardly words, as a sentence
// may begin without a space behind the last one's full stop.
var endings = strings.Fields("com net org info biz edu gov app shop store io co tv ly de fr es nl pl br pt tr ru jp uk eu ch at ca au")
