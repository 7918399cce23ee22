package reference

import (
	"regexp"
	"strings"
)

// span is a piece of a text: plain text, code, or a link to an operation.
type span struct {
	Text string
	Code bool
	Path string // target of the link; empty if the span is not a link
}

// links maps tool names to links to their operations.
type links map[string]link

// link is a link to an operation.
type link struct{ Summary, Path string }

// linksOf returns the links to all operations.
func linksOf(chapters []chapter) links {
	out := links{}
	for _, c := range chapters {
		for _, e := range c.Entries {
			out[e.Tool] = link{e.Summary, c.At + "#" + e.Tool}
		}
	}
	return out
}

// identifiers matches the names of operations, fields, codes and values in a text.
var identifiers = regexp.MustCompile(`\b[a-z]+(?:_[a-z]+)+\b`)

// splitText splits a text at backticks and identifiers. It turns the names of operations into links.
func (l links) splitText(text string) []span {
	var out []span
	for _, piece := range splitSpans(text) {
		if target, ok := l[piece.Text]; ok && piece.Code {
			out = append(out, span{Text: target.Summary, Path: target.Path})
			continue
		}
		if piece.Code {
			out = append(out, piece)
			continue
		}
		rest := piece.Text
		for _, name := range identifiers.FindAllString(rest, -1) {
			before, after, _ := strings.Cut(rest, name)
			if before != "" {
				out = append(out, span{Text: before})
			}
			s := span{Text: name, Code: true}
			if target, ok := l[name]; ok {
				s = span{Text: target.Summary, Path: target.Path}
			}
			out, rest = append(out, s), after
		}
		if rest != "" {
			out = append(out, span{Text: rest})
		}
	}
	return out
}

// splitSpans splits a text at backticks.
func splitSpans(text string) []span {
	var out []span
	for i, piece := range strings.Split(text, "`") {
		if i%2 == 0 {
			piece = useCurlyQuotes(piece)
		}
		if piece != "" {
			out = append(out, span{Text: piece, Code: i%2 == 1})
		}
	}
	return out
}

// codeExplanation matches sentences that explain an error code, such as "wrong_state: the post was already submitted".
var codeExplanation = regexp.MustCompile(`(?:^|\. )([a-z]+(?:_[a-z]+)+): ([^.]*(?:\.[a-z][^.]*)*)\.`)

// note explains an error code of an operation.
type note struct {
	Code string
	Text []span
}

// findNotes returns the explanations of error codes that an operation's description contains.
func (l links) findNotes(description string) []note {
	var out []note
	rest := description
	for {
		match := codeExplanation.FindStringSubmatchIndex(rest)
		if match == nil {
			return out
		}
		text := rest[match[4]:match[5]]
		out = append(out, note{rest[match[2]:match[3]], l.splitText(strings.ToUpper(text[:1]) + text[1:] + ".")})
		rest = rest[match[5]:]
	}
}

// addExplanations sets About and Notes of all operations.
func addExplanations(chapters []chapter) {
	l := linksOf(chapters)
	for _, c := range chapters {
		for i := range c.Entries {
			e := &c.Entries[i]
			text := peopleTexts[e.Tool]
			if text == "" {
				text = e.Description
			}
			e.About, e.Notes = l.splitText(text), l.findNotes(e.Description)
		}
	}
}
