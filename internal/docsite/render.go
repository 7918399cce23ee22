package docsite

import (
	"bytes"
	"fmt"
	"html/template"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// markdown is created on first use. The alignment of table cells is an attribute, because the pages' content security
// policy allows no inline styles.
var markdown = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(goldmark.WithParserOptions(parser.WithAutoHeadingID()), goldmark.WithExtensions(
		apostrophes, extension.Linkify, extension.Strikethrough, extension.TaskList,
		extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))))
})

// apostrophes makes straight apostrophes curly and leaves other punctuation unchanged.
var apostrophes = extension.NewTypographer(extension.WithTypographicSubstitutions(extension.TypographicSubstitutions{
	extension.Apostrophe: []byte("’"), extension.RightSingleQuote: []byte("’"), extension.LeftSingleQuote: nil,
	extension.LeftDoubleQuote: nil, extension.RightDoubleQuote: nil, extension.EnDash: nil, extension.EmDash: nil,
	extension.Ellipsis: nil, extension.LeftAngleQuote: nil, extension.RightAngleQuote: nil,
}))

var scheme = regexp.MustCompile(`^[a-z][a-z0-9+.-]*:`)

// htmlFixes makes elements that scroll sideways reachable by keyboard, marks column headings, and removes comments.
var htmlFixes = strings.NewReplacer(
	"<!-- raw HTML omitted -->\n", "", // comments
	"<pre>", `<pre tabindex="0" role="group" aria-label="Code">`,
	"<table>", `<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>`, "</table>", "</table></div>",
	"<th></th>", "<td></td>", "<th>", `<th scope="col">`, "<th ", `<th scope="col" `,
)

// lowercaseHeader matches the table headers that begin with a small letter.
var lowercaseHeader = regexp.MustCompile(`<th [^>]*>[a-z]`)

// capitalizeHeaders returns HTML whose table headers begin with a capital letter, except code.
func capitalizeHeaders(html string) string {
	return lowercaseHeader.ReplaceAllStringFunc(html, func(head string) string {
		last := len(head) - 1
		return head[:last] + strings.ToUpper(head[last:])
	})
}

// render returns the content of a Markdown file. Links between files become links between pages.
func render(name string, source []byte, o Options) (*Content, error) {
	c := &Content{}
	tree := markdown().Parser().Parse(text.NewReader(source))
	w := walker{name: name, source: source, options: o, content: c}
	if err := ast.Walk(tree, w.visit); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	w.endPart()
	for _, link := range w.deadLinks {
		unlink(link)
	}
	var html bytes.Buffer
	if err := markdown().Renderer().Render(&html, source, tree); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	c.HTML = template.HTML(capitalizeHeaders(htmlFixes.Replace(html.String()))) //nolint:gosec // from the repository
	return c, nil
}

// walker collects the parts and links of a page.
type walker struct {
	name      string
	source    []byte
	options   Options
	content   *Content
	part      *Part
	text      strings.Builder
	deadLinks []*ast.Link
}

func (w *walker) visit(n ast.Node, entering bool) (ast.WalkStatus, error) {
	switch n := n.(type) {
	case *ast.Heading:
		w.visitHeading(n, entering)
	case *ast.Link:
		if entering {
			w.visitLink(n)
		}
	default:
		if entering {
			w.visitText(n)
		}
		if !entering && n.Type() == ast.TypeBlock || n.Kind().String() == "TableCell" {
			w.text.WriteByte(' ')
		}
	}
	return ast.WalkContinue, nil
}

// visitText adds the text of a node, without that of its children.
func (w *walker) visitText(n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		w.text.Write(n.Value(w.source))
		if n.SoftLineBreak() {
			w.text.WriteByte(' ')
		}
	case *ast.String:
		w.text.Write(n.Value)
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		w.text.Write(n.Lines().Value(w.source))
	}
}

// visitHeading begins a part, whose title is the text of the heading.
func (w *walker) visitHeading(n *ast.Heading, entering bool) {
	if entering {
		w.endPart()
		id, _ := n.AttributeString("id")
		raw, _ := id.([]byte)
		w.part = &Part{ID: string(raw), Level: n.Level}
		return
	}
	w.part.Title = w.takeText()
}

func (w *walker) visitLink(n *ast.Link) {
	to := string(n.Destination)
	if !scheme.MatchString(to) {
		w.content.Links = append(w.content.Links, to)
		to = w.resolveLink(to)
	}
	if n.Destination = []byte(to); to == "" {
		w.deadLinks = append(w.deadLinks, n)
	}
}

func (w *walker) endPart() {
	if w.part != nil {
		w.part.Text = w.takeText()
		w.content.Parts = append(w.content.Parts, *w.part)
	}
}

// takeText returns the text since the last call, with single spaces.
func (w *walker) takeText() string {
	defer w.text.Reset()
	return strings.Join(strings.Fields(w.text.String()), " ")
}

// resolveLink returns the site's link for a relative link of the source, or "" for none.
func (w *walker) resolveLink(destination string) string {
	file, fragment, _ := strings.Cut(destination, "#")
	if outside, ok := strings.CutPrefix(path.Join(path.Dir(w.name), file), "../"); ok {
		return w.options.ExternalURL(outside)
	}
	if name, ok := strings.CutSuffix(file, ".md"); ok {
		file = name + w.options.Suffix
	}
	if fragment != "" {
		file += "#" + fragment
	}
	return file
}

// unlink replaces a link with its text.
func unlink(link *ast.Link) {
	parent := link.Parent()
	for child := link.FirstChild(); child != nil; {
		next := child.NextSibling()
		parent.InsertBefore(parent, link, child)
		child = next
	}
	parent.RemoveChild(parent, link)
}
