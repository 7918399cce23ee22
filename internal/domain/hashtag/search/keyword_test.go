package search

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/provider"
)

// All queries of a row are the same keyword. Queries of different rows are different keywords.
func TestKeywordEquality(t *testing.T) {
	rows := [][]string{
		{"summer beach travel", "Travel  beach SUMMER", "#summer #beach travel", "travel, summer & beach!",
			"summer beach summer travel", "＃summer ｂｅａｃｈ travel"},
		{"#summerbeach", "summerbeach", " SummerBeach ", "##summerbeach",
			"https://www.instagram.com/explore/tags/SummerBeach/", "instagram.com/explore/tags/summerbeach"},
		{"summer beach", "beach/summer", "summer-beach", "#summer#beach"},
		{"summer", "#summer"},
		{"summer_beach", "#summer_beach"},
		{"café", "cafe\u0301", "CAFÉ"},
		{"東京 旅行", "旅行 #東京"},
		{"東京旅行"},
		{"2024", "２０２４", "# 2024"},
		{"summer 2024", "2024 summer"},
		{"best of the beach"}, // stop words are not measured, but make a different keyword
		{"best beach"},
		{"#a", "a "},
	}
	seen := map[string]string{}
	for _, row := range rows {
		first := ""
		for _, query := range row {
			k, err := Input{Query: query, Platform: provider.Instagram}.keyword()
			if err != nil {
				t.Errorf("%q: %v", query, err)
				continue
			}
			if first == "" {
				first = k.key()
			}
			if k.key() != first {
				t.Errorf("%q is %q, not %q", query, k.key(), first)
			}
		}
		if seen[first] != "" {
			t.Errorf("%q and %q have the same key", row[0], seen[first])
		}
		seen[first] = row[0]
	}
}

func TestRejectedQueries(t *testing.T) {
	for query, want := range map[string]*apierr.Error{
		"##": errNoWords, "--": errNoWords, "  ": errNoWords, "🌊🌊": errNoWords, "\u0301\u0301": errNoWords,
		"#\u200e": errNoWords, "//": errNoWords,
		"https://www.tiktok.com/tag/travel": errWrongLink, "tiktok.com/tag/travel": errWrongLink,
		"https://www.instagram.com/natgeo/": errWrongLink, "https://example.com/beach": errWrongLink,
		longWords(33): errTooLong,
	} {
		if _, err := (Input{Query: query, Platform: provider.Instagram}).keyword(); !errors.Is(err, error(want)) {
			t.Errorf("%q: %v, want %v", query, err, want)
		}
	}
}

// longWords returns words whose characters each expand to eighteen characters.
func longWords(count int) string {
	var out strings.Builder
	for i := range count {
		out.WriteString(string(rune('a'+i%26)) + "ﷺ" + string(rune('a'+i/26)))
	}
	return out.String()
}

func TestOwnHashtags(t *testing.T) {
	for query, want := range map[string][]string{
		"travel":                   {"travel"},
		"#Travel":                  {"travel"},
		"summer beach":             {"summerbeach", "summer", "beach"},
		"beach summer":             {"beachsummer", "beach", "summer"},
		"summer beach travel":      {"summerbeachtravel", "summer", "beach", "travel"},
		"coffee tea milk oat soja": {"coffeeteamilkoatsoja", "coffee", "tea", "milk"},
		"best of the beach":        {"bestofthebeach", "best", "beach"},
		"the who":                  {"thewho"},
		"the":                      {"the"},
		"2024":                     nil,
		"summer 2024":              {"summer2024", "summer"},
		"3d printing":              {"3dprinting", "3d", "printing"},
		"東京 旅行":                    {"東京旅行", "東京", "旅行"},
		"เที่ยว ทะเล":              {"เที่ยวทะเล", "เที่ยว", "ทะเล"},
		strings.Repeat("longer ", 2) + strings.Repeat("l", 60) + " " + strings.Repeat("m",
			20): {"longer" + strings.Repeat("l", 60) + strings.Repeat("m", 20), "longer", strings.Repeat("l", 60),
			strings.Repeat("m", 20)},
	} {
		k, err := Input{Query: query, Platform: provider.Instagram}.keyword()
		if diff := cmp.Diff(want, k.hashtags()); err != nil || diff != "" {
			t.Errorf("%q: %v %s", query, err, diff)
		}
	}
}

// All spellings of a keyword have the same key and yield valid hashtags.
func TestKeywordSpellings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-z]{2,8}|[а-я]{2,6}|[東京旅行]{1,3}|[a-z]{2}_[a-z]|[0-9]{2}`), 1,
			6).Draw(t, "words")
		plain, err := Input{Query: strings.Join(words, " "), Platform: provider.TikTok}.keyword()
		if err != nil {
			t.Fatalf("%q: %v", words, err)
		}
		other := rapid.Permutation(words).Draw(t, "order")
		other = append(other, rapid.SampledFrom(words).Draw(t, "repeated"))
		var text strings.Builder
		for _, word := range other {
			if rapid.Bool().Draw(t, "capitals") {
				word = strings.ToUpper(word)
			}
			text.WriteString(rapid.SampledFrom([]string{" ", "  ", " #", ", ", "\t＃"}).Draw(t, "gap") + word)
		}
		spelled, err := Input{Query: text.String(), Platform: provider.TikTok}.keyword()
		if err != nil || spelled.key() != plain.key() {
			t.Errorf("%q has the key %q, want %q: %v", text.String(), spelled.key(), plain.key(), err)
		}
		if again := parseKeyword(plain.String()); !slices.Equal(again, plain) {
			t.Errorf("%q is parsed as %q", plain, again)
		}
		for _, tag := range plain.hashtags() {
			if same, err := provider.ParseHashtag(tag); err != nil || same != tag {
				t.Errorf("%q is not a valid hashtag", tag)
			}
		}
		if len(plain.hashtags()) > maxOwnHashtags {
			t.Errorf("%q yields the hashtags %q", plain, plain.hashtags())
		}
	})
}
