package network

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

var platforms = []string{"instagram", "facebook", "threads", "tiktok", "youtube", "linkedin", "x", "pinterest", "bluesky"}

func jpeg() Media {
	return Media{Kind: Image, Type: jpegType, Size: 400_000, Width: 1080, Height: 1080}
}

func mp4() Media {
	return Media{Kind: Video, Type: mp4Type, Size: 4_000_000, Width: 1080, Height: 1080, Duration: 20 * time.Second}
}

// with returns m after a change.
func with(m Media, change func(*Media)) Media {
	change(&m)
	return m
}

func withSize(m Media, width, height int) Media {
	return with(m, func(m *Media) { m.Width, m.Height = width, height })
}

func withType(m Media, mimeType string) Media { return with(m, func(m *Media) { m.Type = mimeType }) }

func withDuration(d time.Duration) Media { return with(mp4(), func(m *Media) { m.Duration = d }) }

func withBytes(m Media, size int64) Media { return with(m, func(m *Media) { m.Size = size }) }

// codes returns the codes of problems. Codes of problems that do not block end with a question mark.
func codes(found []Problem) []string {
	var out []string
	for _, p := range found {
		if p.Blocking {
			out = append(out, p.Code)
		} else {
			out = append(out, p.Code+"?")
		}
	}
	return out
}

func TestCheckText(t *testing.T) {
	x := strings.Repeat
	for _, c := range []struct {
		name, platform, text string
		media                []Media
		want                 string
	}{
		{"nothing", "bluesky", "", nil, "caption_missing"},
		{"only invisible characters", "threads", " \u200b\n", nil, "caption_missing"},
		{"image without text", "facebook", "", []Media{jpeg()}, ""},
		{"text but no required media", "instagram", "Hello", nil, "media_missing"},
		{"neither text nor required media", "pinterest", "", nil, "media_missing"},
		{"combined emoji within the limit", "bluesky", x("👩‍👩‍👧‍👦", 100), nil, ""},
		{"too many characters", "bluesky", x("é", 301), nil, "caption_too_long"},
		{"too many bytes", "bluesky", x("👩‍👩‍👧‍👦", 121), nil, "caption_too_long"},
		{"text of the maximum length", "linkedin", x("a", 3000), nil, ""},
		{"one character too many", "linkedin", x("a", 3001), nil, "caption_too_long"},
		{"surrogates count", "linkedin", x("😀", 1501), nil, "caption_too_long"},
		{"emoji counted in bytes", "threads", x("😀", 125), nil, ""},
		{"one byte too many", "threads", x("😀", 125) + ".", nil, "caption_too_long"},
		{"one character over Facebook's limit", "facebook", x("a", 63_207), nil, "caption_too_long"},
		{"text limit of photos", "tiktok", x("a", 4000), []Media{jpeg()}, ""},
		{"text limit of a video", "tiktok", x("a", 2201), []Media{mp4()}, "caption_too_long"},
		{"description limit in bytes", "youtube", x("ж", 2501), []Media{mp4()}, "caption_too_long"},
		{"five hashtags", "instagram", x("#a ", 5), []Media{jpeg()}, ""},
		{"six", "instagram", x("#a ", 6), []Media{jpeg()}, "hashtags_too_many?"},
		{"thirty-one", "instagram", x("#a ", 31), []Media{jpeg()}, "hashtags_too_many"},
		{"two topics", "threads", "#one #two", nil, "hashtags_too_many?"},
		{"many mentions", "instagram", x("@a ", 21), []Media{jpeg()}, "mentions_too_many"},
		{"six links", "threads", "https://a.de/1 https://a.de/2 https://a.de/3 https://a.de/4 https://a.de/5 " +
			"https://a.de/6", nil, "links_too_many"},
		{"one link repeated", "threads", x("https://a.de/1 ", 6), nil, ""},
	} {
		rules, _ := DefaultRules(c.platform)
		if got := strings.Join(codes(rules.Check(Content{Text: c.text, Media: c.media})), " "); got != c.want {
			t.Errorf("%s, %s: %q, want %q", c.platform, c.name, got, c.want)
		}
	}
}

