package account

import (
	"strings"
	"unicode"
)

const maxHandleLength = 100 // characters

// sanitizeHandle returns a username as one word. Some networks have no usernames and return display names instead.
func sanitizeHandle(name string) string {
	word := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || strings.ContainsRune("._-/", r) {
			return r
		}
		return ' '
	}, sanitizeName(name))
	runes := []rune(strings.Join(strings.Fields(word), "_"))
	return string(runes[:min(len(runes), maxHandleLength)])
}

const maxNameLength = 200 // characters; also the maximum length of an ID

// sanitizeName returns a name from a network as a single line of text.
func sanitizeName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	if runes := []rune(name); len(runes) > maxNameLength {
		name = string(runes[:maxNameLength])
	}
	return strings.TrimSpace(name)
}
