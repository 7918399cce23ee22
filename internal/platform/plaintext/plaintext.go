// Package plaintext makes untrusted text safe to display. It removes control characters. It also removes invisible
// characters that reorder or hide other text, such as U+202E (Unicode Standard Annex 9).
package plaintext

import (
	"slices"
	"strings"
	"unicode"
)

// Line returns text as one line. It replaces each run of white space with a single space, and removes white space at
// both ends.
func Line(text string) string {
	return strings.Join(strings.Fields(stripInvisible(text)), " ")
}

// Lines returns text with its lines, but with normalized line endings and without white space at both ends.
func Lines(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i := range lines {
		lines[i] = stripInvisible(lines[i])
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// joiners lists invisible characters that affect the shape of letters and emoji, but do not reorder text.
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

// linkBreaker inserts a zero-width non-joiner, which is invisible, after each character by which email programs detect
// addresses.
var linkBreaker = strings.NewReplacer(".", ".\u200c", "/", "/\u200c", ":", ":\u200c", "@", "@\u200c")

// BreakLinks returns a name as one line of at most limit characters. The name looks unchanged, but email programs do
// not detect addresses in it.
func BreakLinks(name string, limit int) string {
	name = Line(name)
	if short := []rune(name); len(short) > limit {
		name = strings.TrimSpace(string(short[:limit-1])) + "…"
	}
	return linkBreaker.Replace(name)
}