func TestCheckMedia(t *testing.T) {
	for _, c := range []struct {
		name, platform string
		media          []Media
		want           string
	}{
		{"carousel of images and videos", "instagram", []Media{jpeg(), mp4(), jpeg()}, ""},
		{"eleven images", "instagram", slices.Repeat([]Media{jpeg()}, 11), "media_too_many"},
		{"eleven images and videos", "instagram", append(slices.Repeat([]Media{jpeg()}, 8), mp4(), mp4(), mp4()), "media_too_many"},
		{"a PNG is converted", "instagram", []Media{withType(jpeg(), pngType)}, "media_type?"},
		{"a TIFF is not", "instagram", []Media{withType(jpeg(), "image/tiff")}, "media_type"},
		{"a large image is made smaller", "instagram", []Media{withBytes(jpeg(), 8<<20+1)}, "media_too_large?"},
		{"tallest aspect ratio", "instagram", []Media{withSize(jpeg(), 1080, 1350)}, ""},
		{"too high", "instagram", []Media{withSize(jpeg(), 1080, 1920)}, "media_aspect"},
		{"rounded widest aspect ratio", "instagram", []Media{withSize(jpeg(), 1200, 628)}, ""},
		{"too wide", "instagram", []Media{withSize(jpeg(), 2000, 1000)}, "media_aspect"},
		{"image of unknown dimensions and size", "instagram", []Media{{Kind: Image, Type: jpegType}}, ""},
		{"a short reel", "instagram", []Media{withDuration(2900 * time.Millisecond)}, "media_too_short"},
		{"a long reel", "instagram", []Media{withDuration(15*time.Minute + time.Millisecond)}, "media_too_long"},
		{"a video of unknown length", "instagram", []Media{withDuration(0)}, ""},
		{"both", "facebook", []Media{jpeg(), mp4()}, "media_mix"},
		{"two videos", "facebook", []Media{mp4(), mp4()}, "media_too_many"},
		{"twenty images and videos", "threads", append(slices.Repeat([]Media{jpeg()}, 19), mp4()), ""},
		{"a large video", "threads", []Media{withBytes(mp4(), 1_000_000_001)}, "media_too_large"},
		{"thirty-five photos", "tiktok", slices.Repeat([]Media{jpeg()}, 35), ""},
		{"thirty-six", "tiktok", slices.Repeat([]Media{jpeg()}, 36), "media_too_many"},
		{"photo with too many pixels", "tiktok", []Media{withSize(jpeg(), 4000, 3000)}, "media_too_large?"},
		{"a small video", "tiktok", []Media{withSize(mp4(), 320, 640)}, "media_aspect"},
		{"video with too many pixels", "tiktok", []Media{withSize(mp4(), 1000, 5000)}, "media_too_large"},
		{"an image", "youtube", []Media{jpeg()}, "media_type"},
		{"two videos", "youtube", []Media{mp4(), mp4()}, "media_too_many"},
		{"an image and a video", "youtube", []Media{jpeg(), mp4()}, "media_too_many media_type"},
		{"a WebM file", "youtube", []Media{withType(mp4(), "video/webm")}, "media_type"},
		{"a MOV file", "linkedin", []Media{withType(mp4(), quickTimeType)}, "media_type"},
		{"four images", "x", []Media{jpeg(), jpeg(), jpeg(), jpeg()}, ""},
		{"five", "x", []Media{jpeg(), jpeg(), jpeg(), jpeg(), jpeg()}, "media_too_many"},
		{"a GIF", "x", []Media{withBytes(withType(jpeg(), gifType), 14_000_000)}, ""},
		{"a GIF beside an image", "x", []Media{jpeg(), withType(jpeg(), gifType)}, "media_mix"},
		{"a GIF is not made smaller", "x", []Media{withBytes(withType(jpeg(), gifType), 16_000_000)}, "media_too_large"},
		{"GIF with too many pixels", "x", []Media{withSize(withType(jpeg(), gifType), 1300, 900)}, "media_too_large"},
		{"a long video", "x", []Media{withDuration(141 * time.Second)}, "media_too_long"},
		{"five pins", "pinterest", slices.Repeat([]Media{jpeg()}, 5), ""},
		{"six", "pinterest", slices.Repeat([]Media{jpeg()}, 6), "media_too_many"},
		{"a video and an image", "pinterest", []Media{mp4(), jpeg()}, "media_mix"},
		{"a wide video", "pinterest", []Media{withSize(mp4(), 2000, 1000)}, "media_aspect"},
		{"a GIF", "bluesky", []Media{withType(jpeg(), gifType)}, "media_type?"},
		{"a large image", "bluesky", []Media{withBytes(jpeg(), 1_000_001)}, "media_too_large?"},
		{"five images and a video", "bluesky", append(slices.Repeat([]Media{jpeg()}, 5), mp4()), "media_mix media_too_many"},
	} {
		rules, _ := DefaultRules(c.platform)
		if got := strings.Join(codes(rules.Check(Content{Text: "Hello", Media: c.media})), " "); got != c.want {
			t.Errorf("%s, %s: %q, want %q", c.platform, c.name, got, c.want)
		}
	}
}

