package web

import (
	"html"
	"html/template"
	"net/http"
	"regexp"
	"strings"

	"pressroom.example/pressroom/internal/docsite"
	"pressroom.example/pressroom/internal/web/guides"
)

// helpView is the help page, or the parts of it that match a query.
type helpView struct {
	Query       string
	Jobs, Pages template.HTML
	Guides      []docsite.Result // matching sections of the guides
}

// maxGuides is the maximum number of guide results on the help page.
const maxGuides = 8

// help shows how to use the app, or the parts of the help that match the query.
func (a *App) help(w http.ResponseWriter, r *http.Request) {
	view := helpView{Query: strings.TrimSpace(r.URL.Query().Get("q"))}
	for name, part := range map[string]*template.HTML{"help jobs": &view.Jobs, "help pages": &view.Pages} {
		out, err := pages["help"].RenderBlock(a.Language(r), name, nil)
		if err != nil {
			a.ServerError(w, r, err)
			return
		}
		*part = matchingHelp(string(out), view.Query)
	}
	var err error
	if view.Guides, err = guides.Search(view.Query); err != nil {
		a.ServerError(w, r, err)
		return
	}
	view.Guides = view.Guides[:min(len(view.Guides), maxGuides)]
	a.Show(w, r, http.StatusOK, pages["help"], "Help", view)
}

var (
	helpParts = regexp.MustCompile(`(?s)<section .*?</section>|<div id="page-.*?</div>`)
	tags      = regexp.MustCompile(`<[^>]*>`)
)

// matchingHelp returns the parts of the help that contain all words of a query.
func matchingHelp(content, query string) template.HTML {
	words := strings.Fields(strings.ToLower(query))
	var out strings.Builder
	for _, part := range helpParts.FindAllString(content, -1) {
		text := strings.ToLower(html.UnescapeString(tags.ReplaceAllString(part, "")))
		matches := true
		for _, word := range words {
			matches = matches && strings.Contains(text, word)
		}
		if matches {
			out.WriteString(part + "\n")
		}
	}
	return template.HTML(out.String()) //nolint:gosec // parts of a template's output
}
