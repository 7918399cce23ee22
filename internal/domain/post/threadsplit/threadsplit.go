// Package threadsplit splits a long text into the parts of a thread.
package threadsplit

import (
	"errors"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"pressroom.example/pressroom/internal/network"
)

// Reasons why a text cannot be split.
var (
	// ErrTooMany means that the text needs more parts than allowed.
	ErrTooMany = errors.New("the text needs too many parts")
	// ErrTooLong means that a link is longer than a part.
	ErrTooLong = errors.New("a link is longer than a part")
)

// Split splits a text into parts that all fit. It returns ErrTooMany if the text needs more than most parts. It splits
// at the last possible end of a sentence, or at white space if a sentence does not fit, or within a word if a word does
// not fit. It never splits links or grapheme clusters, such as combined emoji. It removes only the white space at both
// ends of each part.
func Split(text string, fits func(string) bool, most int) ([]string, error) {
	var parts []string
	for rest := newText(strings.TrimSpace(text)); rest.text != ""; {
		if len(parts) == most {
			return nil, ErrTooMany
		}
		end := rest.split(fits)
		if end == 0 {
			return nil, ErrTooLong
		}
		parts = append(parts, strings.TrimSpace(rest.text[:end]))
		rest = rest.from(end)
	}
	return parts, nil
}

// A level rates how well a text can be split at a place. A greater level is better.
type level int

const (
	never level = iota
	atCharacter
	atLine // where lines may break, such as after a hyphen or between two Chinese characters
	atSpace
	atSentence
)

// splitText is a text and the level of each place in it. The places are offsets in bytes.
type splitText struct {
	text   string
	levels []level // of the places from 1 to len(text)
}

func newText(text string) splitText {
	t := splitText{text, make([]level, len(text)+1)}
	for characters := uniseg.NewGraphemes(text); characters.Next(); {
		_, end := characters.Positions()
		t.levels[end] = atCharacter
	}
	t.raise(atLine, func(rest string, state int) (string, string, int) {
		first, rest, _, state := uniseg.FirstLineSegmentInString(rest, state)
		return first, rest, state
	})
	t.raiseSpaces()
	t.raiseSentences()
	for _, link := range links(text) {
		for at := link[0] + 1; at < link[1]; at++ {
			t.levels[at] = never
		}
	}
	if text != "" {
		t.levels[len(text)] = atSentence
	}
	return t
}

// raise raises the level of the ends of all segments, except within characters.
func (t splitText) raise(l level, next func(string, int) (string, string, int)) {
	for at, rest, state := 0, t.text, -1; rest != ""; {
		var first string
		first, rest, state = next(rest, state)
		at += len(first)
		if t.levels[at] != never {
			t.levels[at] = l
		}
	}
}

// raiseSpaces raises the level of the places after white space. A place between two white spaces is as good as the next
// one.
func (t splitText) raiseSpaces() {
	for at, r := range t.text {
		if end := at + utf8.RuneLen(r); unicode.IsSpace(r) && t.levels[end] != never {
			t.levels[end] = atSpace
		}
	}
}

// raiseSentences raises the level of the ends of sentences.
func (t splitText) raiseSentences() {
	at := 0
	t.raise(atSentence, func(rest string, state int) (string, string, int) {
		first, after, state := uniseg.FirstSentenceInString(rest, state)
		for after != "" && !endsSentence(t.text[:at+len(first)]) {
			var next string
			next, after, state = uniseg.FirstSentenceInString(after, state)
			first += next
		}
		at += len(first)
		return first, after, state
	})
}

// notEnding matches texts that end with the number of a list item, an initial or a title instead of a sentence.
var notEnding = regexp.MustCompile(`(?:^|\n)[ \t]*(?:\d{1,3}|\pL)[.)][ \t]+$|(?:^|[^\pL\pN])(?:\pL|Dr|Mr|Mrs|Ms|Prof|St)\.[ \t]+$`)

// endsSentence reports whether a text that ends at a sentence boundary of Unicode really ends with a sentence. If no
// white space follows, only Chinese and Japanese punctuation ends a sentence, because other punctuation can be part of
// links and names.
func endsSentence(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(text)
	if !unicode.IsSpace(last) {
		return last >= '\u3000'
	}
	return !notEnding.MatchString(lastLine(text))
}

// lastLine returns the end of a text, from the start of the last line that is not blank.
func lastLine(text string) string {
	if at := strings.LastIndexByte(strings.TrimRight(text, " \t"), '\n'); at >= 0 {
		return text[at:]
	}
	return text
}

// hostPattern matches links without a scheme, and names that look like them.
var hostPattern = regexp.MustCompile(`(?:[\pL\pN_-]+\.)+\pL{2,}(?:[:/?#][^\s\pZ<>"「」『』（）、。，]*)?`)

// links returns the start and end offsets of each link.
func links(text string) [][]int {
	out := hostPattern.FindAllStringIndex(text, -1)
	at := 0
	for _, link := range network.Links(text) {
		start := at + strings.Index(text[at:], link)
		at = start + len(link)
		out = append(out, []int{start, at})
	}
	return out
}

// split returns the best place to split. Of the places where the text before the place fits, it returns the last one of
// the greatest level. It returns 0 if there is none.
func (t splitText) split(fits func(string) bool) int {
	if fits(t.text) {
		return len(t.text)
	}
	for l := atSentence; l > never; l-- {
		if end := t.last(l, fits); end > 0 {
			return end
		}
	}
	return 0
}

// last returns the last place of level l or greater where the text before the place fits. It returns 0 if there is
// none.
func (t splitText) last(l level, fits func(string) bool) int {
	end := 0
	for at := 1; at <= len(t.text); at++ {
		if t.levels[at] < l {
			continue
		}
		part := strings.TrimSpace(t.text[:at])
		if part == "" {
			continue
		}
		if !fits(part) {
			break
		}
		end = at
	}
	return end
}

// from returns the text after a place, without white space at its beginning.
func (t splitText) from(at int) splitText {
	rest := strings.TrimLeftFunc(t.text[at:], unicode.IsSpace)
	return splitText{rest, t.levels[len(t.text)-len(rest):]}
}
