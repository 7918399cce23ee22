package apikey_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/auth/apikey"
)

func TestFindNewSecrets(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 1000 {
		s := apikey.New(apikey.APIKey)
		if !apikey.IsWellFormed(apikey.APIKey, s) || apikey.IsWellFormed(apikey.Upload, s) || seen[s] {
			t.Fatalf("%s", s)
		}
		seen[s] = true
		for _, text := range []string{
			s, "my key is " + s + " ok", "https://x.test/" + s + ".png", "prk_" + s, "prk_prk_" + s,
		} {
			if !apikey.ContainsSecret(text) {
				t.Fatalf("not found in %q", text)
			}
		}
	}
}

func TestWellFormedRejectsTypos(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := apikey.New(apikey.Upload)
		i := rapid.IntRange(0, len(s)-1).Draw(t, "at")
		c := rapid.SampledFrom([]byte("abcXYZ019_-. ")).Draw(t, "to")
		if s[i] == c {
			return
		}
		typo := s[:i] + string(c) + s[i+1:]
		if apikey.IsWellFormed(apikey.Upload, typo) {
			t.Fatalf("%s is accepted", typo)
		}
	})
}

func TestInOtherTexts(t *testing.T) {
	t.Parallel()
	s := apikey.New(apikey.APIKey)
	for _, text := range []string{
		"", "prk_", s[:len(s)-1], strings.ToUpper(s), "prk_" + strings.Repeat("w", 38), s[1:],
	} {
		if apikey.ContainsSecret(text) {
			t.Errorf("a secret is found in %q", text)
		}
	}
}

// FuzzContainsSecret checks that a secret is found in any surrounding text, even if the whole text is encoded.
func FuzzContainsSecret(f *testing.F) {
	s := apikey.New(apikey.Upload)
	f.Add("prk_pru_prk_")
	f.Add(s)
	f.Add("%25%u00&#x7;=\r\n=5F\\u\\x\\7\\")
	for _, e := range encodings {
		f.Add(e.encode(s))
	}
	f.Fuzz(func(t *testing.T, text string) {
		apikey.ContainsSecret(text)
		text += s + text
		base64Of := onBytes(base64.StdEncoding.EncodeToString)
		for _, encoded := range []string{text, base64Of(text), eachByte("%%%02X")(text), eachByte(`\x%02x`)(text)} {
			if !apikey.ContainsSecret(encoded) {
				t.Errorf("not found in %q", encoded)
			}
		}
	})
}
