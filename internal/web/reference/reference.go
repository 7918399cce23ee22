// Package reference is the API's reference in the app, for whoever wants to read it: made when it is first asked for,
// out of the same OpenAPI document that programs are given, so that nothing in it is written by hand a second time.
package reference

import (
	"embed"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"sync"

	"pressroom/internal/web/shell"
)

//go:embed templates/*.html
var files embed.FS

var pages = shell.Parse(files, template.FuncMap{"spans": spans, "paragraphs": paragraphs})

// Part answers with the reference.
type Part struct {
	*shell.Frame

	book func() (*book, error)
}

// book is what the pages show.
type book struct {
	doc      document
	chapters []chapter
	answers  []kind
}

// New makes the reference of the OpenAPI document that describe gives. Of one that cannot be read there are no pages.
func New(f *shell.Frame, describe func() ([]byte, error)) *Part {
	return &Part{Frame: f, book: sync.OnceValues(func() (*book, error) {
		description, err := describe()
		if err != nil {
			return nil, err
		}
		return write(description)
	})}
}

func write(description []byte) (*book, error) {
	doc, err := read(description)
	if err != nil {
		return nil, err
	}
	made, err := chapters(doc)
	if err != nil {
		return nil, err
	}
	return &book{doc: doc, chapters: made, answers: answers(doc)}, nil
}

// Routes are for everybody: what the API can do is no secret.
func (p *Part) Routes() []shell.Route {
	return []shell.Route{
		{Pattern: "GET /docs", For: shell.Anyone, Do: p.of(p.contents), OneFactor: true},
		{Pattern: "GET /docs/app", For: shell.Anyone, Do: p.app, OneFactor: true},
		{Pattern: "GET /docs/start", For: shell.Anyone, Do: p.of(p.start), OneFactor: true},
		{Pattern: "GET /docs/assistants", For: shell.Anyone, Do: p.of(p.assistants), OneFactor: true},
		{Pattern: "GET " + answersAt, For: shell.Anyone, Do: p.of(p.allAnswers), OneFactor: true},
		{Pattern: "GET " + chaptersAt + "{chapter}", For: shell.Anyone, Do: p.of(p.chapter), OneFactor: true},
	}
}

// of is a page of the book.
func (p *Part) of(page func(http.ResponseWriter, *http.Request, *book)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		b, err := p.book()
		if err != nil {
			p.Broken(w, r, err)
			return
		}
		page(w, r, b)
	}
}

// contents is what the first page shows.
type contents struct {
	About    string
	Version  string
	Chapters []chapter
}

func (p *Part) contents(w http.ResponseWriter, r *http.Request, b *book) {
	p.Show(w, r, http.StatusOK, pages["contents"], "API reference",
		contents{b.doc.Info.Description, b.doc.Info.Version, b.chapters})
}

func (p *Part) chapter(w http.ResponseWriter, r *http.Request, b *book) {
	at := slices.IndexFunc(b.chapters, func(c chapter) bool { return c.At == chaptersAt+r.PathValue("chapter") })
	if at < 0 {
		p.Missing(w, r)
		return
	}
	p.Show(w, r, http.StatusOK, pages["chapter"], b.chapters[at].Name+" · API reference", b.chapters[at])
}

func (p *Part) allAnswers(w http.ResponseWriter, r *http.Request, b *book) {
	p.Show(w, r, http.StatusOK, pages["answers"], "What every answer holds", b.answers)
}

// addresses are those that programs and assistants ask.
type addresses struct{ API, Tools, Public string }

func (p *Part) addresses(b *book) addresses {
	return addresses{b.doc.Servers[0].URL, p.PublicURL + "/mcp", p.PublicURL}
}

func (p *Part) start(w http.ResponseWriter, r *http.Request, b *book) {
	p.Show(w, r, http.StatusOK, pages["start"], "Getting started with the API", p.addresses(b))
}

func (p *Part) app(w http.ResponseWriter, r *http.Request) {
	p.Show(w, r, http.StatusOK, pages["app"], "Using the app", nil)
}

func (p *Part) assistants(w http.ResponseWriter, r *http.Request, b *book) {
	p.Show(w, r, http.StatusOK, pages["assistants"], "Tools for assistants", p.addresses(b))
}

// span is a piece of a text, which may be code.
type span struct {
	Text string
	Code bool
}

// spans parts a text at its backticks.
func spans(text string) []span {
	var out []span
	for i, piece := range strings.Split(text, "`") {
		if piece != "" {
			out = append(out, span{piece, i%2 == 1})
		}
	}
	return out
}

// paragraphs parts a text at its empty lines.
func paragraphs(text string) []string { return strings.Split(text, "\n\n") }
