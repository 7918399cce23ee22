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

// Sizes in bytes. If a network's documentation says MB or GB, the limit uses the decimal unit, which is the smaller
// one.
const (
	kilobyte = 1_000
	megabyte = 1_000 * kilobyte
	gigabyte = 1_000 * megabyte
	mebibyte = 1 << 20
)

// DefaultRules returns a network's current limits. It reports false if the platform is unknown. X's unit has no Count
// function; package x adds it.
func DefaultRules(platform string) (Rules, bool) {
	rules, ok := defaultRules[platform]
	if !ok {
		return Rules{}, false
	}
	return rules(), true
}

var defaultRules = map[string]func() Rules{
	"instagram": instagramRules, "facebook": facebookRules, "threads": threadsRules, "tiktok": tiktokRules, "youtube": youtubeRules,
	"linkedin": linkedinRules, "x": xRules, "pinterest": pinterestRules, "bluesky": blueskyRules,
}

// instagramRules returns the limits of Meta's Instagram Platform, unless noted otherwise.
//
// Source: https://developers.facebook.com/docs/instagram-platform/content-publishing
func instagramRules() Rules {
	return Rules{
		Title:        "Instagram",
		Text:         Text{Unit: utf16Units, MaxLength: 2200}, // the unit is unconfirmed; UTF-16 is the strictest
		FirstComment: Text{Unit: utf16Units, MaxLength: 2200}, // unconfirmed, as for captions
		Hashtags:     Count{Limit: 30, SoftLimit: 5},          // 5 is from third parties; see instagram.Check
		Mentions:     Count{Limit: 20},                        // unconfirmed, from third-party documentation
		Media:        MediaLimits{Required: true, Max: 10, AllowMixed: true},
		Images: Images{
			Max: 10, Carousel: Range{2, 10},
			Types: []string{jpegType}, Converted: []string{pngType, webpType, gifType},
			MaxBytes:     8 * mebibyte, // the network scales images wider than 1440 pixels
			AspectRatios: AspectRange{Tallest: Aspect{4, 5}, Widest: Aspect{1.91, 1}},
		},
		Videos: Videos{ // a single video is a reel
			Max: 10, Types: []string{mp4Type, quickTimeType},
			MaxBytes:    300 * megabyte, // some of the network's pages say 1 GB
			MinDuration: Duration(3 * time.Second), MaxDuration: Duration(15 * time.Minute),
			AspectRatios: AspectRange{Tallest: Aspect{1, 100}, Widest: Aspect{10, 1}},
		},
		Stories: Videos{
			Max: 1, Types: []string{mp4Type, quickTimeType}, MaxBytes: 100 * megabyte,
			MinDuration: Duration(3 * time.Second), MaxDuration: Duration(time.Minute),
			AspectRatios: AspectRange{Tallest: Aspect{1, 10}, Widest: Aspect{10, 1}},
		},
	}
}

// facebookRules returns the limits of Meta's Pages API and Video API.
//
// Sources: https://developers.facebook.com/docs/pages-api/posts,
// https://developers.facebook.com/docs/video-api/guides/publishing
func facebookRules() Rules {
	return Rules{
		Title:        "Facebook",
		Text:         Text{Unit: utf16Units, MaxLength: 63_206}, // the unit is unconfirmed
		PostTitle:    Text{Unit: codePoints, MaxLength: 255},    // of a video
		FirstComment: Text{Unit: utf16Units, MaxLength: 8000},   // unconfirmed, from third-party documentation
		Media:        MediaLimits{Max: 10},
		Images: Images{
			Max: 10, // the recommended maximum
			// TIFF is allowed too, but the media library does not store it.
			Types: []string{jpegType, pngType, gifType}, Converted: []string{webpType},
			MaxBytes: 4 * megabyte, // error 1366046
		},
		Videos: Videos{Max: 1, Types: []string{mp4Type, quickTimeType}, MaxBytes: 10 * gigabyte}, // unconfirmed
		// https://developers.facebook.com/docs/page-stories-api
		Stories: Videos{
			Max: 1, Types: []string{mp4Type, quickTimeType}, MaxBytes: 10 * gigabyte, MinSide: 540,
			MinDuration: Duration(3 * time.Second), MaxDuration: Duration(time.Minute),
		},
	}
}

