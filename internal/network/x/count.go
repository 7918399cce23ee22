// Package x publishes to X through its API, version 2, for accounts connected in a browser. It also counts characters
// by X's rules.
//
// Media are uploaded first. A single call without an idempotency key then creates the post. If the response is lost,
// Resolve searches the account's newest posts.
//
// Source: https://docs.x.com/x-api/introduction.
package x

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"pressroom.example/pressroom/internal/network"
)

// The weights of X's published configuration, version 3, in characters.
// Source: https://github.com/twitter/twitter-text/blob/master/config/v3.json.
const (
	linkWeight  = 23 // of a URL, because X replaces it with a short URL
	heavyWeight = 2  // of an emoji, and of every code point outside lightRanges
)

// lightRanges are the ranges of code points with weight 1, each as first and last code point.
var lightRanges = [][2]rune{{0, 4351}, {8192, 8205}, {8208, 8223}, {8242, 8247}}

// Rules returns the limits of a post on X, with Count as the unit of text.
func Rules() network.Rules {
	rules, _ := network.DefaultRules("x")
	rules.Text.Unit.Count = Count
	return rules
}

// Count returns the length of a text in weighted characters. It normalizes the text to NFC and counts each URL as one
// of X's short URLs. Source: https://docs.x.com/fundamentals/counting-characters.
func Count(text string) int {
	text = norm.NFC.String(strings.ToValidUTF8(text, "\uFFFD"))
	links := findLinks(text)
	total := 0
	for at := 0; at < len(text); {
		if len(links) > 0 && links[0].start <= at {
			total += linkWeight
			at, links = links[0].end, links[1:]
			continue
		}
		size, weight := firstUnit(text[at:])
		total += weight
		at += size
	}
	return total
}

// firstUnit returns the length in bytes and the weight of the emoji or the code point at the beginning of rest.
func firstUnit(rest string) (int, int) {
	if size := network.EmojiLen(rest); size > 0 {
		return size, heavyWeight
	}
	r, size := utf8.DecodeRuneInString(rest)
	for _, bounds := range lightRanges {
		if bounds[0] <= r && r <= bounds[1] {
			return size, 1
		}
	}
	return size, heavyWeight
}
