package compose

import (
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"pressroom/internal/domain/post"
	"pressroom/internal/network"
)

// foldAt is about how many characters of a text a network's feed shows before "more", according to unofficial
// sources.
var foldAt = map[string]int{"instagram": 125, "facebook": 477, "linkedin": 210, "tiktok": 100, "youtube": 150}

// titleLimits holds the networks that use the text's first line as title, with its maximum length in characters.
var titleLimits = map[string]int{"youtube": 100, "pinterest": 100}

// mediaFirst are the networks that show media above the text.
var mediaFirst = map[string]bool{"instagram": true, "tiktok": true, "youtube": true, "pinterest": true}

// grids are the networks that show several images at once; others show one after another.
var grids = map[string]bool{"x": true, "bluesky": true, "facebook": true, "linkedin": true}

func cardOf(o post.AccountCheck) card {
	platform := o.Target.Platform
	c := card{AccountCheck: o, Before: mediaFirst[platform], Shown: o.Content.Text}
	if most := titleLimits[platform]; most > 0 {
		first, _, _ := strings.Cut(strings.TrimSpace(o.Content.Text), "\n")
		c.Title = network.Clip(strings.Join(strings.Fields(first), " "), most)
	}
	if most := foldAt[platform]; most > 0 {
		c.Shown, c.Folded = splitAt(o.Content.Text, most)
	}
	switch {
	case len(o.Content.Media) < 2:
	case grids[platform]:
		c.Form = "grid"
	default:
		c.Form = "row"
	}
	return c
}

// splitAt splits a text after most characters, between two words if possible.
func splitAt(text string, most int) (string, string) {
	if utf8.RuneCountInString(text) <= most {
		return text, ""
	}
	end, count := 0, 0
	graphemes := uniseg.NewGraphemes(text)
	for count < most && graphemes.Next() {
		_, end = graphemes.Positions()
		count++
	}
	if end == len(text) {
		return text, ""
	}
	if space := strings.LastIndexAny(text[:end], " \n"); space > end*3/4 {
		end = space
	}
	return text[:end], text[end:]
}

// part is a piece of a text. Lifted is true for pieces that networks highlight.
type part struct {
	Text   string
	Lifted bool
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
