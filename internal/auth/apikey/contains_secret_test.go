package apikey_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/auth/apikey"
)

// encoding is a common encoding of pasted text.
type encoding struct {
	name   string
	encode func(string) string
}

var encodings = []encoding{
	{"a query", url.QueryEscape},
	{"percent-encoded underscores", strings.NewReplacer("_", "%5F", "%", "%25").Replace},
	{"percent-encoding", eachByte("%%%02X")},
	{"percent-encoding in lower case", eachByte("%%%02x")},
	{"JSON", asJSON},
	{"JSON with every character escaped", eachByte(`\u%04x`)},
	{"bytes of C", eachByte(`\x%02x`)},
	{"HTML", html.EscapeString},
	{"HTML, named", func(s string) string { return strings.ReplaceAll(html.EscapeString(s), "_", "&lowbar;") }},
	{"HTML, decimal", eachByte("&#%d;")},
	{"HTML, hexadecimal", eachByte("&#x%X;")},
	{"base64", onBytes(base64.StdEncoding.EncodeToString)},
	{"base64 without padding", onBytes(base64.RawStdEncoding.EncodeToString)},
	{"base64 for URLs", onBytes(base64.URLEncoding.EncodeToString)},
	{"base64 for URLs without padding", onBytes(base64.RawURLEncoding.EncodeToString)},
	{"base64 of credentials", func(s string) string {
		return "Basic " + onBytes(base64.StdEncoding.EncodeToString)("user:"+s)
	}},
	{"base64 in lines", func(s string) string {
		encoded := onBytes(base64.StdEncoding.EncodeToString)("Here is the key: " + s)
		return encoded[:64] + "\r\n" + encoded[64:]
	}},
	{"hex", onBytes(hex.EncodeToString)},
	{"hex in upper case", eachByte("%02X")},
}

func onBytes(encode func([]byte) string) func(string) string {
	return func(s string) string { return encode([]byte(s)) }
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

func asJSON(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// withTypo returns s with another character at the given index.
func withTypo(s string, at int) string {
	to := byte('x')
	if s[at] == to {
		to = 'y'
	}
	return s[:at] + string(to) + s[at+1:]
}

func TestFoundInEncodings(t *testing.T) {
	t.Parallel()
	surroundings := []string{
		"%s", "my key: %s, use it", "é%sé", "ab %s cd", "abc%s0", `{"a":"%s"}`, "?key=%s&x=10", "100%% of %s", `\u%s`,
	}
	for _, e := range encodings {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			for i := range 42 {
				s := apikey.New([]string{apikey.APIKey, apikey.Upload, apikey.Access, apikey.Refresh}[i%4])
				for _, around := range surroundings {
					if text := fmt.Sprintf(around, e.encode(s)); !apikey.ContainsSecret(text) {
						t.Fatalf("not found in %q", text)
					}
					if text := fmt.Sprintf(around, e.encode(withTypo(s, i))); apikey.ContainsSecret(text) {
						t.Fatalf("a typo is found in %q", text)
					}
				}
			}
		})
	}
}
