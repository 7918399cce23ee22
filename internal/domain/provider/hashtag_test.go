package provider

import (
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

var validHashtags = []struct{ text, want string }{
	{"travel", "travel"},
	{"#Travel", "travel"},
	{"##travel", "travel"},
	{" \t#travel\n", "travel"},
	{"\u200e#travel\u200f", "travel"},
	{"#\u200ftravel", "travel"},
	{"\u2067#\u200e\u200f#\u200btravel\u2069", "travel"},
	{"＃\ufefftravel", "travel"},
	{"#\u00adtravel", "travel"},
	{"#می\u200cخواهم", "میخواهم"},
	{"ශ්\u200dරී", "ශ්රී"},
	{"क्\u200dष", "क्ष"},
	{"cafe\u200d\u0301", "café"},
	{"\u200d#\u200ctravel\u200d", "travel"},
	{"＃ｔｒａｖｅｌ", "travel"},
	{"#_", "_"},
	{"2024_25", "2024_25"},
	{"3d", "3d"},
	{"café", "café"},
	{"cafe\u0301", "café"},
	{"旅行", "旅行"},
	{"МОРЕ", "море"},
	{"हिन्दी", "हिन्दी"},
	{"Straße", "straße"},
	{"STRASSE", "strasse"},
	{"θάλασσας", "θάλασσας"},
	{"ΘΆΛΑΣΣΑΣ", "θάλασσας"},
	{"𝓽𝓻𝓪𝓿𝓮𝓵", "travel"},
	{strings.Repeat("l", 100), strings.Repeat("l", 100)},
	{strings.Repeat("旅", 100), strings.Repeat("旅", 100)},
	{"https://www.instagram.com/explore/tags/Travel/", "travel"},
	{"http://instagram.com/explore/tags/travel?hl=en#top", "travel"},
	{"HTTPS://www.Instagram.com/explore/tags/travel", "travel"},
	{"instagram.com/explore/tags/travel/", "travel"},
	{"https://www.instagram.com/explore/tags/caf%C3%A9/", "café"},
	{"https://www.instagram.com/explore/tags/%E6%97%85/", "旅"},
	{"https://www.instagram.com/explore/tags/旅/", "旅"},
	{"https://www.instagram.com/explore/tags/%E2%80%8Ftravel%E2%80%8E/", "travel"},
	{"https://www.tiktok.com/tag/travel?lang=en", "travel"},
	{"m.tiktok.com/tag/travel", "travel"},
}

var invalidHashtags = []struct {
	text string
	want error
}{
	{"", ErrHashtagEmpty},
	{"#", ErrHashtagEmpty},
	{" # ", ErrHashtagEmpty},
	{"＃", ErrHashtagEmpty},
	{"https://www.instagram.com/explore/tags/", ErrHashtagEmpty},
	{"two words", ErrHashtagCharacters},
	{"# travel", ErrHashtagCharacters},
	{"tra-vel", ErrHashtagCharacters},
	{"tra#vel", ErrHashtagCharacters},
	{"travel.", ErrHashtagCharacters},
	{"travel✈", ErrHashtagCharacters},
	{"love❤\ufe0f", ErrHashtagCharacters},
	{"#\ufe0f\u20e3", ErrHashtagCharacters},
	{"love\ufe0f", ErrHashtagCharacters},
	{"\u0301a", ErrHashtagCharacters},
	{"tra\u200bvel", ErrHashtagCharacters},
	{"tra\u200evel", ErrHashtagCharacters},
	{"#\u200f travel", ErrHashtagCharacters},
	{"#\u0600travel", ErrHashtagCharacters},
	{"travel\u06dd", ErrHashtagCharacters},
	{"#\u200d\u200c", ErrHashtagEmpty},
	{"👩\u200d🚀", ErrHashtagCharacters},
	{"tra\x00vel", ErrHashtagCharacters},
	{"travel\xff", ErrHashtagCharacters},
	{"https://www.instagram.com/explore/tags/a%20b/", ErrHashtagCharacters},
	{"https://www.instagram.com/explore/tags/a/b", ErrHashtagCharacters},
	{"2024", ErrHashtagNumber},
	{"#１２", ErrHashtagNumber},
	{strings.Repeat("l", 101), ErrHashtagTooLong},
	{strings.Repeat("l", 3000), ErrHashtagTooLong},
	{strings.Repeat("ﷺ", 30), ErrHashtagCharacters},
	{strings.Repeat("ﬃ", 34), ErrHashtagTooLong},
	{"/", ErrHashtagLink},
	{"https://", ErrHashtagLink},
	{"https://www.instagram.com/natgeo/", ErrHashtagLink},
	{"https://www.instagram.com/tag/travel", ErrHashtagLink},
	{"https://www.tiktok.com/explore/tags/travel", ErrHashtagLink},
	{"https://evil.example/explore/tags/travel", ErrHashtagLink},
	{"https://www.instagram.com.evil.example/explore/tags/travel", ErrHashtagLink},
	{"https://www.instagram.com@evil.example/explore/tags/travel", ErrHashtagLink},
	{"https://user@www.instagram.com/explore/tags/travel", ErrHashtagLink},
	{"https://www.instagram.com:444/explore/tags/travel", ErrHashtagLink},
	{"ftp://www.instagram.com/explore/tags/travel", ErrHashtagLink},
	{"ｗｗｗ.instagram.com/explore/tags/travel", ErrHashtagLink},
	{"https://www.instagram.com/explore/tags/%zz", ErrHashtagLink},
}

func TestHashtag(t *testing.T) {
	for _, c := range validHashtags {
		if got, err := ParseHashtag(c.text); got != c.want || err != nil {
			t.Errorf("%q: %q, %v; want %q", c.text, got, err, c.want)
		}
	}
	for _, c := range invalidHashtags {
		got, err := ParseHashtag(c.text)
		if got != "" || !errors.Is(err, c.want) {
			t.Errorf("%q: %q, %v; want %v", c.text, got, err, c.want)
		}
		if err != nil && len(c.text) > 7 && strings.Contains(err.Error(), c.text) {
			t.Errorf("%q is repeated in the error", c.text)
		}
	}
}

// Hashtags are parsed from every notation.
func TestParseHashtagNotations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringOf(rapid.RuneFrom(nil, unicode.L, unicode.Nd, unicode.Mn)).Draw(t, "name")
		want, err := ParseHashtag(name)
		if err != nil {
			t.Skip("no hashtag")
		}
		for _, form := range []string{"#NAME", "＃NAME", " NAME ", "https://www.instagram.com/explore/tags/NAME/",
			"https://www.tiktok.com/tag/NAME?lang=en"} {
			text := strings.Replace(form, "NAME", name, 1)
			if got, err := ParseHashtag(text); got != want || err != nil {
				t.Errorf("%q: %q, %v; want %q", text, got, err, want)
			}
		}
	})
}

