package words

import (
	"regexp"
	"strings"
	"unicode"

	"pressroom/internal/source"
)

// plain is a caption in the form of source.Folded without links, e-mail addresses and names of profiles. Sequences
// that are no UTF-8 become characters that are in no word.
func plain(caption string) string {
	text := source.Folded(strings.ToValidUTF8(caption, "\ufffd"))
	if !strings.ContainsAny(text, ".@:") {
		return text
	}
	var kept strings.Builder
	for field := range strings.FieldsFuncSeq(text, unicode.IsSpace) {
		if pointed(field) {
			field = mails.ReplaceAllString(field, " ")
			field = links.ReplaceAllString(field, " ")
			field = mentions.ReplaceAllString(field, " ")
		}
		kept.WriteString(field)
		kept.WriteByte(' ')
	}
	return kept.String()
}

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
// end, as a script without spaces may go on right behind it. Names of hosts without https:// before them are known by
// endings that are hardly words: a sentence may begin without a space behind the last one's full stop.
var (
	mails = regexp.MustCompile(`[\pL\pN._%+-]+@[\pL\pN-]+(?:\.[\pL\pN-]+)+`)
	links = regexp.MustCompile(`[a-z]+://[^/]*[!-~]*` +
		`|\bwww\.[!-~]+` +
		`|[\pL\pN-]+(?:\.[\pL\pN-]+)*\.[a-z]{2,}/[!-~]*` +
		`|[\pL\pN-]+(?:\.[\pL\pN-]+)*\.(?:com|net|org|info|biz|edu|gov|app|shop|store|io|co|tv|ly|de|fr|es|nl|pl|br|pt|tr|ru|jp|uk|eu|ch|at|ca|au)\b`)
	mentions = regexp.MustCompile(`@[a-z0-9_.]+`)
)
