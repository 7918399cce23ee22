// Package guides serves the guides in docs/ at /docs/guides. The guides are only in English.
package guides

import (
	"embed"
	"html/template"
	"net/http"
	"strings"
	"sync"

	"pressroom.example/pressroom/docs"
	"pressroom.example/pressroom/internal/docsite"
	"pressroom.example/pressroom/internal/web/shell"
)

//go:embed templates/*.html
var files embed.FS

var pages = shell.Parse(files, shell.Data{
	"contents": guideView{}, "guide": guideView{}, "missing": guideView{},
}, nil)

// Path is the path of the page that lists all guides.
const Path = "/docs/guides"

// maxQuery is the maximum length of a search query in bytes. The rest of a longer query is ignored.
const maxQuery = 200

// servedFiles maps files outside docs/ that guides link to. The values are the paths where pressroom serves the files.
var servedFiles = map[string]string{"api/openapi.json": "/api/v1/openapi.json"}

// site returns the guides. The first call builds them.
var site = sync.OnceValues(newSite)

func newSite() (*docsite.Site, error) {
	return docsite.New(docs.Files, docsite.Options{ExternalURL: func(file string) string { return servedFiles[file] }})
}

// Handlers serves the guides.
type Handlers struct{ *shell.Shell }

// New returns the handlers.
func New(sh *shell.Shell) *Handlers { return &Handlers{sh} }

// Routes returns the routes of the pages, which are public.
func (h *Handlers) Routes() []shell.Route {
	return []shell.Route{
		{Pattern: "GET " + Path, Audience: shell.Anyone, Handler: h.contents, AllowsOneFactor: true},
		{Pattern: "GET " + Path + "/{name...}", Audience: shell.Anyone, Handler: h.guide, AllowsOneFactor: true},
		{Pattern: "GET /docs/{name...}", Audience: shell.Anyone, Handler: h.redirectToGuide, AllowsOneFactor: true},
	}
}

// guideView is a page that shows the list of all guides next to its content.
type guideView struct {
	Sections    []docsite.Section
	Page        *docsite.Page // nil if the page is the list of guides or the guide does not exist
	Parts       []docsite.Part
	Body        template.HTML
	Query       string
	Results     []docsite.Result
	MissingPath string // path of a page that does not exist
}

// Shows reports whether the list next to the page shows the guides of a section.
func (v guideView) Shows(section docsite.Section) bool {
	return v.Page != nil && v.Page.Section == section.Title
}

// Search returns the parts of the guides that match a query. It returns nil if the query is empty.
func Search(query string) ([]docsite.Result, error) {
	docSite, err := site()
	if err != nil || query == "" {
		return nil, err
	}
	if len(query) > maxQuery {
		query = strings.ToValidUTF8(query[:maxQuery], "")
	}
	return docSite.Search(query)
}

// contents shows all guides, or the results of a search.
func (h *Handlers) contents(w http.ResponseWriter, r *http.Request) {
	docSite, err := site()
	if err != nil {
		h.ServerError(w, r, err)
		return
	}
	view := guideView{Sections: docSite.Sections, Query: strings.TrimSpace(r.URL.Query().Get("q"))}
	if len(view.Query) > maxQuery {
		view.Query = strings.ToValidUTF8(view.Query[:maxQuery], "")
	}
	if view.Results, err = docSite.Search(view.Query); err != nil {
		h.ServerError(w, r, err)
		return
	}
	h.ShowStable(w, r, pages["contents"], "Guides", view)
}

func (h *Handlers) guide(w http.ResponseWriter, r *http.Request) {
	docSite, err := site()
	if err != nil {
		h.ServerError(w, r, err)
		return
	}
	page := docSite.Page(r.PathValue("name"))
	if page == nil {
		h.redirectToGuide(w, r)
		return
	}
	content, err := page.Content()
	if err != nil {
		h.ServerError(w, r, err)
		return
	}
	view := guideView{Sections: docSite.Sections, Page: page, Body: content.HTML}
	for _, part := range content.Parts {
		if part.Level == 2 {
			view.Parts = append(view.Parts, part)
		}
	}
	h.ShowStable(w, r, pages["guide"], page.Title+" · Guides", view)
}

// redirectToGuide redirects requests for the file name of a guide to the guide. For other names, it shows "not found"
// with a list of all guides.
func (h *Handlers) redirectToGuide(w http.ResponseWriter, r *http.Request) {
	docSite, err := site()
	if err != nil {
		h.ServerError(w, r, err)
		return
	}
	name := strings.Trim(r.PathValue("name"), "/")
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".md"), ".html")
	switch {
	case name == "" && strings.HasPrefix(r.URL.Path, Path):
		http.Redirect(w, r, Path, http.StatusMovedPermanently)
	case name == "":
		http.Redirect(w, r, "/docs", http.StatusMovedPermanently)
	case docSite.Page(name) != nil:
		http.Redirect(w, r, Path+"/"+name, http.StatusMovedPermanently) //nolint:gosec // the name of a guide
	default:
		h.Show(w, r, http.StatusNotFound, pages["missing"], "Not found", guideView{Sections: docSite.Sections,
			MissingPath: r.URL.Path})
	}
}
