package apikey

import (
	"html"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape undoes one layer of percent-encoding, quoted-printable, escapes of strings and character references, and
// tells whether there was any.
func unescape(text string) (string, bool) {
	whole := without(text, "=\r\n", "=\n")
	line := joined(whole)
	quoted := len(whole) < len(text) || isQuoted(line)
	out := make([]byte, 0, len(line))
	for i := 0; i < len(line); {
		b, n := line[i], 1
		switch {
		case b == '&':
			out, n = appendReferred(out, line[i:])
		case b == '%' || b == '\\' || b == '=' && quoted:
			out, n = appendEscaped(out, line[i:])
		default:
			out = append(out, b)
		}
		i += n
	}
	return string(out), len(whole) < len(text) || len(out) < len(line)
}

// isQuoted tells quoted-printable by what it has to quote, as "=70" alone may be a parameter of an address.
func isQuoted(text string) bool {
	for i := strings.IndexByte(text, '='); i >= 0; i = strings.IndexByte(text, '=') {
		text = text[i:]
		r, n := number(text, 1, 2, 4)
		if n > 0 && (r <= ' ' || r >= utf8.RuneSelf || strings.ContainsRune(`_=%\&`, r)) {
			return true
		}
		text = text[1:]
	}
	return false
}

// joined takes blanks out, so that an escape that was broken over lines is whole again.
func joined(text string) string {
	out := make([]byte, 0, len(text))
	for i := range len(text) {
		if classes[text[i]]&blank == 0 {
			out = append(out, text[i])
		}
	}
	return string(out)
}

func without(text string, parts ...string) string {
	for _, part := range parts {
		text = strings.ReplaceAll(text, part, "")
	}
	return text
}

// appendReferred is appendEscaped for character references. One without its semicolon is none: it may have grown
// together with what stood behind it.
func appendReferred(out []byte, text string) ([]byte, int) {
	const longest = 32
	text = text[:min(len(text), longest)]
	end := 1
	for end < len(text) && (text[end] == '#' || classes[text[end]]&own != 0) {
		end++
	}
	if end < len(text) && text[end] == ';' {
		if resolved := html.UnescapeString(text[:end+1]); len(resolved) <= end {
			return append(out, resolved...), end + 1
		}
	}
	return append(out, '&'), 1
}

// appendEscaped appends what the escape at the beginning of a text stands for, and gives the escape's length.
func appendEscaped(out []byte, text string) ([]byte, int) {
	skip, count, bits := form(text)
	switch r, n := number(text, skip, count, bits); {
	case n == 0:
		return appendSign(out, text)
	case count < 4: // one byte, perhaps of several
		return append(out, byte(r&0xff)), n
	case utf16.IsSurrogate(r):
		return appendPair(out, text, r, n)
	default:
		return utf8.AppendRune(out, r), n
	}
}

// appendPair appends the character that one half begins and the escape behind it ends. A half alone is none.
func appendPair(out []byte, text string, high rune, n int) ([]byte, int) {
	low, m := number(text[n:], 2, 4, 4)
	if pair := utf16.DecodeRune(high, low); pair != utf8.RuneError && text[n:n+2] == text[:2] {
		return utf8.AppendRune(out, pair), n + m
	}
	return out, n
}

// form tells how many signs begin an escape, how many digits follow, and how many bits a digit has.
func form(text string) (int, int, int) {
	second := byte(0)
	if len(text) > 1 {
		second = text[1]
	}
	switch {
	case second == 'u' && text[0] != '=':
		return 2, 4, 4
	case text[0] != '\\':
		return 1, 2, 4
	case second == 'U':
		return 2, 8, 4
	case second == 'x':
		return 2, 2, 4
	}
	return 1, 3, 3
}

// number reads digits behind some signs and gives their number and the length of all, which is 0 where there is none.
func number(text string, skip, count, bits int) (rune, int) {
	if len(text) < skip+count {
		return 0, 0
	}
	var r rune
	for i := skip; i < skip+count; i++ {
		v := hexadecimal.value[text[i]]
		if v >= 1<<bits {
			return 0, 0
		}
		r = r<<bits | rune(v)
	}
	return r, skip + count
}

// appendSign is appendEscaped for what names no number: \n and the like, or any sign behind a backslash.
func appendSign(out []byte, text string) ([]byte, int) {
	switch {
	case text[0] != '\\':
		return append(out, text[0]), 1
	case len(text) == 1:
		return out, 1
	case text[1] == 'u' || text[1] == 'x':
		return appendBraced(out, text)
	case strings.IndexByte("abefnrtv0", text[1]) >= 0:
		return out, 2
	case classes[text[1]]&escape != 0 && text[1] != '\\':
		return out, 1 // what begins behind it is undone as well
	}
	return append(out, text[1]), 2
}

// appendBraced reads \u{70} and \x{70}.
func appendBraced(out []byte, text string) ([]byte, int) {
	const brace, longest = len(`\u{`), len(`\u{00000070}`)
	if end := strings.IndexByte(text[:min(len(text), longest)], '}'); end > brace && text[brace-1] == '{' {
		if r, n := number(text, brace, end-brace, 4); n > 0 {
			return utf8.AppendRune(out, r), n + 1
		}
	}
	return append(out, text[1]), 2
}

// maxTag is how long a tag may be to be taken for one, in bytes.
const maxTag = 200

// withoutTags takes the tags of HTML out, which break a key that was copied from a page.
func withoutTags(text string) string {
	if strings.IndexByte(text, '<') < 0 {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '<' {
			if end := strings.IndexAny(text[i+1:min(len(text), i+maxTag)], "<>"); end >= 0 && text[i+1+end] == '>' {
				i += 1 + end
				continue
			}
		}
		out = append(out, text[i])
	}
	return string(out)
}