// NormalizeText is idempotent for every character and text.
func TestNormalizeTextIsIdempotent(t *testing.T) {
	for r := range unicode.MaxRune {
		if !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.S, unicode.P) {
			continue
		}
		if once := NormalizeText("a" + string(r) + "b"); NormalizeText(once) != once {
			t.Errorf("%U: %q, then %q", r, once, NormalizeText(once))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		if once := NormalizeText(text); NormalizeText(once) != once || !utf8.ValidString(once) {
			t.Errorf("%q: %q, then %q", text, once, NormalizeText(once))
		}
	})
}

// FuzzHashtag checks that parsing a parsed hashtag returns the same hashtag.
func FuzzHashtag(f *testing.F) {
	for _, c := range validHashtags {
		f.Add(c.text)
	}
	for _, c := range invalidHashtags {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tag, err := ParseHashtag(text)
		if err != nil {
			return
		}
		if again, err := ParseHashtag(tag); again != tag || err != nil || !utf8.ValidString(tag) {
			t.Errorf("%q: %q, then %q, %v", text, tag, again, err)
		}
		if strings.ContainsFunc(tag, func(r rune) bool { return !IsHashtagRune(r) }) ||
			utf8.RuneCountInString(tag) > MaxHashtag {
			t.Errorf("%q was parsed as a hashtag", tag)
		}
	})
}
