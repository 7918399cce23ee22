package network

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestMeasure(t *testing.T) {
	for _, c := range []struct {
		platform string
		content  Content
		want     []Measure
	}{
		{"bluesky", Content{Text: "ä👋🏽"}, []Measure{{"characters", 2, 300, 0}, {"bytes", 10, 3000, 0}}},
		{"threads", Content{Text: "👋🏽 #a #b"}, []Measure{{"characters (emoji count in bytes)", 14, 500, 0}, {"hashtags", 2, 0, 1}}},
		{"tiktok", Content{Text: "👋"}, []Measure{{"characters (most emoji count as 2)", 2, 2200, 0}}},
		{"tiktok", Content{Text: "👋", Media: []Media{jpeg()}}, []Measure{{"characters (most emoji count as 2)", 2, 4000, 0}}},
		{"instagram", Content{Text: "@a #b https://c.example"}, []Measure{
			{"characters (most emoji count as 2)", 23, 2200, 0}, {"hashtags", 1, 30, 5}, {"mentions", 1, 20, 0},
		}},
		{"x", Content{Text: "$AAPL"}, []Measure{{"cashtags", 1, 1, 0}}}, // package x counts the text
	} {
		rules, _ := DefaultRules(c.platform)
		if diff := cmp.Diff(c.want, rules.Measure(c.content)); diff != "" {
			t.Errorf("%s of %q: %s", c.platform, c.content.Text, diff)
		}
	}
	for m, want := range map[Measure][3]bool{
		{Count: 300, Limit: 300}: {false, true, false}, {Count: 301, Limit: 300}: {true, true, true}, {Count: 270, Limit: 300}: {},
		{Count: 6, Limit: 30, SoftLimit: 5}: {false, true, false}, {Count: 9}: {},
	} {
		if m.ExceedsLimit() != want[0] || m.NearLimit() != want[1] || (m.Excess() > 0) != want[2] {
			t.Errorf("%+v: over %v, near %v, excess %d", m, m.ExceedsLimit(), m.NearLimit(), m.Excess())
		}
	}
}

// Measure reports an excess if and only if Check rejects the text.
func TestMeasureAgreesWithCheck(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rules, _ := DefaultRules(rapid.SampledFrom([]string{
			"instagram", "facebook", "threads", "tiktok", "linkedin", "pinterest", "bluesky",
		}).Draw(t, "platform"))
		c := Content{
			Text: strings.Repeat(rapid.SampledFrom([]string{"a", "ä ", "👋🏽", "#b ", "@c ", "https://d.example "}).
				Draw(t, "text"), rapid.IntRange(1, 2300).Draw(t, "times")), Media: []Media{jpeg()},
		}
		over := slices.ContainsFunc(rules.Measure(c), Measure.ExceedsLimit)
		rejected := slices.ContainsFunc(rules.Check(c), func(p Problem) bool {
			return p.Blocking && (p.Code == "caption_too_long" || strings.HasSuffix(p.Code, "s_too_many"))
		})
		if over != rejected {
			t.Fatalf("over %v, rejected %v: %v", over, rejected, rules.Measure(c))
		}
	})
}
