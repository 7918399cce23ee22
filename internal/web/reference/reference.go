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
	"answers": pageView[[]apiType]{}, "assistants": pageView[addresses]{}, "chapter": pageView[chapter]{},
	"contents": pageView[contents]{}, "errors": pageView[errorCodes]{}, "start": pageView[addresses]{},
}, template.FuncMap{"spans": splitSpans, "curly": useCurlyQuotes, "remedy": remedyOf})

// Handlers serves the reference.
type Handlers struct {
	*shell.Shell

	book func() (*book, error)
}

// book is the content of the pages.
type book struct {
	doc      document
	chapters []chapter
	answers  []apiType
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
	doc, err := parseDocument(description)
	if err != nil {
		return nil, err
	}
	chapterList, err := chapters(doc)
	if err != nil {
		return nil, err
	}
	addExplanations(chapterList)
	return &book{doc: doc, chapters: chapterList, answers: listCommonTypes(doc)}, nil
}

// Routes returns the routes of the pages, which are public.
func (h *Handlers) Routes() []shell.Route {
	return []shell.Route{
		{Pattern: "GET /docs", Audience: shell.Anyone, Handler: h.withBook(h.contents), AllowsOneFactor: true},
		{Pattern: "GET /docs/start", Audience: shell.Anyone, Handler: h.withBook(h.start), AllowsOneFactor: true},
		{Pattern: "GET /docs/assistants", Audience: shell.Anyone, Handler: h.withBook(h.assistants), AllowsOneFactor: true},
		{Pattern: "GET " + problem.ReferencePath, Audience: shell.Anyone, Handler: h.withBook(h.errors), AllowsOneFactor: true},
		{Pattern: "GET " + commonTypesPath, Audience: shell.Anyone, Handler: h.withBook(h.commonTypes), AllowsOneFactor: true},
		{Pattern: "GET " + chapterPathPrefix + "{chapter}", Audience: shell.Anyone, Handler: h.withBook(h.chapter),
			AllowsOneFactor: true},
	}
}

// withBook returns a handler that calls page with the content of the reference pages.
func (h *Handlers) withBook(page func(http.ResponseWriter, *http.Request, *book)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		b, err := h.book()
		if err != nil {
			h.ServerError(w, r, err)
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
func (v pageView[T]) Here() string {
	for _, c := range v.Chapters {
		if c.At == v.At {
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

func (h *Handlers) contents(w http.ResponseWriter, r *http.Request, b *book) {
	query := strings.TrimSpace(r.URL.Query().Get("q"))
	h.Show(w, r, http.StatusOK, pages["contents"], "API reference", newPage(r, b,
		contents{parseBlocks(b.doc.Info.Description), b.doc.Info.Version, query, filterChapters(b.chapters, query)}))
}

// filterChapters returns the operations that match all words of a query, in their chapters.
func filterChapters(chapters []chapter, query string) []chapter {
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

func (h *Handlers) chapter(w http.ResponseWriter, r *http.Request, b *book) {
	i := slices.IndexFunc(b.chapters, func(c chapter) bool { return c.At == chapterPathPrefix+r.PathValue("chapter") })
	if i < 0 {
		h.NotFound(w, r)
		return
	}
	h.ShowTitled(w, r, http.StatusOK, pages["chapter"], b.chapters[i].Name+" · API reference",
		newPage(r, b, b.chapters[i]))
}

func (h *Handlers) commonTypes(w http.ResponseWriter, r *http.Request, b *book) {
	h.Show(w, r, http.StatusOK, pages["answers"], "Common response fields",
		newPage(r, b, b.answers))
}

// addresses holds the URLs of the API, the MCP server and the app.
type addresses struct{ API, Tools, Public string }

func (h *Handlers) addresses(b *book) addresses {
	return addresses{b.doc.Servers[0].URL, h.PublicURL + "/mcp", h.PublicURL}
}

func (h *Handlers) start(w http.ResponseWriter, r *http.Request, b *book) {
	h.Show(w, r, http.StatusOK, pages["start"], "Getting started with the API",
		newPage(r, b, h.addresses(b)))
}

func (h *Handlers) assistants(w http.ResponseWriter, r *http.Request, b *book) {
	h.Show(w, r, http.StatusOK, pages["assistants"], "Tools for assistants",
		newPage(r, b, h.addresses(b)))
}

// useCurlyQuotes replaces straight apostrophes with typographic ones. The API description does not contain words in
// single quotes.
func useCurlyQuotes(text string) string { return strings.ReplaceAll(text, "'", "’") }
