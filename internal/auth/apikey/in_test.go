package apikey_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"mime/quotedprintable"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"pressroom/internal/auth/apikey"
)

// encoding is one way in which a text comes to be pasted.
type encoding struct {
	name   string
	encode func(string) string
}

var encodings = slices.Concat(breaks, compatible, escaped, based, quoted)

var breaks = []encoding{
	{"a line break", halved("\n")},
	{"a line break of Windows and an indent", halved("\r\n\t  ")},
	{"a space after every fourth", every(4, " ")},
	{"spaces", every(1, " ")},
	{"tabs", every(1, "\t")},
	{"NULs", every(1, "\x00")},
	{"line breaks of HTML", every(9, "<br>\n")},
	{"places of HTML to break at", every(5, "<wbr />")},
	{"a bold half in HTML", halved("</b><i class=\"x\">")},
	{"zero-width spaces", every(1, "\u200b")},
	{"zero-width joiners", every(3, "\u200d")},
	{"word joiners", every(2, "\u2060")},
	{"byte order marks", every(1, "\ufeff")},
	{"soft hyphens", every(5, "\u00ad")},
	{"no-break spaces", every(6, "\u00a0")},
	{"ideographic spaces", every(7, "\u3000")},
	{"line separators", every(8, "\u2028")},
}

var compatible = []encoding{
	{"full width", runes(func(r rune) string { return string(shifted(r, '!', '~', '！')) })},
	{"bold", runes(func(r rune) string {
		return string(shifted(shifted(shifted(r, 'A', 'Z', '𝐀'), 'a', 'z', '𝐚'), '0', '9', '𝟎'))
	})},
	{"circled", runes(func(r rune) string { return string(shifted(shifted(r, 'A', 'Z', 'Ⓐ'), 'a', 'z', 'ⓐ')) })},
}

