package apikey

import (
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// class says what a byte may be part of.
type class byte

const (
	own        class = 1 << iota // a secret
	underscore                   // a secret's prefix
	escape                       // percent-encoding, quoted-printable, an escape of a string, a character reference
	blank                        // a break within an encoding
	foreign                      // a character beyond ASCII
	mark                         // capitals and digits, which prose has few of
)

var classes = classify()

func classify() [256]class {
	var out [256]class
	add := func(bytes string, c class) {
		for i := range len(bytes) {
			out[bytes[i]] |= c
		}
	}
	add(alphabet, own)
	add(alphabet[:36], mark)
	add("_", own|underscore)
	add(`%=\&`, escape)
	for b := range out {
		switch {
		case b <= ' ' || b == 0x7f:
			out[b] |= blank
		case b >= utf8.RuneSelf:
			out[b] |= foreign
		}
	}
	return out
}

// look tells which classes of bytes a text has, and how many marks.
func look(text string) (class, int) {
	var seen class
	marks := 0
	for i := range len(text) {
		c := classes[text[i]]
		seen |= c
		marks += int(c / mark)
	}
	return seen, marks
}

// toASCII gives what of a text is ASCII, and the ASCII that other characters stand for: full width letters, bold
// ones, ligatures. Invisible characters fall away with all others.
func toASCII(text string) string {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			out = append(out, text[i])
			i++
			continue
		}
		var n int
		out, n = appendASCII(out, text[i:])
		i += n
	}
	return string(out)
}

// appendASCII appends what the character at the beginning of a text stands for, and gives the character's length.
func appendASCII(out []byte, text string) ([]byte, int) {
	if !utf8.RuneStart(text[0]) {
		return out, 1
	}
	p := norm.NFKD.PropertiesString(text)
	for _, b := range p.Decomposition() {
		if b < utf8.RuneSelf {
			out = append(out, b)
		}
	}
	return out, max(p.Size(), 1)
}
