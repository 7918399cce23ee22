package list

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Rejected hashtags are counted by reason.
func TestSummary(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]HashtagListChange{
		"7. Added: 2, in the list already: 1.": {HashtagListEntry: HashtagListEntry{ID: 7},
			Added: []string{"a", "b"}, AlreadyPresent: []string{"c"}},
		"7. Added: 0, in the list already: 0. Rejected: 3 (bad_characters: 2, list_full: 1).": {HashtagListEntry: HashtagListEntry{ID: 7},
			Refused: []HashtagListChangeRefused{{"a b", reasonCharacters}, {"d", reasonFull}, {"c d", reasonCharacters}}},
	} {
		if got := c.summary(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestParseHashtags(t *testing.T) {
	for name, c := range map[string]struct {
		platform string
		sent     []string
		tags     []string
		rejected []HashtagListChangeRefused
	}{
		"nothing":            {},
		"with and without #": {sent: []string{"once", "#once", "ONCE", "＃ｏｎｃｅ", " #once "}, tags: []string{"once"}},
		"in their order":     {sent: []string{"c", "a", "b", "a"}, tags: []string{"c", "a", "b"}},
		"other scripts":      {sent: []string{"#旅行", "cafe\u0301", "МОРЕ"}, tags: []string{"旅行", "café", "море"}},
		"empty": {sent: []string{"", "#", "  "}, rejected: []HashtagListChangeRefused{{"", "empty"}, {"#", "empty"},
			{"  ", "empty"}}},
		"too long": {sent: []string{strings.Repeat("l", 101)}, rejected: []HashtagListChangeRefused{{strings.Repeat("l", 100),
			"too_long"}}},
		"very long": {sent: []string{strings.Repeat("旅", 3000)},
			rejected: []HashtagListChangeRefused{{strings.Repeat("旅", 100), "too_long"}}},
		"the longest": {sent: []string{strings.Repeat("l", 100)}, tags: []string{strings.Repeat("l", 100)}},
		"characters": {sent: []string{"a b", "a-b", "2024", "❤"},
			rejected: []HashtagListChangeRefused{{"a b", "bad_characters"}, {"a-b", "bad_characters"}, {"2024", "bad_characters"},
				{"❤", "bad_characters"}}},
		"invisible characters": {sent: []string{"a\tb\u202e\n\x1b[31m"},
			rejected: []HashtagListChangeRefused{{"ab[31m", "bad_characters"}}},
		"rejected once": {sent: []string{"a b", "a b", "a\u200e b"},
			rejected: []HashtagListChangeRefused{{"a b", "bad_characters"}}},
		"a link": {platform: provider.TikTok, sent: []string{"https://www.tiktok.com/tag/travel"},
			tags: []string{"travel"}},
		"another network's": {platform: provider.Instagram, sent: []string{"https://www.tiktok.com/tag/travel"},
			rejected: []HashtagListChangeRefused{{"https://www.tiktok.com/tag/travel", "bad_characters"}}},
		"all platforms, a link": {sent: []string{"https://www.tiktok.com/tag/travel"}, tags: []string{"travel"}},
	} {
		t.Run(name, func(t *testing.T) {
			tags, bad := parseHashtags(c.platform, c.sent)
			if !slices.Equal(tags, c.tags) {
				t.Errorf("%q instead of %q", tags, c.tags)
			}
			if diff := cmp.Diff(append([]HashtagListChangeRefused{}, c.rejected...), bad); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// For any input, each text is either a hashtag or rejected, the result is in normal form, and parsing is idempotent.
func TestParseHashtagsIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sent := rapid.SliceOf(rapid.OneOf(rapid.String(), rapid.StringMatching(`#?[a-cA-C]{1,2}`))).Draw(t, "sent")
		tags, bad := parseHashtags("", sent)
		if len(tags)+len(bad) > len(sent) || len(sent) > 0 && len(tags)+len(bad) == 0 {
			t.Fatalf("%q: %q and %q", sent, tags, bad)
		}
		for _, r := range bad {
			if utf8.RuneCountInString(r.Hashtag) > 100 || strings.ContainsFunc(r.Hashtag, unicode.IsControl) {
				t.Fatalf("the rejected hashtag is not sanitized: %q", r.Hashtag)
			}
		}
		again, none := parseHashtags("", tags)
		if !slices.Equal(again, tags) || len(none) > 0 {
			t.Fatalf("%q, then %q and %q", tags, again, none)
		}
	})
}

func TestFilter(t *testing.T) {
	b := must.Get(newBanList(map[string][]string{"instagram": {"#Bad"}, "tiktok": {"worse"}}))(t)
	tags := []string{"a", "bad", "b", "worse", "c"}
	for name, c := range map[string]struct {
		platform string
		room     int64
		taken    []string
		rejected []HashtagListChangeRefused
	}{
		"no end": {"instagram", -1, []string{"a", "b", "worse", "c"}, []HashtagListChangeRefused{{"bad", "banned"}}},
		"limit reached": {"instagram", 2, []string{"a", "b"}, []HashtagListChangeRefused{{"bad", "banned"}, {"worse", "list_full"},
			{"c", "list_full"}}},
		"no room": {"tiktok", 0, nil, []HashtagListChangeRefused{{"a", "list_full"}, {"bad", "list_full"}, {"b", "list_full"},
			{"worse", "banned"}, {"c", "list_full"}}},
		"just enough":     {"tiktok", 4, []string{"a", "bad", "b", "c"}, []HashtagListChangeRefused{{"worse", "banned"}}},
		"all platforms":   {"", 9, []string{"a", "b", "c"}, []HashtagListChangeRefused{{"bad", "banned"}, {"worse", "banned"}}},
		"another network": {"tiktok", 9, []string{"a", "bad", "b", "c"}, []HashtagListChangeRefused{{"worse", "banned"}}},
	} {
		t.Run(name, func(t *testing.T) {
			taken, rest := b.filter(c.platform, tags, c.room)
			if !slices.Equal(taken, c.taken) || !slices.Equal(rest, c.rejected) {
				t.Errorf("%q and %v", taken, rest)
			}
		})
	}
}

func TestOperatorBannedHashtags(t *testing.T) {
	for name, given := range map[string]map[string][]string{
		"another network": {"facebook": {"a"}},
		"no hashtag":      {"instagram": {"good", "two words"}},
		"nothing":         {"tiktok": {""}},
	} {
		if _, err := newBanList(given); err == nil {
			t.Errorf("the banned hashtag %s was accepted", name)
		}
	}
	if b, err := newBanList(nil); err != nil || len(b[""]) > 0 {
		t.Errorf("%v %v", b, err)
	}
}

func TestNames(t *testing.T) {
	for name, c := range map[string]struct{ text, want, reason string }{
		"plain":                 {text: "Summer in Lisbon", want: "Summer in Lisbon"},
		"spaces around":         {text: "  Summer\u3000", want: "Summer"},
		"the longest":           {text: strings.Repeat("é", 50), want: strings.Repeat("é", 50)},
		"emoji":                 {text: "👩\u200d🚀 space", want: "👩\u200d🚀 space"},
		"too long":              {text: strings.Repeat("é", 51), reason: apierr.TooLong},
		"empty":                 {text: "", reason: apierr.TooShort},
		"only spaces":           {text: " \t\u3000", reason: apierr.TooShort},
		"nothing seen":          {text: "\u200b\u2060", reason: apierr.TooShort},
		"only fillers":          {text: "\u3164\u115f\uffa0", reason: apierr.TooShort},
		"empty braille pattern": {text: "\u2800", reason: apierr.TooShort},
		"only selectors":        {text: "\ufe0f\u034f", reason: apierr.TooShort},
		"Korean":                {text: "서울\u3164여행", want: "서울\u3164여행"},
		"a line break":          {text: "a\nb", reason: apierr.Malformed},
		"a separator":           {text: "a\u2028b", reason: apierr.Malformed},
		"a control":             {text: "a\x07b", reason: apierr.Malformed},
		"invalid UTF-8":         {text: "a\xff", reason: apierr.Malformed},
		"terminal escape":       {text: "\x1b[31mred", reason: apierr.Malformed},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseName(c.text)
			if c.reason != "" {
				checkRejected(t, err, apierr.ValidationFailed, c.reason)
				return
			}
			if got != c.want || err != nil {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

func TestSubcategoryNames(t *testing.T) {
	for name, c := range map[string]struct{ text, want, reason string }{
		"plain":         {text: " Drinks ", want: "Drinks"},
		"none":          {},
		"only a mark":   {text: "\u200f"},
		"only a filler": {text: "\u3164"},
		"with a mark":   {text: "\u200fקפה", want: "\u200fקפה"},
		"too long":      {text: strings.Repeat("s", 51), reason: apierr.TooLong},
		"a line break":  {text: "a\nb", reason: apierr.Malformed},
		"unseen, split": {text: "\u200f\n\u200f", reason: apierr.Malformed},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseSubcategory(c.text)
			if c.reason != "" {
				checkRejected(t, err, apierr.ValidationFailed, c.reason)
				return
			}
			if got != c.want || err != nil {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

func TestColors(t *testing.T) {
	for text, want := range map[string]string{"": "", "#12ab9F": "#12ab9f", "#000000": "#000000",
		"#FFFFFF": "#ffffff"} {
		if got, err := parseColor(text); got != want || err != nil {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"red", "12ab9f", "#abc", "#12ab9fff", "#12ab9g", "#12ab9f\n", "＃12ab9f", "#12ab9é",
		" #12ab9f", "##2ab9f"} {
		if got, err := parseColor(text); err == nil || got != "" {
			t.Errorf("the color %q was parsed as %q", text, got)
		}
	}
}

func TestIcons(t *testing.T) {
	if n := len(icons()); n < 3000 {
		t.Fatalf("%d icons", n)
	}
	for name := range icons() {
		if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || name == "" {
			t.Errorf("the icon %q was rejected", name)
		}
	}
	for _, token := range []string{"", "ri-hashtag", "ri-plane-line", "ri-plane-fill", "ri-24-hours-line",
		"ri-instagram-fill", "ri-zzz-fill", "ri-bold"} {
		if got, err := parseIcon(token); got != token || err != nil {
			t.Errorf("%q: %q, %v", token, got, err)
		}
	}
	for _, token := range []string{"ri-", "fa-star", "ri-<script>", "ri-a b", "ri-plane", "ri-hashtag-line",
		"ri-hashtag-fill", "ri-bold-line", "plane-line", "RI-plane-line", "ri-plane-line\n", "ri-#"} {
		got, err := parseIcon(token)
		if err == nil || got != "" {
			t.Errorf("the invalid icon %q was accepted", token)
			continue
		}
		checkRejected(t, err, apierr.ValidationFailed, apierr.NotAllowedValue)
	}
}