func TestCheckMessages(t *testing.T) {
	for _, c := range []struct {
		platform, text string
		media          Media
		want           string
	}{
		{"threads", "", withBytes(jpeg(), 9_000_000),
			"Image 1 has 9000000 bytes; Threads allows at most 8000000. It will be made smaller."},
		{"instagram", "", withSize(jpeg(), 1080, 1920),
			"Image 1 has 1080 × 1920 pixels; Instagram allows aspect ratios from 4:5 to 1.91:1. Crop it."},
		{"instagram", "", withType(jpeg(), gifType),
			"Image 1 is a GIF; Instagram allows JPEG. It will be converted, and only its first frame is kept."},
		{"tiktok", "", withType(mp4(), "video/x-msvideo"),
			"Video 1 has a file type that TikTok does not support. Use MP4, MOV or WebM."},
		{"pinterest", "", withDuration(3950 * time.Millisecond),
			"Video 1 lasts 3.9 seconds; Pinterest requires at least 4. Use a longer video."},
		{"linkedin", strings.Repeat("a", 3001), jpeg(),
			"Too long for LinkedIn: 3001/3000 characters (most emoji count as 2). Shorten the text."},
		{"instagram", strings.Repeat("#a ", 31), jpeg(), "Too many hashtags for Instagram: 31/30. Remove 1."},
		{"threads", "#one #two", jpeg(), "The text has 2 hashtags; Threads may ignore more than 1."},
	} {
		rules, _ := DefaultRules(c.platform)
		found := rules.Check(Content{Text: c.text, Media: []Media{c.media}})
		if len(found) != 1 || found[0].Message != c.want {
			t.Errorf("%s: %+v, want %q", c.platform, found, c.want)
		}
	}
	rules, _ := DefaultRules("pinterest")
	found := rules.Check(Content{Media: slices.Repeat([]Media{jpeg()}, 6)})
	want := "A post on Pinterest can have one image or 2 to 5; this one has 6 images. Remove 1."
	if len(found) != 1 || found[0].Message != want {
		t.Errorf("six images: %+v", found)
	}
}

func TestDefaultRules(t *testing.T) {
	for _, platform := range platforms {
		rules, ok := DefaultRules(platform)
		if !ok || rules.Title == "" || rules.Text.MaxLength == 0 || rules.Text.Unit.Name == "" || rules.Videos.Max == 0 {
			t.Errorf("%s: %+v", platform, rules)
		}
		if (rules.Text.Unit.Count == nil) != (platform == "x") {
			t.Errorf("%s: only X counts text in its own package", platform)
		}
		for _, mimeType := range slices.Concat(rules.Images.Types, rules.Images.Converted, rules.Videos.Types) {
			if typeNames[mimeType] == "" {
				t.Errorf("%s: no name for %s", platform, mimeType)
			}
		}
	}
	if _, ok := DefaultRules("myspace"); ok || len(defaultRules) != len(platforms) {
		t.Errorf("%d networks have rules, unknown network has rules: %v", len(defaultRules), ok)
	}
}

