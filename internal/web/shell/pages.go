package shell

import (
	"bytes"
	"crypto/rand"
	"embed"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
)

//go:embed templates/*.html assets/* styles/*.css
var files embed.FS

// page is the data of the layout and of one page in it.
type page struct {
	Title   string
	Visitor *Visitor // nil if not signed in
	Section string   // first segment of the path
	Said    string   // confirmation of the last form
	Once    string   // identifies a submission of this page's forms
	Told    bool     // notifications are enabled
	Unread  int      // unread notifications
	Menu    *settingsMenu
	Body    any
}

// layout holds what every page can use: the layout and the small templates of parts.html.
var layout = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("layout.html").Funcs(templateFuncs).
		ParseFS(files, "templates/layout.html", "templates/parts.html"))
})

// Page returns a page's template. It is parsed on first use, so that nodes that only serve the API parse none.
type Page func() *template.Template

// Pages holds pages by name.
type Pages map[string]Page

// Parse returns a package's pages: each file of the folder templates, whose block "main" is the page. Files that
// begin with an underscore hold blocks for all others. An invalid page panics when it is shown, and in a test.
func Parse(files fs.FS, funcs template.FuncMap) Pages {
	names, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		panic(err)
	}
	shared := sync.OnceValue(func() *template.Template {
		t := template.Must(layout().Clone()).Funcs(funcs)
		for _, name := range names {
			if strings.HasPrefix(path.Base(name), "_") {
				template.Must(t.ParseFS(files, name))
			}
		}
		return t
	})
	out := Pages{}
	for _, name := range names {
		if base := path.Base(name); !strings.HasPrefix(base, "_") {
			out[strings.TrimSuffix(base, ".html")] = sync.OnceValue(func() *template.Template {
				return template.Must(template.Must(shared().Clone()).ParseFS(files, name))
			})
		}
	}
	registered = append(registered, out)
	return out
}

// registered are all pages of the program, registered during initialization.
var registered []Pages

// EachPage iterates over all registered pages, for a test that each can be parsed.
func EachPage(yield func(name string, page Page) bool) {
	for _, pages := range registered {
		for name, page := range pages {
			if !yield(name, page) {
				return
			}
		}
	}
}

var switchPage = sync.OnceValue(func() *template.Template {
	return template.Must(template.Must(layout().Clone()).ParseFS(files, "templates/turn.html"))
})

var messagePage = sync.OnceValue(func() *template.Template {
	return template.Must(template.Must(layout().Clone()).ParseFS(files, "templates/notice.html"))
})

// ShowMessage answers with a page of one sentence.
func (f *Frame) ShowMessage(w http.ResponseWriter, r *http.Request, status int, title, text string) {
	f.show(w, r, status, messagePage, page{Title: title, Body: text})
}

// Show answers with a page. It is rendered completely before anything is sent, so that an error can still be shown.
func (f *Frame) Show(w http.ResponseWriter, r *http.Request, status int, show Page, title string, body any) {
	f.show(w, r, status, show, page{Title: title, Body: body, Menu: f.settingsMenu(r, VisitorOf(r.Context()))})
}

func (f *Frame) show(w http.ResponseWriter, r *http.Request, status int, show Page, p page) {
	p.Section, _, _ = strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	p.Visitor, p.Once = VisitorOf(r.Context()), f.once()
	if p.Visitor != nil {
		p.Said = f.sessions.manager.PopString(r.Context(), flashKey)
		p.Told, p.Unread = f.Unread != nil, f.unread(r, p.Visitor.ID)
	}
	var out bytes.Buffer
	t := show()
	if err := t.Execute(&out, p); err != nil {
		f.Log.ErrorContext(r.Context(), "rendering a page failed", "page", t.Name(), "route", r.Pattern, "error", err)
		http.Error(w, "Something went wrong. Try again in a moment.", http.StatusInternalServerError)
		return
	}
	WriteHTML(w, r, status, addTeamField(out.Bytes(), p.Visitor))
}

// unread returns the number of the visitor's unread notifications, or 0 if they cannot be counted.
func (f *Frame) unread(r *http.Request, person int64) int {
	if f.Unread == nil {
		return 0
	}
	n, err := f.Unread(r.Context(), person)
	if err != nil {
		f.Log.ErrorContext(r.Context(), "counting unread notifications failed", "error", err)
	}
	return n
}

// once returns an identifier of a form submission: the time and a random part.
func (f *Frame) once() string {
	return f.DB.Now().UTC().Format(onceTime) + "-" + rand.Text()
}

// Flash makes the next page confirm what was done.
func (f *Frame) Flash(r *http.Request, text string) {
	f.sessions.manager.Put(r.Context(), flashKey, text)
}
