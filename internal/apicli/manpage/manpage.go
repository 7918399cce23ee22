// Package manpage writes manual pages with roff's man macros.
package manpage

import (
	"fmt"
	"strings"
)

// Page is a manual page.
type Page struct{ text strings.Builder }

// New returns a page in section 1. The page begins with the name of a program and a summary of what it does.
func New(name, summary, version string) *Page {
	p := &Page{}
	p.linef(`.TH "%s" 1 "" "pressroom %s" "pressroom"`, escape(strings.ToUpper(name)), escape(version))
	p.linef(".nh\n.ad l") // do not hyphenate or justify
	p.Section("NAME")
	p.Text(name + " - " + strings.TrimSuffix(summary, "."))
	return p
}

func (p *Page) linef(format string, values ...any) { fmt.Fprintf(&p.text, format+"\n", values...) }

// Section begins a section.
func (p *Page) Section(title string) { p.linef(`.SH "%s"`, escape(title)) }

// Subsection begins a subsection.
func (p *Page) Subsection(title string) { p.linef(`.SS "%s"`, escape(title)) }

// Text adds paragraphs. In text, empty lines separate them, and indented paragraphs are examples.
func (p *Page) Text(text string) {
	for part := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if example, ok := strings.CutPrefix(part, "  "); ok {
			p.linef(".PP\n.RS 4\n.EX\n%s\n.EE\n.RE", escapeLines(example))
			continue
		}
		p.linef(".PP\n%s", escapeLines(part))
	}
}

// Synopsis adds a command with its arguments.
func (p *Page) Synopsis(command, arguments string) {
	p.linef(".PP\n\\fB%s\\fR %s", escape(command), escape(arguments))
}

// Item adds a term, such as a flag, with its value and its explanation.
func (p *Page) Item(term, value, text string) {
	p.linef(".TP\n\\fB%s\\fR\\fI%s\\fR\n%s", escape(term), escape(value), escapeLines(text))
}

// String returns the source of the page.
func (p *Page) String() string { return p.text.String() }

var escaper = strings.NewReplacer(`\`, `\e`, "-", `\-`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, `"`, `\(dq`)

func escape(text string) string { return escaper.Replace(text) }

// escapeLines escapes text. It also ensures that no line begins with a dot or an apostrophe, because roff would read
// such a line as a macro.
func escapeLines(text string) string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		line = escape(line)
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			line = `\&` + line
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}
