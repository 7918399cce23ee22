// Package plaintext makes untrusted text safe to display. It removes control characters, and invisible characters that
// reorder or hide other text, such as U+202E (Unicode Standard Annex 9).
package plaintext

import (
	"slices"
	"strings"
	"unicode"
)

// Line returns a text as one line. Each run of white space becomes a single space, and white space at the ends is
// removed.
func Line(text string) string {
	return strings.Join(strings.Fields(stripInvisible(text)), " ")
}

// Lines keeps the lines of a text, normalizes line endings and removes white space at the ends of the text.
func Lines(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i := range lines {
		lines[i] = stripInvisible(lines[i])
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// joiners are invisible characters that shape letters and emoji but do not reorder text.
var joiners = []rune{'\u200c', '\u200d'}

// stripInvisible removes invisible characters and replaces white space with spaces.
func stripInvisible(line string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r) && !slices.Contains(joiners, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(line, ""))
}

// linkBreaker inserts an invisible zero-width non-joiner after the characters that mail programs use to detect addresses.
var linkBreaker = strings.NewReplacer(".", ".\u200c", "/", "/\u200c", ":", ":\u200c", "@", "@\u200c")

// BreakLinks returns a name as one line of at most limit characters. Mail programs do not detect addresses in the
// result, but the name looks unchanged.
func BreakLinks(name string, limit int) string {
	name = Line(name)
	if short := []rune(name); len(short) > limit {
		name = strings.TrimSpace(string(short[:limit-1])) + "…"
	}
	return linkBreaker.Replace(name)
}
