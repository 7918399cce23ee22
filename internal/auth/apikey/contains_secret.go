package apikey

import (
	"encoding/base64"
	"encoding/hex"
	"html"
	"slices"
	"strings"
)

// ContainsSecret reports whether text contains a secret. The secret may be plain text or be encoded once: with
// percent-encoding, JSON or HTML escapes, base64 or hexadecimal digits. ContainsSecret does not search for
// authorization codes. Its running time is linear in the length of the text.
func ContainsSecret(text string) bool {
	return inPlaintext(text) || inEscapes(text) || inBase64(text) || inHex(text)
}

func inPlaintext(text string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return hasSecret(prefix, text) })
}

func hasSecret(prefix, text string) bool {
	for i := strings.Index(text, prefix); i >= 0; i = strings.Index(text, prefix) {
		text = text[i:]
		// The body of a secret never contains an underscore. This cheap check avoids computing checksums if prefixes
		// are close together.
		if len(text) >= length && strings.IndexByte(text[prefixLen:length], '_') < 0 &&
			IsWellFormed(prefix, text[:length]) {
			return true
		}
		text = text[prefixLen:]
	}
	return false
}

func inEscapes(text string) bool {
	return strings.ContainsAny(text, `%\`) && inPlaintext(unescape(text)) ||
		strings.Contains(text, "&") && inPlaintext(html.UnescapeString(text))
}

// escapes lists the prefixes of escapes that consist of a prefix and two hexadecimal digits.
var escapes = []string{"%", `\u00`, `\x`}

// unescape decodes percent-encoded bytes and JSON escapes of ASCII characters. It keeps other escapes.
func unescape(text string) string {
	out := make([]byte, 0, len(text))
	for text != "" {
		index := strings.IndexAny(text, `%\`)
		if index < 0 {
			return string(append(out, text...))
		}
		out = append(out, text[:index]...)
		text = text[index:]
		value, n := unescapeByte(text)
		out = append(out, value)
		text = text[n:]
	}
	return string(out)
}

// unescapeByte decodes the first byte of text, which may be escaped. It returns the byte and the number of bytes that
// it takes up in text.
func unescapeByte(text string) (byte, int) {
	for _, escape := range escapes {
		if rest, ok := strings.CutPrefix(text, escape); ok && len(rest) >= 2 {
			var value [1]byte
			if _, err := hex.Decode(value[:], []byte(rest[:2])); err == nil {
				return value[0], len(escape) + 2
			}
		}
	}
	return text[0], 1
}

// toStandard converts URL-safe and multi-line base64 to standard base64.
var toStandard = strings.NewReplacer("-", "+", "_", "/", "\r", "", "\n", "")

func inBase64(text string) bool {
	for run := range strings.FieldsFuncSeq(text, isNotBase64) {
		if len(run) < base64.RawStdEncoding.EncodedLen(length) {
			continue
		}
		run = toStandard.Replace(run)
		// The characters before the secret may also be base64 digits, so try to decode from each of the four offsets.
		for start := range min(4, len(run)) {
			digits := run[start:]
			if len(digits)%4 == 1 {
				digits = digits[:len(digits)-1]
			}
			if decoded, err := base64.RawStdEncoding.DecodeString(digits); err == nil && inPlaintext(string(decoded)) {
				return true
			}
		}
	}
	return false
}

func isNotBase64(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return false
	}
	return r != '+' && r != '/' && r != '-' && r != '_' && r != '\r' && r != '\n'
}

func inHex(text string) bool {
	for run := range strings.FieldsFuncSeq(text, isNotHex) {
		if len(run) < hex.EncodedLen(length) {
			continue
		}
		for start := range 2 {
			digits := run[start:]
			decoded, err := hex.DecodeString(digits[:len(digits)&^1])
			if err == nil && inPlaintext(string(decoded)) {
				return true
			}
		}
	}
	return false
}

func isNotHex(r rune) bool {
	isHex := 'a' <= r && r <= 'f' || 'A' <= r && r <= 'F' || '0' <= r && r <= '9'
	return !isHex
}