var escaped = []encoding{
	{"a query", url.QueryEscape},
	{"a path", url.PathEscape},
	{"percent-encoded underscores", strings.NewReplacer("_", "%5F", "%", "%25").Replace},
	{"percent-encoding", eachByte("%%%02X")},
	{"percent-encoding in lower case", eachByte("%%%02x")},
	{"percent-encoding twice", func(s string) string { return url.QueryEscape(eachByte("%%%02X")(s)) }},
	{"JavaScript's escape", eachUnit("%%u%04X")},
	{"Markdown", strings.NewReplacer("_", `\_`, `\`, `\\`).Replace},
	{"JSON", asJSON},
	{"JSON with all escaped", eachUnit(`\u%04x`)},
	{"JSON in JSON", func(s string) string { return asJSON(asJSON(s)) }},
	{"code points in braces", runes(func(r rune) string { return fmt.Sprintf(`\u{%x}`, r) })},
	{"code points of Python", runes(func(r rune) string { return fmt.Sprintf(`\U%08x`, r) })},
	{"bytes of C", eachByte(`\x%02x`)},
	{"octal bytes", eachByte(`\%03o`)},
	{"HTML", html.EscapeString},
	{"HTML, underscores named", func(s string) string { return strings.ReplaceAll(html.EscapeString(s), "_", "&lowbar;") }},
	{"HTML, decimal", runes(func(r rune) string { return fmt.Sprintf("&#%d;", r) })},
	{"HTML, hexadecimal", runes(func(r rune) string { return fmt.Sprintf("&#x%X;", r) })},
	{"HTML twice", func(s string) string {
		return html.EscapeString(runes(func(r rune) string { return fmt.Sprintf("&#%d;", r) })(s))
	}},
}

var based = []encoding{
	{"base64", onBytes(base64.StdEncoding.EncodeToString)},
	{"base64 without padding", onBytes(base64.RawStdEncoding.EncodeToString)},
	{"base64 for URLs", onBytes(base64.URLEncoding.EncodeToString)},
	{"base64 for URLs without padding", onBytes(base64.RawURLEncoding.EncodeToString)},
	{"base64 of credentials", func(s string) string {
		return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+s))
	}},
	{"base64 in lines of 64", func(s string) string { return every(64, "\n")(base64.StdEncoding.EncodeToString([]byte(s))) }},
	{"base64 in lines of 76", func(s string) string { return every(76, "\r\n")(base64.StdEncoding.EncodeToString([]byte(s))) }},
	{"base64 of UTF-16", func(s string) string { return base64.StdEncoding.EncodeToString(asUTF16(binary.LittleEndian, s)) }},
	{"base64 of big-endian UTF-16", func(s string) string { return base64.StdEncoding.EncodeToString(asUTF16(binary.BigEndian, s)) }},
	{"hex", onBytes(hex.EncodeToString)},
	{"hex in upper case", eachByte("%02X")},
	{"hex with spaces", eachByte("%02x ")},
	{"hex with colons", eachByte("%02X:")},
	{"hex of C", eachByte("0x%02x, ")},
}

var quoted = []encoding{
	{"quoted-printable", asQuoted},
	{"quoted-printable underscores", strings.NewReplacer("_", "=5F", "=", "=3D").Replace},
	{"quoted-printable bytes", eachByte("=%02X")},
	{"soft line breaks", every(20, "=\r\n")},
	{"soft line breaks of Unix", every(20, "=\n")},
}

// spoils tells which pairs say something else than what was encoded: a line that ends in an equals sign goes on,
// UTF-16 is read where it holds ASCII alone, and four layers are more than are undone.
func spoils(inner, outer encoding, text string) bool {
	ends := strings.Contains(text, "=") && slices.ContainsFunc(breaks[:2], outer.is)
	deep := inner.isDouble() && outer.isDouble()
	wide := strings.Contains(outer.name, "UTF-16") && strings.ContainsFunc(text, func(r rune) bool { return r > '~' })
	return ends && slices.ContainsFunc(quoted, inner.is) || wide || deep
}

func (e encoding) is(other encoding) bool { return e.name == other.name }

func (e encoding) isDouble() bool {
	return strings.HasSuffix(e.name, "twice") || e.name == "JSON in JSON"
}

func every(n int, between string) func(string) string {
	return func(s string) string {
		var out strings.Builder
		for i, r := range []rune(s) {
			if i > 0 && i%n == 0 {
				out.WriteString(between)
			}
			out.WriteRune(r)
		}
		return out.String()
	}
}

func halved(between string) func(string) string {
	return func(s string) string {
		r := []rune(s)
		return string(r[:len(r)/2]) + between + string(r[len(r)/2:])
	}
}

func runes(one func(rune) string) func(string) string {
	return func(s string) string {
		var out strings.Builder
		for _, r := range s {
			out.WriteString(one(r))
		}
		return out.String()
	}
}

func shifted(r, first, last, to rune) rune {
	if r < first || r > last {
		return r
	}
	return r - first + to
}

func onBytes(f func([]byte) string) func(string) string {
	return func(s string) string { return f([]byte(s)) }
}

func eachByte(format string) func(string) string {
	return func(s string) string {
		var out strings.Builder
		for _, b := range []byte(s) {
			fmt.Fprintf(&out, format, b)
		}
		return out.String()
	}
}

func eachUnit(format string) func(string) string {
	return func(s string) string {
		var out strings.Builder
		for _, u := range utf16.Encode([]rune(s)) {
			fmt.Fprintf(&out, format, u)
		}
		return out.String()
	}
}

func asJSON(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func asUTF16(order binary.AppendByteOrder, s string) []byte {
	var out []byte
	for _, u := range utf16.Encode([]rune(s)) {
		out = order.AppendUint16(out, u)
	}
	return out
}

func asQuoted(s string) string {
	var out bytes.Buffer
	w := quotedprintable.NewWriter(&out)
	if _, err := w.Write([]byte(s)); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return out.String()
}

// changed gives a secret with one other character.
func changed(s string, at int) string {
	to := byte('x')
	if s[at] == to {
		to = 'y'
	}
	return s[:at] + string(to) + s[at+1:]
}

func TestFoundInEncodings(t *testing.T) {
	t.Parallel()
	for _, e := range encodings {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			for i := range 42 {
				s := apikey.New([]string{apikey.APIKey, apikey.Upload}[i%2])
				for _, around := range []string{"%s", "my key: %s, use it", "é%sé", "ab %s cd", "abc%s0", "{\"a\":\"%s\"}", "?key=%s&x=10", "100%% of %s", `\ud83d%s`} {
					text := fmt.Sprintf(around, e.encode(s))
					if !apikey.In(text) {
						t.Fatalf("not found in %q", text)
					}
					if text = fmt.Sprintf(around, e.encode(changed(s, i))); apikey.In(text) {
						t.Fatalf("a typo is found in %q", text)
					}
				}
			}
		})
	}
}

func TestFoundInPairsOfEncodings(t *testing.T) {
	t.Parallel()
	for _, inner := range encodings {
		for _, outer := range encodings {
			s := apikey.New(apikey.APIKey)
			text := inner.encode(s)
			if spoils(inner, outer, text) {
				continue
			}
			if text = outer.encode(text); !apikey.In(text) {
				t.Errorf("not found in %s of %s: %q", outer.name, inner.name, text)
			}
		}
	}
}

var surroundings = rapid.OneOf(
	rapid.String(),
	rapid.StringOf(rapid.RuneFrom([]rune("abcdefABCDEF0123456789+/-_%\\&#;=uxprk \r\n\t\u200bé🎉"))),
	rapid.SampledFrom([]string{"prk_", "pru_prk_", "%25", `\u00`, "&#x7", "=", "=\r\n", "Basic ", "https://x.test/?a=10&b=%20"}),
)

// addsLayer tells of a backslash, and of what falls away behind one: it would escape the escape that follows.
func addsLayer(r rune) bool { return r == '\\' || r <= ' ' || r > '~' }

// In finds a secret in any text and any two encodings, and no secret where one character of it is another.
func TestFoundWhereverItIs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := apikey.New(rapid.SampledFrom([]string{apikey.APIKey, apikey.Upload}).Draw(t, "prefix"))
		typo := changed(s, rapid.IntRange(0, len(s)-1).Draw(t, "typo at"))
		var names []string
		last := encoding{}
		for range rapid.IntRange(0, 2).Draw(t, "encodings") {
			before, after := surroundings.Draw(t, "before"), surroundings.Draw(t, "after")
			before = strings.TrimRightFunc(before, addsLayer)
			s, typo = before+s+after, before+typo+after
			e := rapid.SampledFrom(encodings).Draw(t, "encoding")
			if spoils(last, e, s) {
				continue
			}
			names, last = append(names, e.name), e
			s, typo = e.encode(s), e.encode(typo)
		}
		if !apikey.In(s) {
			t.Fatalf("not found in %q by way of %s", s, strings.Join(names, ", "))
		}
		if apikey.In(typo) {
			t.Fatalf("a typo is found in %q by way of %s", typo, strings.Join(names, ", "))
		}
	})
}
