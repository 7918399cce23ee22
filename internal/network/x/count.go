// Package x publishes to X by its API, version 2, for accounts that are connected in a browser, and holds how X counts
// a text.
//
// Media are uploaded first, which shows nothing; one call then shows the post. That call cannot be made repeatable, so
// where its answer is lost the account's newest posts are looked through.
package x

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"pressroom/internal/network"
)

// The weights of X's published configuration, version 3 (twitter-text, config/v3.json), in whole characters.
const (
	linkWeight  = 23 // of every address, as X puts its own short one in its place
	heavyWeight = 2  // of an emoji in all, and of every code point that is not light
)

// light are the code points that weigh 1, from the first to the last.
var light = [][2]rune{{0, 4351}, {8192, 8205}, {8208, 8223}, {8242, 8247}}

// Rules are what a post on X takes today.
func Rules() network.Rules {
	rules, _ := network.Today("x")
	rules.Text.Unit.Count = Count
	return rules
}

// Count is the length of a text by X's rules: of its NFC, by weight.
func Count(text string) int {
	text = norm.NFC.String(strings.ToValidUTF8(text, "\uFFFD"))
	found := links(text)
	total := 0
	for at := 0; at < len(text); {
		if len(found) > 0 && found[0].start <= at {
			total += linkWeight
			at, found = found[0].end, found[1:]
			continue
		}
		size, weight := next(text[at:])
		total += weight
		at += size
	}
	return total
}

// next is the length in bytes, and the weight, of the emoji or the code point that rest begins with.
func next(rest string) (int, int) {
	if size := network.Emoji(rest); size > 0 {
		return size, heavyWeight
	}
	r, size := utf8.DecodeRuneInString(rest)
	for _, from := range light {
		if from[0] <= r && r <= from[1] {
			return size, 1
		}
	}
	return size, heavyWeight
}
