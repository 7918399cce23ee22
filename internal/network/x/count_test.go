package x

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/testkit/must"
)

type weightCase struct {
	Text   string
	Weight int
}

func weights(tb testing.TB) []weightCase {
	tb.Helper()
	content := must.Get(os.ReadFile("testdata/weights.json"))(tb)
	var cases []weightCase
	must.NoError(tb, json.Unmarshal(content, &cases))
	return cases
}

func TestCountMatchesTwitterText(t *testing.T) {
	cases := weights(t)
	if len(cases) < 200 {
		t.Fatalf("only %d texts", len(cases))
	}
	for _, c := range cases {
		if got := Count(c.Text); got != c.Weight {
			t.Errorf("Count(%.80q) = %d, want %d", c.Text, got, c.Weight)
		}
	}
}

// pieces are parts of texts that combine the rules for emoji, URLs and letters.
var pieces = []string{
	"a", "Z", "9", "_", "-", ".", "..", "/", "@", "#", "＠", "\"", " ", "\n", "é", "e\u0301", "の", "한", "\u1100\u1161",
	"com", "co.jp", "рф", "xn--",
	"http://", "HTTPS://", "t.co/", "example.com", "?q=1", "(", ")", ":80", "😀", "❤️", "\u200d", "\ufe0f", "\U0001F3FD",
	"🇩", "🇪", "1\u20e3", "\xff",
}

func TestCountOfAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.SampledFrom(pieces)), func(parts []string) string {
			return strings.Join(parts, "")
		})).Draw(t, "text")
		checkCount(t, text)
	})
}

func FuzzCount(f *testing.F) {
	for _, c := range weights(f) {
		f.Add(c.Text)
	}
	f.Add("\xff.com a\xff.\xff")
	f.Fuzz(func(t *testing.T, text string) { checkCount(t, text) })
}

// checkCount checks properties of the count of any text.
func checkCount(t rapid.TB, text string) {
	count := Count(text)
	if normal := Count(norm.NFC.String(text)); normal != count {
		t.Errorf("Count(%q) = %d, in NFC %d", text, count, normal)
	}
	// A code point weighs at most 2. A URL weighs 23 and has at least four code points, such as a.de.
	if most := 6 * len([]rune(norm.NFC.String(text))); count < 0 || count > most {
		t.Errorf("Count(%q) = %d, above %d", text, count, most)
	}
	before, text := 0, strings.ToValidUTF8(text, "?")
	for _, s := range findLinks(text) {
		if s.start < before || s.end <= s.start || s.end > len(text) {
			t.Errorf("links(%q) has %v behind %d", text, s, before)
		}
		before = s.end
	}
}

func TestCountIsAdditive(t *testing.T) {
	word := rapid.StringOfN(rapid.RuneFrom([]rune("abzABZ019äßЖяのカ漢한שع")), 0, 20, -1)
	rapid.Check(t, func(t *rapid.T) {
		left, right := word.Draw(t, "left"), word.Draw(t, "right")
		if got, want := Count(left+" "+right), Count(left)+1+Count(right); got != want {
			t.Errorf("Count(%q) = %d, want %d", left+" "+right, got, want)
		}
	})
}

// TestCountInLinearTime counts texts that would take minutes in quadratic time.
func TestCountInLinearTime(t *testing.T) {
	t.Parallel()
	for _, part := range []string{
		"a.", "a_b.com.", "の", "の.", "a.com", "a.com/!", "a.com/(", "http://", "?a.com", "😀\u200d", "\u200d", "x_", ".",
		"xn--.", "한.中国", "🇩", "e\u0301",
	} {
		if got := Count(strings.Repeat(part, 70_000/len(part))); got <= 0 {
			t.Errorf("Count of many %q = %d", part, got)
		}
	}
}

func TestRules(t *testing.T) {
	rules := Rules()
	for _, c := range []struct {
		name, text string
		problems   int
	}{
		{"maximum length", strings.Repeat("語", 140), 0},
		{"one character too many", strings.Repeat("語", 140) + ".", 1},
		{"a long address", "https://example.com/" + strings.Repeat("a", 400), 0},
	} {
		if found := rules.Check(network.Content{Text: c.text}); len(found) != c.problems {
			t.Errorf("%s: %v", c.name, found)
		}
	}
}
