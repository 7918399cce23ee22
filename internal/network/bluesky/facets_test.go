package bluesky

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// wantSpan is an expected span: the text that it covers and its value.
type wantSpan struct{ Covers, Value string }

func spans(text string) []wantSpan {
	var all []wantSpan
	for _, s := range detectSpans(text) {
		all = append(all, wantSpan{text[s.start:s.end], s.value})
	}
	return all
}

func verbatim(covers string) wantSpan { return wantSpan{covers, covers} }

func TestLinks(t *testing.T) {
	for text, want := range map[string][]wantSpan{
		"see https://example.com/a?b=c#d now":        {verbatim("https://example.com/a?b=c#d")},
		"https://example.com.":                       {verbatim("https://example.com")},
		"(https://example.com/x)":                    {verbatim("https://example.com/x")},
		"https://en.wikipedia.org/wiki/Go_(game)":    {verbatim("https://en.wikipedia.org/wiki/Go_(game)")},
		"(https://en.wikipedia.org/wiki/Go_(game)).": {verbatim("https://en.wikipedia.org/wiki/Go_(game)")},
		"HTTPS://Example.COM/A":                      {verbatim("HTTPS://Example.COM/A")},
		"http://localhost:8080/x http://[::1]/y":     {verbatim("http://localhost:8080/x"), verbatim("http://[::1]/y")},
		"https://пример.рф/путь!":                    {verbatim("https://пример.рф/путь")},
		"“https://example.com/a”, he said":           {verbatim("https://example.com/a")},
		"看https://example.com/a。好":                   nil, // no boundary before it
		"看 https://example.com/a。好":                  {verbatim("https://example.com/a")},
		"🎉https://example.com":                       {verbatim("https://example.com")},
		"https://user:secret@example.com/":           nil,
		"https://":                                   nil,
		"https://nodots/ https://a..b/":              nil,
		"xhttps://example.com":                       nil,
		"https://a.com,https://b.com":                nil, // ambiguous
		"https://a.com\nhttps://b.com":               {verbatim("https://a.com"), verbatim("https://b.com")},
	} {
		if diff := cmp.Diff(want, spans(text)); diff != "" {
			t.Errorf("%q:\n%s", text, diff)
		}
	}
}

func TestBareDomains(t *testing.T) {
	https := func(covers string) wantSpan { return wantSpan{covers, "https://" + covers} }
	for text, want := range map[string][]wantSpan{
		"go to example.com/path, then":      {https("example.com/path")},
		"go to example.com.":                {https("example.com")},
		"Example.com? (www.example.org)":    {https("Example.com"), https("www.example.org")},
		"EXAMPLE.COM":                       {https("EXAMPLE.COM")},
		"example.com:8080/a example.com: a": {https("example.com:8080/a"), https("example.com")},
		"sub.example.co.uk?x=1":             {https("sub.example.co.uk?x=1")},
		"corriere.it bsky.app youtu.be/abc": {https("corriere.it"), https("bsky.app"), https("youtu.be/abc")},
		"docs.rs docs.rs/x README.md":       {https("docs.rs/x")},
		"done.So we went. e.g. U.S. 3.14":   nil,
		"node.js main.go foo.test a.b.c":    nil,
		"mail me@example.com please":        nil,
		"john.me@example.com":               nil,
		"at 9.am or 360.cn":                 nil,
		"-example.com exa_mple.com":         nil,
		"example.comпривет":                 nil,
		"1.2.3.4 v1.2.3":                    nil,
	} {
		if diff := cmp.Diff(want, spans(text)); diff != "" {
			t.Errorf("%q:\n%s", text, diff)
		}
	}
}

func TestTags(t *testing.T) {
	long := strings.Repeat("a", 64)
	for text, want := range map[string][]wantSpan{
		"#go and ＃ゴー!":                 {{"#go", "go"}, {"＃ゴー", "ゴー"}},
		"(#go_lang), #go.":             {{"#go_lang", "go_lang"}, {"#go", "go"}},
		"#2026 #2026x #_ #__ #x_":      {{"#2026x", "2026x"}, {"#x", "x"}},
		"C# a#b &#39; x/#y":            nil,
		"#हिन्दी":                      {{"#हिन्दी", "हिन्दी"}},
		"#️⃣ #":                        nil,
		"🔥#hot ❤️#love":                {{"#hot", "hot"}, {"#love", "love"}},
		"#" + long + " #" + long + "a": {{"#" + long, long}},
		"#a#b":                         {{"#a", "a"}},
		"https://example.com/#top":     {verbatim("https://example.com/#top")},
		"#a @b.test https://c.org/#d":  {{"#a", "a"}, {"@b.test", "b.test"}, verbatim("https://c.org/#d")},
	} {
		if diff := cmp.Diff(want, spans(text)); diff != "" {
			t.Errorf("%q:\n%s", text, diff)
		}
	}
}

func TestMentions(t *testing.T) {
	for text, want := range map[string][]wantSpan{
		"@alice.test hi":                        {{"@alice.test", "alice.test"}},
		"(@Alice.Bsky.Social).":                 {{"@Alice.Bsky.Social", "alice.bsky.social"}},
		"@alice.test's":                         {{"@alice.test", "alice.test"}},
		"me@alice.test":                         nil,
		"@alice @.test @a..b @-a.bc":            nil,
		"@alice.test@example.social":            nil,
		"@alice.test_x @alice.testé":            nil,
		"@alice.1st":                            nil,
		"@" + strings.Repeat("a", 64) + ".test": nil,
	} {
		if diff := cmp.Diff(want, spans(text)); diff != "" {
			t.Errorf("%q:\n%s", text, diff)
		}
	}
}

// anyText mixes arbitrary strings with difficult strings.
func anyText() *rapid.Generator[string] {
	piece := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		" ", "\n", "(", ")", ".", ",", "#", "＃", "@", "https://", "example.com", "/a_(b)", "alice.test", "tag", "_", "é",
		"👨‍👩‍👧‍👦", "❤️", "हि", "今天", "\u200b", "\xff", "://", "www.", ":80", "?x=y",
	}))
	return rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), "") })
}

// checkSpans checks properties of the spans of any text.
func checkSpans(t interface{ Fatalf(string, ...any) }, text string) {
	end := 0
	for _, s := range detectSpans(text) {
		if s.start < end || s.end <= s.start || s.end > len(text) {
			t.Fatalf("%q: span %+v out of order, empty or out of bounds", text, s)
		}
		end = s.end
		if covered := text[s.start:s.end]; utf8.ValidString(text) && !utf8.ValidString(covered) {
			t.Fatalf("%q: span %q cuts a rune", text, covered)
		}
		if strings.ContainsAny(text[s.start:s.end], " \n\t") || s.value == "" {
			t.Fatalf("%q: span %+v holds a space or no value", text, s)
		}
	}
}

func TestSpansOfAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkSpans(t, anyText().Draw(t, "text")) })
}

func FuzzSpans(f *testing.F) {
	for _, seed := range []string{"#a @b.test https://c.org/(d) e.com", "＃ゴー", "@a.b@c.d", "https://[::1]:80/", "\xff#a\xff", "❤️#a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { checkSpans(t, text) })
}
