// Package reference serves the API reference. It generates the pages from the OpenAPI document when they are first
// requested, so that nothing is documented twice.
package reference

import (
	"embed"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"sync"

	"pressroom.example/pressroom/internal/api/problem"
	"pressroom.example/pressroom/internal/web/shell"
)

//go:embed templates/*.html
var files embed.FS

var pages = shell.Parse(files, shell.Data{
	"answers": pageView[[]kind]{}, "assistants": pageView[addresses]{}, "chapter": pageView[chapter]{},
	"contents": pageView[contents]{}, "errors": pageView[errorCodes]{}, "start": pageView[addresses]{},
}, template.FuncMap{"spans": spans, "curly": curly, "remedy": remedyOf})

// Handlers serves the reference.
type Handlers struct {
	*shell.Shell

	book func() (*book, error)
}

// book is the content of the pages.
type book struct {
	doc      document
	chapters []chapter
	answers  []kind
}

// New returns the handlers. describe returns the OpenAPI document. If the document is invalid, all pages fail with a
// server error.
func New(sh *shell.Shell, describe func() ([]byte, error)) *Handlers {
	return &Handlers{Shell: sh, book: sync.OnceValues(func() (*book, error) {
		description, err := describe()
		if err != nil {
			return nil, err
		}
		return newBook(description)
	})}
}

func newBook(description []byte) (*book, error) {
	doc, err := read(description)
	if err != nil {
		return nil, err
	}
	list, err := chapters(doc)
	if err != nil {
		return nil, err
	}
	explain(list)
	return &book{doc: doc, chapters: list, answers: answers(doc)}, nil
}

// Routes returns the routes of the pages, which are public.
func (p *Handlers) Routes() []shell.Route {
	return []shell.Route{
		{Pattern: "GET /docs", Audience: shell.Anyone, Handler: p.withBook(p.contents), AllowsOneFactor: true},
		{Pattern: "GET /docs/start", Audience: shell.Anyone, Handler: p.withBook(p.start), AllowsOneFactor: true},
		{Pattern: "GET /docs/assistants", Audience: shell.Anyone, Handler: p.withBook(p.assistants), AllowsOneFactor: true},
		{Pattern: "GET " + problem.ReferencePath, Audience: shell.Anyone, Handler: p.withBook(p.errors), AllowsOneFactor: true},
		{Pattern: "GET " + answersAt, Audience: shell.Anyone, Handler: p.withBook(p.allAnswers), AllowsOneFactor: true},
		{Pattern: "GET " + chaptersAt + "{chapter}", Audience: shell.Anyone, Handler: p.withBook(p.chapter),
			AllowsOneFactor: true},
	}
}

// withBook returns a handler that calls page with the content of the reference pages.
func (p *Handlers) withBook(page func(http.ResponseWriter, *http.Request, *book)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		b, err := p.book()
		if err != nil {
			p.ServerError(w, r, err)
			return
		}
		page(w, r, b)
	}
}

// pageView is a page that shows the list of all chapters next to its content.
type pageView[T any] struct {
	At       string // path of the page
	Chapters []chapter
	Content  T
}

func newPage[T any](r *http.Request, b *book, content T) pageView[T] {
	return pageView[T]{r.URL.Path, b.chapters, content}
}

// Here returns the name of the chapter that the page shows, or "" if the page does not show a chapter.
func (s pageView[T]) Here() string {
	for _, c := range s.Chapters {
		if c.At == s.At {
			return c.Name
		}
	}
	return ""
}

// contents is the start page of the reference.
type contents struct {
	About    []block
	Version  string
	Query    string    // search query; empty to list all operations
	Chapters []chapter // with the operations that match the query
}

func (p *Handlers) contents(w http.ResponseWriter, r *http.Request, b *book) {
	query := strings.TrimSpace(r.URL.Query().Get("q"))
	p.Show(w, r, http.StatusOK, pages["contents"], "API reference", newPage(r, b,
		contents{blocks(b.doc.Info.Description), b.doc.Info.Version, query, matching(b.chapters, query)}))
}

// matching returns the operations that match all words of a query, in their chapters.
func matching(chapters []chapter, query string) []chapter {
	words := strings.Fields(strings.ToLower(query))
	var out []chapter
	for _, c := range chapters {
		c.Entries = slices.DeleteFunc(slices.Clone(c.Entries), func(e entry) bool {
			text := strings.ToLower(strings.Join([]string{c.Name, e.Summary, e.Method, e.Path, e.Tool}, " "))
			return slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
		})
		if len(c.Entries) > 0 {
			out = append(out, c)
		}
	}
	return out
}

func (p *Handlers) chapter(w http.ResponseWriter, r *http.Request, b *book) {
	at := slices.IndexFunc(b.chapters, func(c chapter) bool { return c.At == chaptersAt+r.PathValue("chapter") })
	if at < 0 {
		p.NotFound(w, r)
		return
	}
	p.ShowTitled(w, r, http.StatusOK, pages["chapter"], b.chapters[at].Name+" · API reference",
		newPage(r, b, b.chapters[at]))
}

func (p *Handlers) allAnswers(w http.ResponseWriter, r *http.Request, b *book) {
	p.Show(w, r, http.StatusOK, pages["answers"], "Common response fields",
		newPage(r, b, b.answers))
}

// addresses holds the URLs of the API, the MCP server and the app.
type addresses struct{ API, Tools, Public string }

func (p *Handlers) addresses(b *book) addresses {
	return addresses{b.doc.Servers[0].URL, p.PublicURL + "/mcp", p.PublicURL}
}

func (p *Handlers) start(w http.ResponseWriter, r *http.Request, b *book) {
	p.Show(w, r, http.StatusOK, pages["start"], "Getting started with the API",
		newPage(r, b, p.addresses(b)))
}

func (p *Handlers) assistants(w http.ResponseWriter, r *http.Request, b *book) {
	p.Show(w, r, http.StatusOK, pages["assistants"], "Tools for assistants",
		newPage(r, b, p.addresses(b)))
}

// curly replaces straight apostrophes with typographic ones. The API description does not contain words in single
// quotes.
func curly(text string) string { return strings.ReplaceAll(text, "'", "’") }
