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

// prose splits a text at backticks and identifiers. It turns the names of operations into links.
func (l links) prose(text string) []span {
	var out []span
	for _, piece := range spans(text) {
		if to, ok := l[piece.Text]; ok && piece.Code {
			out = append(out, span{Text: to.Summary, Path: to.Path})
			continue
		}
		if piece.Code {
			out = append(out, piece)
			continue
		}
		rest := piece.Text
		for _, at := range identifiers.FindAllString(rest, -1) {
			before, after, _ := strings.Cut(rest, at)
			if before != "" {
				out = append(out, span{Text: before})
			}
			one := span{Text: at, Code: true}
			if to, ok := l[at]; ok {
				one = span{Text: to.Summary, Path: to.Path}
			}
			out, rest = append(out, one), after
		}
		if rest != "" {
			out = append(out, span{Text: rest})
		}
	}
	return out
}

// spans splits a text at backticks.
func spans(text string) []span {
	var out []span
	for i, piece := range strings.Split(text, "`") {
		if i%2 == 0 {
			piece = curly(piece)
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

// notes returns the explanations of error codes that an operation's description contains.
func (l links) notes(description string) []note {
	var out []note
	rest := description
	for {
		at := codeExplanation.FindStringSubmatchIndex(rest)
		if at == nil {
			return out
		}
		text := rest[at[4]:at[5]]
		out = append(out, note{rest[at[2]:at[3]], l.prose(strings.ToUpper(text[:1]) + text[1:] + ".")})
		rest = rest[at[5]:]
	}
}

// explain sets About and Notes of all operations.
func explain(chapters []chapter) {
	l := linksOf(chapters)
	for _, c := range chapters {
		for i := range c.Entries {
			e := &c.Entries[i]
			text := peopleTexts[e.Tool]
			if text == "" {
				text = e.Description
			}
			e.About, e.Notes = l.prose(text), l.notes(e.Description)
		}
	}
}
