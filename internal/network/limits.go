package network

import (
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

const (
	jpegType      = "image/jpeg"
	pngType       = "image/png"
	webpType      = "image/webp"
	gifType       = "image/gif"
	mp4Type       = "video/mp4"
	quickTimeType = "video/quicktime"
	webmType      = "video/webm"
)

// Bytes; where a network writes MB or GB the smaller, decimal reading is meant, so that neither is passed.
const (
	kilobyte = 1_000
	megabyte = 1_000 * kilobyte
	gigabyte = 1_000 * megabyte
	mebibyte = 1 << 20
)

// Today is what a network takes today, by its name in the contract; false for a name that is none. X counts by
// rules of its own, so its unit has no Count here: package x adds it.
func Today(platform string) (Rules, bool) {
	rules, ok := today[platform]
	if !ok {
		return Rules{}, false
	}
	return rules(), true
}

var today = map[string]func() Rules{
	"instagram": instagram, "facebook": facebook, "threads": threads, "tiktok": tiktok, "youtube": youtube,
	"linkedin": linkedin, "x": twitter, "pinterest": pinterest, "bluesky": bluesky,
}

// instagram: Meta's Instagram Platform, Content Publishing, where not said otherwise.
func instagram() Rules {
	return Rules{
		Title:    "Instagram",
		Text:     Text{Unit: utf16Units, Longest: 2200}, // the unit is not confirmed; this one counts most
		Hashtags: Count{Most: 30, Warn: 5},              // 5 is what others' documentation of 2026 says, not confirmed
		Mentions: Count{Most: 20},                       // others' documentation, not confirmed
		Media:    Amount{Needed: true, Most: 10, Mixed: true},
		Images: Images{
			Most: 10, Carousel: Range{2, 10},
			Types: []string{jpegType}, Converted: []string{pngType, webpType, gifType},
			MaxBytes: 8 * mebibyte, // wider ones than 1440 pixels are scaled by the network
			Shapes:   Shapes{Tallest: Aspect{4, 5}, Widest: Aspect{1.91, 1}},
		},
		Videos: Videos{ // a video by itself is a reel
			Most: 10, Types: []string{mp4Type, quickTimeType},
			MaxBytes: 300 * megabyte, // some of the network's pages say 1 GB
			Shortest: Span(3 * time.Second), Longest: Span(15 * time.Minute),
			Shapes: Shapes{Tallest: Aspect{1, 100}, Widest: Aspect{10, 1}},
		},
	}
}

// facebook: Meta's Pages API and Video API.
func facebook() Rules {
	return Rules{
		Title: "Facebook",
		Text:  Text{Unit: utf16Units, Longest: 63_206}, // the unit is not confirmed
		Media: Amount{Most: 10},
		Images: Images{
			Most: 10, // what the network advises
			// TIFF is taken too, but never comes out of the library.
			Types: []string{jpegType, pngType, gifType}, Converted: []string{webpType},
			MaxBytes: 4 * megabyte, // error 1366046
		},
		Videos: Videos{Most: 1, Types: []string{mp4Type, quickTimeType}, MaxBytes: 10 * gigabyte}, // not confirmed
	}
}

// threads: Meta's Threads API.
func threads() Rules {
	return Rules{
		Title: "Threads",
		// the way of counting emoji: others' documentation, not confirmed
		Text:     Text{Unit: emojiUnits, Longest: 500},
		Hashtags: Count{Warn: 1}, // a post has one topic tag
		Links:    Count{Most: 5}, // THREADS_API__LINK_LIMIT_EXCEEDED, since December 2025
		Media:    Amount{Most: 20, Mixed: true},
		Images: Images{
			Most: 20, Carousel: Range{2, 20},
			Types: []string{jpegType, pngType}, Converted: []string{webpType, gifType},
			MaxBytes: 8 * megabyte, MaxSide: 1440,
			Shapes: Shapes{Tallest: Aspect{1, 10}, Widest: Aspect{10, 1}},
		},
		Videos: Videos{
			Most: 20, Types: []string{mp4Type, quickTimeType}, MaxBytes: gigabyte, Longest: Span(5 * time.Minute),
		},
	}
}

// tiktok: TikTok's Content Posting API and its Media Transfer Guide.
func tiktok() Rules {
	return Rules{
		Title: "TikTok",
		Text:  Text{Unit: utf16Units, Longest: 2200, WithImages: 4000}, // a video's title; the description of photos
		Media: Amount{Needed: true, Most: 35},
		Images: Images{
			Most: 35, Types: []string{jpegType, webpType}, Converted: []string{pngType, gifType},
			MaxBytes: 20 * megabyte, MaxSide: 1920, // "1080p", read as 1080 by 1920
		},
		Videos: Videos{
			Most: 1, Types: []string{mp4Type, quickTimeType, webmType}, MaxBytes: 4 * gigabyte,
			// an account may have less, as creator_info says
			Shortest: Span(3 * time.Second), Longest: Span(10 * time.Minute),
			MinSide: 360, MaxSide: 4096,
		},
	}
}

// youtube: the YouTube Data API, videos.insert, and YouTube's help pages. The title, of 100 characters, is no part of
// the text.
func youtube() Rules {
	return Rules{
		Title: "YouTube",
		// the API counts the description in bytes
		Text:     Text{Unit: codePoints, Longest: 5000, MaxBytes: 5000, Forbidden: "<>"},
		Hashtags: Count{Warn: 60}, // above it all are ignored: others' documentation, not confirmed
		Media:    Amount{Needed: true, Most: 1},
		Videos: Videos{
			Most: 1, Types: []string{mp4Type, quickTimeType}, // and many more, which never come out of the library
			MaxBytes: 256 * gigabyte, Longest: Span(12 * time.Hour), // 15 minutes for channels that are not verified
		},
	}
}

// linkedin: LinkedIn's Posts, MultiImage, Images and Videos APIs.
func linkedin() Rules {
	return Rules{
		Title: "LinkedIn",
		Text:  Text{Unit: utf16Units, Longest: 3000}, // the unit is not confirmed
		Media: Amount{Most: 20},
		Images: Images{
			Most: 20, Carousel: Range{2, 20},
			Types: []string{jpegType, pngType, gifType}, Converted: []string{webpType},
			MaxBytes: 5 * megabyte, // what the network advises
			MaxSide:  6012,         // the network takes 36,152,320 pixels in all; a square of this side has fewer
		},
		Videos: Videos{
			// newer text says 5 GB
			Most: 1, Types: []string{mp4Type}, MinBytes: 75 * kilobyte, MaxBytes: 500 * megabyte,
			Shortest: Span(3 * time.Second), Longest: Span(30 * time.Minute),
			Shapes: Shapes{Tallest: Aspect{1, 2.4}, Widest: Aspect{2.4, 1}},
		},
	}
}

// twitter is X: its API's Media Best Practices and the configuration of twitter-text, version 3.
func twitter() Rules {
	return Rules{
		Title: "X",
		// as the published counting rules have it
		Text:     Text{Unit: Unit{Name: "weighted characters"}, Longest: 280, Forbidden: "\uFFFE\uFEFF\uFFFF"},
		Cashtags: Count{Most: 1}, // seen in others' implementations
		Media:    Amount{Most: 4},
		Images: Images{
			Most: 4, Types: []string{jpegType, pngType, webpType}, MaxBytes: 5 * megabyte,
			Alone: Alone{Type: gifType, MaxBytes: 15 * megabyte, MaxSide: 1280},
		},
		Videos: Videos{
			Most: 1, Types: []string{mp4Type, quickTimeType}, MaxBytes: 512 * megabyte,
			Shortest: Span(500 * time.Millisecond), Longest: Span(140 * time.Second),
			// the docs' largest, 1280 by 1024, is smaller than what X takes in fact: not confirmed, so not checked
			MinSide: 32,
			Shapes:  Shapes{Tallest: Aspect{1, 3}, Widest: Aspect{3, 1}},
		},
	}
}

// pinterest: Pinterest's OpenAPI description, version 5, for the text and the number of images; its help pages for
// the files, not confirmed. The title, of 100 characters, is no part of the text.
func pinterest() Rules {
	return Rules{
		Title: "Pinterest",
		Text:  Text{Unit: codePoints, Longest: 800}, // its own pages keep to 500
		Media: Amount{Needed: true, Most: 5},
		Images: Images{
			Most: 5, Carousel: Range{2, 5},
			// BMP and TIFF are taken too, but never come out of the library.
			Types: []string{jpegType, pngType, webpType, gifType}, MaxBytes: 20 * megabyte,
		},
		Videos: Videos{
			Most: 1, Types: []string{mp4Type, quickTimeType}, MaxBytes: 2 * gigabyte,
			Shortest: Span(4 * time.Second), Longest: Span(15 * time.Minute),
			Shapes: Shapes{Tallest: Aspect{1, 2}, Widest: Aspect{1.91, 1}},
		},
	}
}

// bluesky: the lexicons app.bsky.feed.post, app.bsky.embed.images and app.bsky.embed.video. Newer ones take larger
// images and videos, but an account's own server may be older.
func bluesky() Rules {
	return Rules{
		Title: "Bluesky",
		Text:  Text{Unit: graphemes, Longest: 300, MaxBytes: 3000},
		Media: Amount{Most: 4},
		Images: Images{
			Most: 4, Types: []string{jpegType, pngType, webpType}, Converted: []string{gifType},
			// Newer lexicons take 2,000,000 bytes, but an account's own server may be older. The network's own client
			// stays a little below, and has no side longer than this.
			MaxBytes: 976 * kilobyte, MaxSide: 2000,
		},
		Videos: Videos{Most: 1, Types: []string{mp4Type}, MaxBytes: 100 * megabyte, Longest: Span(3 * time.Minute)},
	}
}

// The units that networks count a text in. What is called "characters, most emoji as two" are the code units of
// UTF-16: most emoji are two of them, and those put together of several are more.
var (
	graphemes  = Unit{"characters", uniseg.GraphemeClusterCount}
	codePoints = Unit{"characters", utf8.RuneCountInString}
	utf16Units = Unit{"characters, most emoji as two", func(text string) int { return len(utf16.Encode([]rune(text))) }}
	emojiUnits = Unit{"characters, an emoji as its bytes", countEmojiBytes}
)

// countEmojiBytes counts code points, and of an emoji the bytes of its UTF-8.
func countEmojiBytes(text string) int {
	count := 0
	for len(text) > 0 {
		size := Emoji(text)
		if count += size; size == 0 {
			_, size = utf8.DecodeRuneInString(text)
			count++
		}
		text = text[size:]
	}
	return count
}

const (
	asEmoji = '\uFE0F' // variation selector 16: draw the character before as an emoji
	keycap  = '\u20E3'
	joiner  = '\u200D'
	smile   = "\U0001F600" // an emoji that all know
)

// Emoji is the length in bytes of the emoji that a text begins with, with all that belongs to it (UTS 51: keycaps,
// flags, tags, skin tones and what is joined); 0 where it begins with none. What is an emoji only by a variation
// selector has to have it. It does not tell whether anybody draws that sequence.
func Emoji(text string) int {
	first, size := utf8.DecodeRuneInString(text)
	second, more := utf8.DecodeRuneInString(text[size:])
	switch {
	case first < 0xA9:
		return keycapped(text)
	case flagLetter(first) && flagLetter(second):
		return size + more
	}
	end := drawn(text)
	for end > 0 {
		r, size := utf8.DecodeRuneInString(text[end:])
		if r >= 0xE0020 && r <= 0xE007F { // tags, as of the flags of England, Scotland and Wales
			end += size
			continue
		}
		joined := 0
		if r == joiner {
			joined = drawn(text[end+size:])
		}
		if joined == 0 {
			break
		}
		end += size + joined
	}
	return end
}

func flagLetter(r rune) bool { return r >= 0x1F1E6 && r <= 0x1F1FF }

func keycapped(text string) int {
	for _, end := range []string{string(asEmoji) + string(keycap), string(keycap)} {
		if len(text) > len(end) && (text[0] >= '0' && text[0] <= '9' || text[0] == '#' || text[0] == '*') &&
			text[1:1+len(end)] == end {
			return 1 + len(end)
		}
	}
	return 0
}

// drawn is the length in bytes of one character that is drawn as an emoji, with the selector or the skin tone behind
// it.
func drawn(text string) int {
	r, size := utf8.DecodeRuneInString(text)
	if !pictograph(r) {
		return 0
	}
	second, more := utf8.DecodeRuneInString(text[size:])
	byItself := uniseg.StringWidth(text[:size]) == 2
	switch {
	case second >= 0x1F3FB && second <= 0x1F3FF, second == asEmoji && !byItself:
		return size + more
	case byItself:
		return size
	}
	return 0
}

// pictograph tells Unicode's Extended_Pictographic, of which uniseg shows only this: nothing else is kept together
// with an emoji by a joiner, but for what is kept together with anything.
func pictograph(r rune) bool {
	if r < 0xA9 || r > 0xAE && r < 0x2000 || unicode.In(r, unicode.M, unicode.Cf, unicode.Sk, unicode.L) {
		return false
	}
	return uniseg.GraphemeClusterCount(smile+string(joiner)+string(r)) == 1
}
