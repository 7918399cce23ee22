package apikey_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pressroom/internal/auth/apikey"
)

func TestNewIsWellFormedAndFound(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 1000 {
		s := apikey.New(apikey.APIKey)
		if !apikey.WellFormed(apikey.APIKey, s) || apikey.WellFormed(apikey.Upload, s) || seen[s] {
			t.Fatalf("%s", s)
		}
		seen[s] = true
		for _, text := range []string{s, "my key is " + s + " ok", "prk_" + s, "https://x.test/" + s + ".png", apikey.APIKey + apikey.APIKey + s} {
			if !apikey.In(text) {
				t.Fatalf("not found in %q", text)
			}
		}
	}
}

// One wrong character is told without a database.
func TestTyposAreTold(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := apikey.New(apikey.Upload)
		i := rapid.IntRange(0, len(s)-1).Draw(t, "at")
		c := rapid.SampledFrom([]byte("abcXYZ019_-. ")).Draw(t, "to")
		if s[i] == c {
			return
		}
		typo := s[:i] + string(c) + s[i+1:]
		if apikey.WellFormed(apikey.Upload, typo) {
			t.Fatalf("%s passes for a secret", typo)
		}
	})
}

func TestWhatIsNoSecret(t *testing.T) {
	t.Parallel()
	s := apikey.New(apikey.APIKey)
	for _, text := range []string{"", "prk_", s[:len(s)-1], strings.ToUpper(s), "prk_" + strings.Repeat("w", 38), s[1:]} {
		if apikey.In(text) {
			t.Errorf("%q passes for a secret", text)
		}
	}
}

// Whatever stands around a secret, it is found, also where all of it is encoded.
func FuzzIn(f *testing.F) {
	s := apikey.New(apikey.Upload)
	f.Add("prk_pru_prk_")
	f.Add(s)
	f.Add("%25%u00&#x7;=\r\n=5F\\u\\x\\7\\")
	f.Add("\xf0\x9d\x90")
	for _, e := range encodings {
		f.Add(e.encode(s))
	}
	f.Fuzz(func(t *testing.T, text string) {
		apikey.In(text)
		text += s + text
		for _, found := range []string{text, base64.StdEncoding.EncodeToString([]byte(text)), eachByte("%%%02X")(text), eachByte(`\x%02x`)(text)} {
			if !apikey.In(found) {
				t.Errorf("not found in %q", found)
			}
		}
	})
}
