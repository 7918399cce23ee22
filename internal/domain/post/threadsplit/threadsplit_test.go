package threadsplit_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/rivo/uniseg"
	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/domain/post/threadsplit"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/x"
)

// atMost returns a limit in characters.
func atMost(n int) func(string) bool {
	return func(text string) bool { return utf8.RuneCountInString(text) <= n }
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  string
		limit int
		want  []string
	}{
		"short":         {" Short. ", 20, []string{"Short."}},
		"empty":         {" \n", 20, nil},
		"sentences":     {"One is here. Two is here! Three?", 26, []string{"One is here. Two is here!", "Three?"}},
		"paragraphs":    {"One\n\nTwo\n\nThree", 9, []string{"One\n\nTwo", "Three"}},
		"long sentence": {"Go. This sentence is long. So.", 12, []string{"Go.", "This", "sentence is", "long. So."}},
		"long word":     {"abcdefghij klm", 4, []string{"abcd", "efgh", "ij", "klm"}},
		"hyphen":        {"cold-brewing", 8, []string{"cold-", "brewing"}},
		"numbers of a list": {"We know:\n1. Grind it.\n2. Wait.\n3. Drink.", 21,
			[]string{"We know:\n1. Grind it.", "2. Wait.\n3. Drink."}},
		"number in its place": {"1. Grind it now.", 6, []string{"1.", "Grind", "it", "now."}},
		"initials":            {"By J. R. Tolkien. And more.", 20, []string{"By J. R. Tolkien.", "And more."}},
		"link":                {"See https://a.example/?Q=1!b for it.", 26, []string{"See", "https://a.example/?Q=1!b", "for it."}},
		"host":                {"Read harbour.example/a/b/c-d now", 24, []string{"Read", "harbour.example/a/b/c-d", "now"}},
		"Japanese":            {"今日は晴れ。明日は雨。", 8, []string{"今日は晴れ。", "明日は雨。"}},
		"emoji":               {"👩‍👩‍👧👩‍👩‍👧", 6, []string{"👩‍👩‍👧", "👩‍👩‍👧"}},
		"flags":               {"🇩🇪🇫🇷", 3, []string{"🇩🇪", "🇫🇷"}},
	} {
		got, err := threadsplit.Split(c.text, atMost(c.limit), 25)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %s (%v)", name, diff, err)
		}
	}
	for text, want := range map[string]error{
		"https://a.example/longer": threadsplit.ErrTooLong,
		"One. Two. Three. Four.":   threadsplit.ErrTooMany,
	} {
		if _, err := threadsplit.Split(text, atMost(8), 2); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
	}
}

// pieces are what texts of people consist of.
var pieces = []string{
	"Cold brew", "coffee", "Übermorgen", "e\u0301", "今日は晴れ", "。", "สวัสดี",
	".", "!", "?", ",", " ", "  ", "\n", "\n\n", "\u00A0", "\u200D", "-",
	"👩‍👩‍👧", "🇩🇪", "❤️", "👍🏽", "1. ", "Dr. ", "#coffee", "@harbour.bsky.social", "$AAPL",
	"https://harbour.example/a?B=1#c", "http://ä.example/x-y",
	"https://a.example/(b)", "harbour.example/menu", "(", ")", "“", "”", "x", "K",
}

// limits are the limits of networks with threads, and small ones.
var limits = []func(string) bool{
	func(text string) bool { return x.Count(text) <= 60 },
	network.Rules{Text: network.Text{Unit: network.Unit{Count: uniseg.GraphemeClusterCount}, MaxLength: 50,
		MaxBytes: 120}}.FitsLength,
	func(text string) bool { return utf8.RuneCountInString(text) <= 40 },
}

// The parts have the whole text except for white space between them. All fit, and no link or character is split.
func TestSplitKeepsTexts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 60).Draw(t, "pieces"), "")
		fits := rapid.SampledFrom(limits).Draw(t, "limit")
		parts, err := threadsplit.Split(text, fits, len(text)+1)
		if errors.Is(err, threadsplit.ErrTooLong) {
			if !slices.ContainsFunc(strings.Fields(text), func(word string) bool { return !fits(word) }) {
				t.Fatal("every word fits")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		rest, links := text, []string{}
		for i, part := range parts {
			if !fits(part) && len(parts) > 1 || part == "" || part != strings.TrimSpace(part) {
				t.Fatalf("part %q", part)
			}
			after, found := strings.CutPrefix(strings.TrimLeftFunc(rest, unicode.IsSpace), part)
			if !found {
				t.Fatalf("part %d is %q, but the text continues with %q", i, part, rest)
			}
			rest = after
			links = append(links, network.Links(part)...)
		}
		if strings.TrimSpace(rest) != "" {
			t.Fatalf("%q is missing", rest)
		}
		if !slices.Equal(links, network.Links(text)) && len(links)+len(network.Links(text)) > 0 {
			t.Fatalf("links %q of %q", links, text)
		}
		checkCharacters(t, text, parts)
	})
}

// checkCharacters fails if a part ends within a character of the text.
func checkCharacters(t *rapid.T, text string, parts []string) {
	ends := map[int]bool{}
	for g, at := uniseg.NewGraphemes(text), 0; g.Next(); {
		at += len(g.Str())
		ends[at] = true
	}
	at := 0
	for _, part := range parts {
		at += strings.Index(text[at:], part) + len(part)
		if !ends[at] && !startsWithSpace(text[at:]) {
			t.Fatalf("%q ends within a character of %q", part, text)
		}
	}
}

func startsWithSpace(text string) bool { return strings.TrimLeftFunc(text, unicode.IsSpace) != text }