// threadsRules returns the limits of Meta's Threads API.
//
// Source: https://developers.facebook.com/docs/threads/overview
func threadsRules() Rules {
	return Rules{
		Title: "Threads",
		// The way emoji are counted is unconfirmed; it comes from third-party documentation.
		Text:     Text{Unit: emojiUnits, MaxLength: 500},
		Hashtags: Count{SoftLimit: 1}, // a post has one topic tag
		Links:    Count{Limit: 5},     // THREADS_API__LINK_LIMIT_EXCEEDED, since December 2025
		Media:    MediaLimits{Max: 20, AllowMixed: true},
		Thread:   true,
		Images: Images{
			Max: 20, Carousel: Range{2, 20},
			Types: []string{jpegType, pngType}, Converted: []string{webpType, gifType},
			MaxBytes: 8 * megabyte, MaxSide: 1440,
			AspectRatios: AspectRange{Tallest: Aspect{1, 10}, Widest: Aspect{10, 1}},
		},
		Videos: Videos{
			Max: 20, Types: []string{mp4Type, quickTimeType}, MaxBytes: gigabyte,
			MaxDuration: Duration(5 * time.Minute),
		},
	}
}

// tiktokRules returns the limits of TikTok's Content Posting API.
//
// Source: https://developers.tiktok.com/doc/content-posting-api-media-transfer-guide
func tiktokRules() Rules {
	return Rules{
		Title: "TikTok",
		Text:  Text{Unit: utf16Units, MaxLength: 2200, WithImages: 4000},
		// of a video's title and of photos' description; photos also have a title
		PostTitle: Text{Unit: utf16Units, MaxLength: 90},
		Media:     MediaLimits{Required: true, Max: 35},
		Images: Images{
			Max: 35, Types: []string{jpegType, webpType}, Converted: []string{pngType, gifType},
			MaxBytes: 20 * megabyte, MaxSide: 1920, // "1080p", read as 1080 by 1920
		},
		Videos: Videos{
			Max: 1, Types: []string{mp4Type, quickTimeType, webmType}, MaxBytes: 4 * gigabyte,
			// An account may have a lower limit; see creator_info.
			MinDuration: Duration(3 * time.Second), MaxDuration: Duration(10 * time.Minute),
			MinSide: 360, MaxSide: 4096,
		},
	}
}

// youtubeRules returns the limits of the YouTube Data API and of YouTube's help pages. The title is not part of
// the text.
//
// Source: https://developers.google.com/youtube/v3/docs/videos
func youtubeRules() Rules {
	return Rules{
		Title: "YouTube",
		// the API counts the description in bytes
		Text:      Text{Unit: codePoints, MaxLength: 5000, MaxBytes: 5000, Forbidden: "<>"},
		PostTitle: Text{Unit: codePoints, MaxLength: 100, Forbidden: "<>"},
		Hashtags:  Count{SoftLimit: 60}, // with more, all are ignored; unconfirmed, from third-party documentation
		Media:     MediaLimits{Required: true, Max: 1},
		Videos: Videos{
			Max: 1, Types: []string{mp4Type, quickTimeType}, // the media library stores no other types
			MaxBytes: 256 * gigabyte, MaxDuration: Duration(12 * time.Hour), // 15 minutes for unverified channels
		},
	}
}

