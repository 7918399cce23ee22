package linkedin

import (
	"testing"

	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/network"
)

func TestEscapeWithMentions(t *testing.T) {
	t.Parallel()
	mentions := []network.LinkedInMention{
		{Name: "Ada", URN: "urn:li:person:1"}, {Name: "Ada Bar", URN: "urn:li:organization:2"}, {Name: "é*", URN: "urn:li:person:3"}, {},
	}
	for text, want := range map[string]string{
		"@Ada":                      "@[Ada](urn:li:person:1)",
		"@Ada Bar, @Ada!":           "@[Ada Bar](urn:li:organization:2), @[Ada](urn:li:person:1)!",
		"@Adam, @ada, @ Ada, Ada":   `\@Adam, \@ada, \@ Ada, Ada`,
		"mail@Ada é@Ada":            `mail\@Ada é\@Ada`,
		"https://a.test/@Ada @Ada":  `https://a.test/\@Ada @[Ada](urn:li:person:1)`,
		"@Ada#coffee @é*":           `@[Ada](urn:li:person:1){hashtag|\#|coffee} @[é\*](urn:li:person:3)`,
		"@[Ada](urn:li:person:1) @": `\@\[Ada\]\(urn:li:person:1\) \@`,
	} {
		if got := escapeWith(text, mentions); got != want {
			t.Errorf("%s became %s, not %s", text, got, want)
		}
	}
}

// Unescape reverses escapeWith.
func TestUnescapeReversesMentions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[A-Za-zé #\\|{}@()\[\]_]{1,5}`).Draw(t, "name")
		text := rapid.StringMatching(`([#\\|{}@_ ax1é]|https://a/){0,9}`).Draw(t, "before") + " @" + name + "," +
			rapid.StringMatching(`([#\\|{}@_ ax1é]){0,9}`).Draw(t, "after")
		little := escapeWith(text, []network.LinkedInMention{{Name: name, URN: "urn:li:person:1"}})
		if seen := unescape(little); seen != text {
			t.Fatalf("%q became %q, and that %q", text, little, seen)
		}
	})
}
