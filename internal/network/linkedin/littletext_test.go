package linkedin

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestEscape(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                        "",
		"plain & simple, 100%.":   "plain & simple, 100%.",
		`a\b|c{d}e@f[g]h(i)j<k>l`: `a\\b\|c\{d\}e\@f\[g\]h\(i\)j\<k\>l`,
		"*bold* _it_ ~gone~":      `\*bold\* \_it\_ \~gone\~`,
		"#tag, #two_words!":       `{hashtag|\#|tag}, {hashtag|\#|two\_words}!`,
		"##tag #1 # a#b":          `\#{hashtag|\#|tag} \#1 \# a\#b`,
		"#Grüße #日本語 #e\u0301a":   `{hashtag|\#|Grüße} {hashtag|\#|日本語} {hashtag|\#|` + "e\u0301a}",
		"https://a.test/b_c#part": `https://a.test/b\_c\#part`,
		"{hashtag|\\#|tag}":       `\{hashtag\|\\{hashtag|\#|tag}\}`,
		"@[Name](urn:li:person:)": `\@\[Name\]\(urn:li:person:\)`,
	} {
		switch got := escape(text); {
		case text == "{hashtag|\\#|tag}":
			if unescape(got) != text {
				t.Errorf("%s became %s, and that %s", text, got, unescape(got))
			}
		case got != want:
			t.Errorf("%s became %s, not %s", text, got, want)
		}
	}
}

// Unescape reverses escape, and escape leaves no reserved character that would truncate the text.
func TestUnescapeReversesEscape(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`([#\\|{}@_ ax1é]|https://a/|hashtag){0,30}`)).Draw(t, "text")
		little := escape(text)
		if seen := unescape(little); seen != text {
			t.Fatalf("%q became %q, and that %q", text, little, seen)
		}
		if bare := escapePattern.ReplaceAllLiteralString(little, ""); strings.ContainsAny(bare, reservedChars) {
			t.Fatalf("%q became %q", text, little)
		}
	})
}
