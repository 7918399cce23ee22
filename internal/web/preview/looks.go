package preview

import (
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"pressroom.example/pressroom/internal/network"
)

// The conditions for a network to show a card for the first link in a text.
const (
	never = iota
	withoutMedia
	always // even with media, because the post itself is a link
)

// feedLayout describes how a network shows posts.
type feedLayout struct {
	// The approximate number of characters or lines after which the feed cuts a text; 0 means never.
	chars, lines int
	title        int // maximum characters of the first line as title; 0 for networks without titles
	card         int // one of never, withoutMedia and always
}

// looks maps each network to its feed layout. docs/app.md explains the limits and names their sources.
var looks = map[string]feedLayout{
	"instagram": {chars: 125, lines: 3},
	"facebook":  {chars: 477, lines: 5, card: withoutMedia},
	"threads":   {card: withoutMedia},
	"x":         {card: withoutMedia},
	"bluesky":   {},
	"linkedin":  {chars: 210, lines: 3},
	"tiktok":    {chars: 100, lines: 2},
	"youtube":   {chars: 150, lines: 3, title: 100},
	"pinterest": {title: 100, card: always},
}

func titleOf(text string, limit int) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return network.Clip(strings.Join(strings.Fields(first), " "), limit)
}

// splitPreview splits a text after a number of lines or characters, whichever comes first. It splits between words if
// possible.
func splitPreview(text string, chars, lines int) (string, string) {
	end := cutLines(text, lines)
	if shown := splitAt(text[:end], chars); shown < end {
		end = shown
	}
	return text[:end], text[end:]
}

// cutLines returns the length in bytes of the first limit lines of a text. If only blank lines follow, it includes
// them.
func cutLines(text string, limit int) int {
	end := 0
	for range limit {
		next := strings.IndexByte(text[end:], '\n')
		if next < 0 {
			return len(text)
		}
		end += next + 1
	}
	if strings.TrimSpace(text[end:]) == "" {
		return len(text)
	}
	return end - 1
}

// splitAt returns the length in bytes of the first limit characters of a text. If a space is
// shortly before the limit, the length ends there.
func splitAt(text string, limit int) int {
	if utf8.RuneCountInString(text) <= limit {
		return len(text)
	}
	end, count := 0, 0
	graphemes := uniseg.NewGraphemes(text)
	for count < limit && graphemes.Next() {
		_, end = graphemes.Positions()
		count++
	}
	if end == len(text) {
		return end
	}
	if space := strings.LastIndexAny(text[:end], " \n"); space > end*3/4 {
		end = space
	}
	return end
}

// part is a piece of a text. Highlighted is set if networks highlight it.
type part struct {
	Text        string
	Highlighted bool
}

// lines returns the lines of a text, each split into parts.
func lines(text string) [][]part {
	var out [][]part
	for line := range strings.SplitSeq(text, "\n") {
		out = append(out, parts(line))
	}
	return out
}

// parts splits a line at hashtags, mentions and URLs, which networks highlight.
func parts(line string) []part {
	out := []part{}
	add := func(text string, lifted bool) {
		if text != "" {
			out = append(out, part{text, lifted})
		}
	}
	for line != "" {
		word := strings.IndexFunc(line, func(r rune) bool { return r == ' ' || r == '\t' })
		if word == 0 {
			word = 1
		}
		if word < 0 {
			word = len(line)
		}
		text := line[:word]
		add(text, len(network.Hashtags(text))+len(network.Mentions(text))+len(network.Links(text)) > 0)
		line = line[word:]
	}
	return out
}
