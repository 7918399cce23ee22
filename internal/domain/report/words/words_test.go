package words

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/domain/provider"
)

var captions = []struct {
	caption string
	tags    []string
	words   []string
}{
	{"", nil, nil},
	{"Sunset over the old harbour #Travel #sunset #TRAVEL", []string{"travel", "sunset"}, []string{"sunset", "old",
		"harbour"}},
	{"#a#b", []string{"a", "b"}, nil},
	{"＃旅行 今日は#海", []string{"旅行", "海"}, []string{"今", "日"}},
	{"word#no and rock&#39;roll", nil, []string{"word", "rock", "roll"}},
	{"#2024 #１２ #️⃣ # #-", nil, nil},
	{"#love❤️ #sun☀️rise", []string{"love", "sun"}, []string{"rise"}},
	{"#" + strings.Repeat("x", 101) + " #ok", []string{"ok"}, nil},
	{"https://example.com/a#frag?q=x www.example.org/#y example.com/pics bit.ly", nil, nil},
	{"https://example.com/写真を見て", nil, []string{"写", "真", "見"}},
	{"mail me@example.org, thanks to @nat.geo_! and @natgeoの写真", nil, []string{"mail", "thanks", "写", "真"}},
	{"End of it.Start again", nil, []string{"end", "start"}},
	{"L’amour d'Italia; don't we'll Anna's", nil, []string{"amour", "italia", "anna"}},
	{"3.14 4k 7 a) x, 2nd", nil, []string{"2nd"}},
	{"𝗵𝗲𝗹𝗹𝗼 ｗｏｒｌｄ _slanted_ __ foo_bar", nil, []string{"hello", "world", "slanted", "foo_bar"}},
	{"😀👩‍👩‍👧 🇫🇷 1️⃣", nil, nil},
	{"東京タワーへ行きました。ねこかわいい", nil, []string{"東", "京", "タワー", "行", "きました", "ねこかわいい"}},
	{"हिन्दी में किताब", nil, []string{"हिन्दी", "किताब"}},
	{"صورة من البحر", nil, []string{"صورة", "البحر"}},
	{"Я люблю море и горы", nil, []string{"люблю", "море", "горы"}},
	{"Die Straße und das Meer", nil, []string{"straße", "meer"}},
	{"bad\xff\xfeutf #ta\xffg", []string{"ta"}, []string{"bad", "utf"}},
	{"x" + strings.Repeat("y", 100), nil, nil},
}

func TestCaptions(t *testing.T) {
	for _, c := range captions {
		found := Parse(c.caption)
		if diff := cmp.Diff(c.tags, found.Hashtags); diff != "" {
			t.Errorf("hashtags of %q: %s", c.caption, diff)
		}
		if diff := cmp.Diff(c.words, append([]string(nil), found.Words...)); diff != "" {
			t.Errorf("words of %q: %s", c.caption, diff)
		}
	}
}

// Ambiguous stop words count only with unambiguous stop words of the same language.
func TestAmbiguousStopWords(t *testing.T) {
	for _, c := range []struct{ caption, want string }{
		{"my car, my van, my hat", "car van hat"},
		{"er hat ein Auto und war da", "auto"},
		{"il fait froid car il neige, et nous", "froid neige"},
		{"Met vrienden naar het strand van Bergen", "vrienden strand bergen"},
		{"the meer and the sea", "meer sea"},
	} {
		if got := strings.Join(Parse(c.caption).Words, " "); got != c.want {
			t.Errorf("%q: %q, want %q", c.caption, got, c.want)
		}
	}
}

// Each line of the table is a language with enough words, each of which is a single token.
func TestStopWords(t *testing.T) {
	languages := map[string]bool{}
	for line := range strings.Lines(stopText) {
		fields := strings.Fields(line)
		if fields[0] == "#" {
			continue
		}
		if languages[fields[0]] || len(fields) < 90 || len(fields) > 170 {
			t.Errorf("%s: %d words, or twice", fields[0], len(fields)-1)
		}
		languages[fields[0]] = true
		seen := map[string]bool{}
		for _, word := range fields[1:] {
			word = strings.TrimPrefix(word, "~")
			if seen[word] || word != provider.NormalizeText(word) || strings.ContainsFunc(word, isOutsideHashtag) {
				t.Errorf("%s: %q is a duplicate or not a valid word", fields[0], word)
			}
			seen[word] = true
		}
	}
	if len(languages) > 32 || !languages["en"] || !languages["ja"] {
		t.Errorf("languages %v", languages)
	}
}

func check(t interface{ Errorf(string, ...any) }, caption string) {
	tags, found := Parse(caption).Hashtags, Parse(caption).Words
	if alone := Hashtags(caption); !slices.Equal(alone, tags) {
		t.Errorf("hashtags %q, alone %q", tags, alone)
	}
	for _, tag := range tags {
		if again, err := provider.ParseHashtag(tag); again != tag || err != nil {
			t.Errorf("%q is not a valid hashtag: %v", tag, err)
		}
	}
	for _, word := range found {
		length := utf8.RuneCountInString(word)
		if !utf8.ValidString(word) || length < 1 || length > provider.MaxHashtag || strings.ContainsFunc(word,
			isOutsideHashtag) || !strings.ContainsFunc(word, unicode.IsLetter) {
			t.Errorf("%q is not a valid word", word)
		}
	}
	for _, list := range [][]string{tags, found} {
		if sorted := slices.Sorted(slices.Values(list)); len(slices.Compact(sorted)) != len(list) {
			t.Errorf("%q: some twice", list)
		}
	}
	if again := Hashtags("#" + strings.Join(tags, " #")); len(tags) > 0 && !slices.Equal(again, tags) {
		t.Errorf("hashtags %q, then %q", tags, again)
	}
	if again := Parse(strings.Join(found, " ")).Words; !slices.Equal(again, found) {
		t.Errorf("words %q, then %q", found, again)
	}
}

func TestEveryCaption(t *testing.T) {
	piece := rapid.OneOf(
		rapid.String(), rapid.SampledFrom(strings.Fields(stopText)),
		rapid.SampledFrom([]string{"#", "＃", "@", " ", "_", "'", ".", "https://", "x.com", "é", "か", "海", "\u200d",
			"\u0301", "İ"}),
	)
	rapid.Check(t, func(t *rapid.T) {
		check(t, strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), ""))
	})
}

func FuzzCaptions(f *testing.F) {
	for _, c := range captions {
		f.Add(c.caption)
	}
	f.Fuzz(func(t *testing.T, caption string) { check(t, caption) })
}

func BenchmarkRead(b *testing.B) {
	const caption = "Sunset over the old harbour, see you there again tomorrow morning at eight! Link in bio. " +
		"#travel " +
		"#sunset #harbour"
	b.ReportAllocs()
	for b.Loop() {
		Parse(caption)
	}
}

func BenchmarkHashtags(b *testing.B) {
	const caption = "Sunset over the old harbour, see you there again tomorrow morning at eight! Link in bio. " +
		"#travel " +
		"#sunset #harbour"
	b.ReportAllocs()
	for b.Loop() {
		Hashtags(caption)
	}
}
