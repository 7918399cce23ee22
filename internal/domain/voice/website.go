package voice

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/platform/safehttp"
)

const (
	maxPageBytes = 2 << 20 // maximum size of a web page in bytes
	pageTimeout  = 10 * time.Second
)

// Errors for web pages that cannot be read.
var (
	errPageAddress = apierr.Invalid(apierr.NotAllowedValue, "website",
		"Enter the public address of a web page that begins with https://, such as https://example.com.")
	errPageUnavailable = apierr.Invalid(apierr.NotAllowedValue, "website",
		"The web page could not be read. Check the address and try again, or fill in the fields yourself.")
	errPageTooLarge = apierr.Invalid(apierr.NotAllowedValue, "website",
		"The web page is larger than 2 MB. Enter the address of a smaller page, or fill in the fields yourself.")
	errNoPage = apierr.Invalid(apierr.NotAllowedValue, "website",
		"There is no web page with text at this address. Enter the address of another page, or fill in the fields yourself.")
)

// Website holds the information about a business on a web page.
type Website struct {
	Name        string
	Description string
	Text        string // the address and the visible text, truncated to MaxMaterialLength
}

// ReadWebsite fetches a public web page and returns its information about the business, truncated to the limits of a
// voice's fields.
func (s *Service) ReadWebsite(ctx context.Context, call operation.Call, address string) (Website, error) {
	if err := checkMaterialAccess(call); err != nil {
		return Website{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	address = strings.TrimSpace(address)
	var page bytes.Buffer
	if err := s.fetch(ctx, address, maxPageBytes, &page); err != nil {
		return Website{}, pageError(err)
	}
	website, err := parsePage(page.Bytes())
	if err != nil {
		return Website{}, err
	}
	website.Text = cutText(address+"\n\n"+website.Text, MaxMaterialLength)
	return website, nil
}

// pageError returns the error to show to the person for a failed download.
func pageError(err error) error {
	fetchErr, ok := errors.AsType[*safehttp.Error](err)
	switch {
	case !ok:
		return fmt.Errorf("reading a website for a brand voice: %w", err)
	case fetchErr.Code == safehttp.CodeRefused:
		return errPageAddress.Wrap(err)
	case fetchErr.Code == safehttp.CodeTooLarge:
		return errPageTooLarge.Wrap(err)
	}
	return errPageUnavailable.Wrap(err)
}

// parsePage returns the name, the description and the visible text of an HTML document.
func parsePage(page []byte) (Website, error) {
	p, err := readDocument(page)
	if err != nil {
		return Website{}, err
	}
	out := Website{
		Name:        cutText(oneLine(firstNonBlank(p.siteName, p.title)), MaxNameLength),
		Description: cutText(oneLine(firstNonBlank(p.description, p.socialDescription)), MaxDescriptionLength),
		Text:        p.visibleText(),
	}
	if out.Text == "" && out.Description == "" {
		return Website{}, errNoPage
	}
	return out, nil
}

// LinkTexts returns the title and the description of an HTML document for a link preview. Both may be empty.
func LinkTexts(page []byte) (string, string, error) {
	p, err := readDocument(page)
	if err != nil {
		return "", "", err
	}
	return oneLine(firstNonBlank(p.socialTitle, p.title)), oneLine(firstNonBlank(p.socialDescription, p.description)), nil
}

// readDocument collects the texts of an HTML document.
func readDocument(page []byte) (*pageReader, error) {
	if kind := mimetype.Detect(page); !kind.Is("text/html") &&
		(!strings.HasPrefix(kind.String(), "text/") || !bytes.Contains(bytes.ToLower(page), []byte("<html"))) {
		return nil, errNoPage
	}
	var r io.Reader = bytes.NewReader(page)
	if !utf8.Valid(page) {
		encoding, _, _ := charset.DetermineEncoding(page, "")
		r = encoding.NewDecoder().Reader(r)
	}
	doc, err := html.Parse(r)
	if err != nil {
		return nil, errNoPage.Wrap(err)
	}
	var p pageReader
	p.read(doc)
	return &p, nil
}

// pageReader collects the texts of a document.
type pageReader struct {
	siteName, title, description   string
	socialTitle, socialDescription string // title and description for link previews
	text                           strings.Builder
}

// read collects the texts of a node. The parser limits the depth of documents.
func (p *pageReader) read(n *html.Node) {
	switch {
	case n.Type == html.TextNode:
		p.text.WriteString(strings.Map(replaceBreak, n.Data))
		return
	case n.DataAtom == atom.Title && n.Parent.DataAtom == atom.Head:
		if n.FirstChild != nil {
			p.title = firstNonBlank(p.title, n.FirstChild.Data)
		}
		return
	case n.DataAtom == atom.Meta:
		p.readMeta(n)
		return
	case n.Type == html.ElementNode && isInvisible(n):
		return
	}
	separator := "\n"
	if slices.Contains(inlineElements, n.DataAtom) {
		separator = ""
	}
	p.text.WriteString(separator)
	for child := range n.ChildNodes() {
		p.read(child)
	}
	p.text.WriteString(separator)
}

func (p *pageReader) readMeta(n *html.Node) {
	content := attribute(n, "content")
	switch {
	case strings.EqualFold(attribute(n, "property"), "og:site_name"):
		p.siteName = firstNonBlank(p.siteName, content)
	case strings.EqualFold(attribute(n, "property"), "og:title"):
		p.socialTitle = firstNonBlank(p.socialTitle, content)
	case strings.EqualFold(attribute(n, "property"), "og:description"):
		p.socialDescription = firstNonBlank(p.socialDescription, content)
	case strings.EqualFold(attribute(n, "name"), "description"):
		p.description = firstNonBlank(p.description, content)
	}
}

// visibleText returns the collected text without empty lines.
func (p *pageReader) visibleText() string {
	var lines []string
	for line := range strings.Lines(p.text.String()) {
		if line = oneLine(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// invisibleElements lists the elements that a page does not show, or that are not part of its content.
var invisibleElements = []atom.Atom{
	atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Iframe, atom.Nav, atom.Footer, atom.Select,
	atom.Textarea, atom.Object,
}

// inlineElements lists the elements that do not start a new line.
var inlineElements = []atom.Atom{
	atom.A, atom.Abbr, atom.B, atom.Bdi, atom.Bdo, atom.Cite, atom.Code, atom.Data, atom.Del, atom.Dfn, atom.Em, atom.Font,
	atom.I, atom.Ins, atom.Kbd, atom.Mark, atom.Q, atom.S, atom.Small, atom.Span, atom.Strong, atom.Sub, atom.Sup,
	atom.Time, atom.U, atom.Var, atom.Wbr,
}

// isInvisible reports whether a page does not show an element, or the element is not part of its content.
func isInvisible(n *html.Node) bool {
	return slices.Contains(invisibleElements, n.DataAtom) || slices.ContainsFunc(n.Attr, func(a html.Attribute) bool {
		return a.Key == "hidden" || a.Key == "aria-hidden" && a.Val == "true"
	})
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// firstNonBlank returns the first text that is not blank.
func firstNonBlank(texts ...string) string {
	for _, text := range texts {
		if strings.TrimSpace(text) != "" {
			return text
		}
	}
	return ""
}

func replaceBreak(r rune) rune {
	if r == '\n' || r == '\r' {
		return ' '
	}
	return r
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// cutText returns a text truncated to limit characters.
func cutText(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	return strings.TrimSpace(string([]rune(text)[:limit]))
}