func TestEntities(t *testing.T) {
	for _, c := range []struct {
		text                      string
		hashtags, mentions, links []string
	}{
		{"#one #zwei_2 ＃три, #नमस्ते!", []string{"one", "zwei_2", "три", "नमस्ते"}, nil, nil},
		{"#1 # #_ #1st a#b ##two (#three)", []string{"1st", "two", "three"}, nil, nil},
		{"@one ＠two a@b.de (@three) @four.five @", nil, []string{"one", "two", "three", "four"}, nil},
		{"See https://a.de/#part?@me, HTTP://b.de.", nil, nil, []string{"https://a.de/#part?@me", "HTTP://b.de"}},
		{"(https://a.de/b) a.de ftp://c.de http:// x", nil, nil, []string{"https://a.de/b"}},
		{"https://a.de/b\u00A0: c https://d.de\u3000e", nil, nil, []string{"https://a.de/b", "https://d.de"}},
		{"見てhttps://a.de/b。はい #日本語", []string{"日本語"}, nil, []string{"https://a.de/b"}},
	} {
		if diff := cmp.Diff([][]string{c.hashtags, c.mentions, c.links},
			[][]string{Hashtags(c.text), Mentions(c.text), Links(c.text)}, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q: %s", c.text, diff)
		}
	}
}

func TestEmojiLen(t *testing.T) {
	for _, emoji := range []string{"😀", "👍🏽", "❤️", "©️", "1️⃣", "#⃣", "🇩🇪", "👩‍👩‍👧‍👦", "🏳️‍🌈", "👩🏿‍🚒", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "☝🏾", "🧑‍🚀"} {
		if got := EmojiLen(emoji + "😀a"); got != len(emoji) {
			t.Errorf("Emoji(%+q) = %d, want %d", emoji, got, len(emoji))
		}
	}
	for _, text := range []string{"", "a", "1", "1️", "©", "❤", "★", "→️", "語", "葛󠄀", "\u200d😀", "\ufe0f", "🇩", "\xff"} {
		if got := EmojiLen(text); got != 0 {
			t.Errorf("Emoji(%+q) = %d", text, got)
		}
	}
}

func TestCheckAnyContent(t *testing.T) {
	media := rapid.Custom(func(t *rapid.T) Media {
		return Media{
			Kind:     rapid.SampledFrom([]string{Image, Video, ""}).Draw(t, "kind"),
			Type:     rapid.SampledFrom([]string{jpegType, gifType, mp4Type, "image/<b>", ""}).Draw(t, "type"),
			Size:     rapid.Int64().Draw(t, "size"),
			Width:    rapid.Int().Draw(t, "width"),
			Height:   rapid.Int().Draw(t, "height"),
			Duration: time.Duration(rapid.Int64().Draw(t, "duration")),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		c := Content{Text: rapid.String().Draw(t, "text"), Media: rapid.SliceOfN(media, 0, 40).Draw(t, "media")}
		rules, _ := DefaultRules(rapid.SampledFrom(platforms).Draw(t, "platform"))
		for _, p := range rules.Check(c) {
			if p.Code == "" || !strings.HasSuffix(p.Message, ".") || strings.Contains(p.Message, "%!") ||
				strings.Contains(p.Message, "<b>") {
				t.Errorf("%+v", p)
			}
		}
	})
}

func TestCountEmojiBytesBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		if got := countEmojiBytes(text); got < utf8.RuneCountInString(text) || got > len(text) {
			t.Errorf("countEmojiBytes(%q) = %d", text, got)
		}
	})
}

func TestEntitiesInText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("aé1_# ＃@＠.:/h\u0301語"))).Draw(t, "text")
		for _, tag := range Hashtags(text) {
			if !strings.Contains(text, "#"+tag) && !strings.Contains(text, "＃"+tag) {
				t.Errorf("Hashtags(%q) has %q", text, tag)
			}
		}
		for _, name := range Mentions(text) {
			if !strings.Contains(text, "@"+name) && !strings.Contains(text, "＠"+name) {
				t.Errorf("Mentions(%q) has %q", text, name)
			}
		}
	})
}
