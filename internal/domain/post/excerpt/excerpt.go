// Package excerpt shortens the texts of posts.
package excerpt

import (
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

const maxLength = 140 // characters

// Of returns the start of a caption on one line.
func Of(caption string) string {
	return Truncate(strings.Join(strings.Fields(caption), " "), maxLength)
}

// Truncate shortens a text to at most limit characters, including an ellipsis. It never splits a grapheme cluster
// (UAX 29).
func Truncate(text string, limit int) string {
	if len(text) <= limit || utf8.RuneCountInString(text) <= limit {
		return text
	}
	end, left, state := 0, limit-1, -1
	for {
		cluster, _, _, next := uniseg.FirstGraphemeClusterInString(text[end:], state)
		if left -= utf8.RuneCountInString(cluster); left < 0 {
			return strings.TrimRight(text[:end], " ") + "…"
		}
		end, state = end+len(cluster), next
	}
}
