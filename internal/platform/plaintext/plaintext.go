// Package plaintext makes text that strangers wrote safe to show beside our own: without control characters, and
// without the invisible ones that reorder or hide what is around them, such as U+202E (Unicode Standard Annex 9).
package plaintext

import (
	"slices"
	"strings"
	"unicode"
)

// Line returns a text as one line: every run of white space is a single space, and there is none at the ends.
func Line(text string) string {
	return strings.Join(strings.Fields(visible(text)), " ")
}

// Lines returns a text with its lines kept, however their ends are written, and without white space at the ends of the
// text.
func Lines(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i := range lines {
		lines[i] = visible(lines[i])
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// joins are the invisible characters that shape letters and emoji, and reorder nothing.
var joins = []rune{'\u200c', '\u200d'}

// visible drops what cannot be seen, and writes all white space as spaces.
func visible(line string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r) && !slices.Contains(joins, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(line, ""))
}

// unlinks are what mail programs recognize addresses by, followed by an invisible zero-width non-joiner.
var unlinks = strings.NewReplacer(".", ".\u200c", "/", "/\u200c", ":", ":\u200c", "@", "@\u200c")

// Unlink returns a name as one line of at most that many characters in which mail programs find no address to link.
// It looks unchanged: Booking.com stays Booking.com.
func Unlink(name string, limit int) string {
	name = Line(name)
	if short := []rune(name); len(short) > limit {
		name = strings.TrimSpace(string(short[:limit-1])) + "…"
	}
	return unlinks.Replace(name)
}