// linkedinRules returns the limits of LinkedIn's Posts, MultiImage, Images and Videos APIs.
//
// Source: https://learn.microsoft.com/linkedin/marketing/community-management/shares/posts-api
func linkedinRules() Rules {
	return Rules{
		Title:        "LinkedIn",
		Text:         Text{Unit: utf16Units, MaxLength: 3000}, // the unit is unconfirmed
		PostTitle:    Text{Unit: codePoints, MaxLength: 400},  // of an article; unconfirmed, from third-party documentation
		FirstComment: Text{Unit: utf16Units, MaxLength: 1250}, // unconfirmed, from third-party documentation
		Media:        MediaLimits{Max: 20},
		Images: Images{
			Max: 20, Carousel: Range{2, 20},
			Types: []string{jpegType, pngType, gifType}, Converted: []string{webpType},
			MaxBytes: 5 * megabyte, // the recommended maximum
			MaxSide:  6012,         // the limit is 36,152,320 pixels; a square of this side has fewer
		},
		Videos: Videos{
			// Newer pages say that the maximum is 5 GB.
			Max: 1, Types: []string{mp4Type}, MinBytes: 75 * kilobyte, MaxBytes: 500 * megabyte,
			MinDuration: Duration(3 * time.Second), MaxDuration: Duration(30 * time.Minute),
			AspectRatios: AspectRange{Tallest: Aspect{1, 2.4}, Widest: Aspect{2.4, 1}},
		},
	}
}

// xRules returns the limits of X's API and of version 3 of the twitter-text configuration.
//
// Sources: https://docs.x.com/x-api/media/quickstart/best-practices, https://github.com/twitter/twitter-text
func xRules() Rules {
	return Rules{
		Title: "X",
		// Characters are counted as in twitter-text.
		Text:     Text{Unit: Unit{Name: "weighted characters"}, MaxLength: 280, Forbidden: "\uFFFE\uFEFF\uFFFF"},
		Cashtags: Count{Limit: 1}, // unconfirmed, from third-party implementations
		Media:    MediaLimits{Max: 4},
		Thread:   true,
		Images: Images{
			Max: 4, Types: []string{jpegType, pngType, webpType}, MaxBytes: 5 * megabyte,
			Single: SingleImage{Type: gifType, MaxBytes: 15 * megabyte, MaxSide: 1280},
		},
		Videos: Videos{
			Max: 1, Types: []string{mp4Type, quickTimeType}, MaxBytes: 512 * megabyte,
			MinDuration: Duration(500 * time.Millisecond), MaxDuration: Duration(140 * time.Second),
			// X accepts more than the documented 1280 by 1024 pixels, so MaxSide is not set.
			MinSide:      32,
			AspectRatios: AspectRange{Tallest: Aspect{1, 3}, Widest: Aspect{3, 1}},
		},
	}
}

// pinterestRules returns the limits of Pinterest's API, version 5. The limits for files are unconfirmed and come from
// Pinterest's help pages. The title is not part of the text.
//
// Source: https://developers.pinterest.com/docs/api/v5/pins-create
func pinterestRules() Rules {
	return Rules{
		Title:     "Pinterest",
		PostTitle: Text{Unit: codePoints, MaxLength: 100},
		Text:      Text{Unit: codePoints, MaxLength: 800}, // pins created on Pinterest's website are limited to 500
		Media:     MediaLimits{Required: true, Max: 5},
		Images: Images{
			Max: 5, Carousel: Range{2, 5},
			// BMP and TIFF are allowed too, but the media library does not store them.
			Types: []string{jpegType, pngType, webpType, gifType}, MaxBytes: 20 * megabyte,
		},
		Videos: Videos{
			Max: 1, Types: []string{mp4Type, quickTimeType}, MaxBytes: 2 * gigabyte,
			MinDuration: Duration(4 * time.Second), MaxDuration: Duration(15 * time.Minute),
			AspectRatios: AspectRange{Tallest: Aspect{1, 2}, Widest: Aspect{1.91, 1}},
		},
	}
}

// blueskyRules returns the limits of the lexicons app.bsky.feed.post, app.bsky.embed.images and app.bsky.embed.video.
// Older servers have lower limits and reject larger videos. The maximum duration is the video service's limit.
//
// Source: https://github.com/bluesky-social/atproto/tree/main/lexicons/app/bsky
func blueskyRules() Rules {
	return Rules{
		Title:  "Bluesky",
		Text:   Text{Unit: graphemes, MaxLength: 300, MaxBytes: 3000},
		Media:  MediaLimits{Max: 4},
		Thread: true,
		Images: Images{
			Max: 4, Types: []string{jpegType, pngType, webpType}, Converted: []string{gifType},
			// Newer lexicons allow 2,000,000 bytes. The network's own client uses these lower values.
			MaxBytes: 976 * kilobyte, MaxSide: 2000,
		},
		Videos: Videos{Max: 1, Types: []string{mp4Type}, MaxBytes: 300 * megabyte, MaxDuration: Duration(10 * time.Minute)},
	}
}

