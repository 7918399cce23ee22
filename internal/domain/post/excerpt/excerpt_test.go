package excerpt

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"
)

// An excerpt is the start of the caption, on one line, with at most 140 characters of valid UTF-8.
func TestExcerpt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		caption := rapid.String().Draw(t, "caption") + strings.Repeat(rapid.String().Draw(t, "more"),
			rapid.IntRange(0, 300).Draw(t, "times"))
		got := Of(caption)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > maxLength || strings.ContainsAny(got, "\n\t") {
			t.Fatalf("%q", got)
		}
		line := strings.Join(strings.Fields(caption), " ")
		if (got == line) != (utf8.RuneCountInString(line) <= maxLength) {
			t.Fatalf("excerpt of %q with %d characters is %q", line, utf8.RuneCountInString(line), got)
		}
		if start := strings.TrimSuffix(got, "…"); !strings.HasPrefix(line, start) {
			t.Fatalf("%q does not begin with %q", line, start)
		}
	})
}

// A truncated excerpt ends between two grapheme clusters and has an ellipsis.
func TestExcerptKeepsGraphemes(t *testing.T) {
	t.Parallel()
	family := "👨‍👩‍👧‍👦" // 7 characters
	for _, c := range []struct{ caption, want string }{
		{strings.Repeat(family, 200), strings.Repeat(family, 19) + "…"},
		{strings.Repeat(family, 20), strings.Repeat(family, 20)},
		{"a" + strings.Repeat("🇩🇪", 100), "a" + strings.Repeat("🇩🇪", 69) + "…"},
		{strings.Repeat("e\u0301", 100), strings.Repeat("e\u0301", 69) + "…"},
		{"a" + strings.Repeat("\u0301", 200), "…"},
		{"a" + strings.Repeat(" ", 5000) + "b", "a b"},
	} {
		if got := Of(c.caption); got != c.want {
			t.Errorf("excerpt of %q is %q, want %q", c.caption, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{family, "🇩🇪", "e\u0301", "각", "x", " ", "\u200d",
			"\u0301"})).Draw(t, "parts")
		caption := strings.Repeat(strings.Join(parts, ""), rapid.IntRange(1, 60).Draw(t, "times"))
		line := strings.Join(strings.Fields(caption), " ")
		start, truncated := strings.CutSuffix(Of(caption), "…")
		ends := map[string]bool{line: true, "": true}
		for g, prefix := uniseg.NewGraphemes(line), ""; g.Next(); {
			prefix += g.Str()
			ends[prefix], ends[strings.TrimRight(prefix, " ")] = true, true
		}
		if !ends[start] || truncated == (start == line) && line != "" {
			t.Fatalf("excerpt of %q is %q", line, start)
		}
	})
}