// The units in which networks count text. A person sees one character where UTF-16 needs several code units: two for
// most emoji, and more for combined emoji.
var (
	graphemes  = Unit{"characters", uniseg.GraphemeClusterCount}
	codePoints = Unit{"characters", utf8.RuneCountInString}
	utf16Units = Unit{"characters (most emoji count as 2)", func(text string) int {
		return len(utf16.Encode([]rune(text)))
	}}
	emojiUnits = Unit{"characters (emoji count in bytes)", countEmojiBytes}
)

// countEmojiBytes returns the number of code points in text, but counts each emoji as its length in UTF-8 bytes.
func countEmojiBytes(text string) int {
	count := 0
	for len(text) > 0 {
		size := EmojiLen(text)
		if count += size; size == 0 {
			_, size = utf8.DecodeRuneInString(text)
			count++
		}
		text = text[size:]
	}
	return count
}

const (
	emojiSelector = '\uFE0F' // variation selector 16, which shows the preceding character as an emoji
	keycap        = '\u20E3'
	joiner        = '\u200D'
	knownEmoji    = "\U0001F600" // an emoji in every Unicode version
)

// EmojiLen returns the length in bytes of the emoji sequence at the start of a text, or 0 if the text does not start
// with an emoji. The sequences are keycaps, flags, tags, skin tones and joined emoji (UTS #51). A character that needs
// a variation selector to be an emoji must have one. The result does not depend on whether fonts support the sequence.
func EmojiLen(text string) int {
	first, size := utf8.DecodeRuneInString(text)
	second, secondSize := utf8.DecodeRuneInString(text[size:])
	switch {
	case first < 0xA9:
		return keycapLen(text)
	case isFlagLetter(first) && isFlagLetter(second):
		return size + secondSize
	}
	end := emojiCharLen(text)
	for end > 0 {
		r, size := utf8.DecodeRuneInString(text[end:])
		if r >= 0xE0020 && r <= 0xE007F { // tags, used by the flags of England, Scotland and Wales
			end += size
			continue
		}
		joinedLen := 0
		if r == joiner {
			joinedLen = emojiCharLen(text[end+size:])
		}
		if joinedLen == 0 {
			break
		}
		end += size + joinedLen
	}
	return end
}

func isFlagLetter(r rune) bool { return r >= 0x1F1E6 && r <= 0x1F1FF }

func keycapLen(text string) int {
	for _, end := range []string{string(emojiSelector) + string(keycap), string(keycap)} {
		if len(text) > len(end) && (text[0] >= '0' && text[0] <= '9' || text[0] == '#' || text[0] == '*') &&
			text[1:1+len(end)] == end {
			return 1 + len(end)
		}
	}
	return 0
}

// emojiCharLen returns the length in bytes of one character that is shown as an emoji, including its selector or skin
// tone.
func emojiCharLen(text string) int {
	r, size := utf8.DecodeRuneInString(text)
	if !isPictograph(r) {
		return 0
	}
	second, secondSize := utf8.DecodeRuneInString(text[size:])
	isEmojiByDefault := uniseg.StringWidth(text[:size]) == 2
	switch {
	case second >= 0x1F3FB && second <= 0x1F3FF, second == emojiSelector && !isEmojiByDefault:
		return size + secondSize
	case isEmojiByDefault:
		return size
	}
	return 0
}

// isPictograph reports whether the character is Extended_Pictographic (UTS #51). Package uniseg does not export this
// property. However, it joins characters that have the property to an emoji.
func isPictograph(r rune) bool {
	if r < 0xA9 || r > 0xAE && r < 0x2000 || unicode.In(r, unicode.M, unicode.Cf, unicode.Sk, unicode.L) {
		return false
	}
	return uniseg.GraphemeClusterCount(knownEmoji+string(joiner)+string(r)) == 1
}
