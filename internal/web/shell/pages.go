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

//go:embed templates/*.html assets/*
var files embed.FS

// page is what the layout shows, and the part of one page in it.
type page struct {
	Title   string
	Visitor *Visitor // nil for whoever is not signed in
	Section string   // the first part of the address
	Said    string   // what a form just did
	Once    string   // names one sending of a form of this page
	Told    bool     // that there are notices at all
	Unread  int      // how many of them the visitor has not read
	Body    any
}

// layout has what every page can use: the frame, and the small templates of parts.html.
var layout = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("layout.html").Funcs(words).
		ParseFS(files, "templates/layout.html", "templates/parts.html"))
})

// Page gives one page's part, laid out. It is read when it is first shown: whoever only uses the API needs none.
type Page func() *template.Template

// Pages holds pages by their names.
type Pages map[string]Page

// Parse names a package's pages: every file of the folder templates, whose block "main" is the page. Files that begin
// with an underscore hold blocks for all the others. A page that cannot be read panics when it is shown, and in a test.
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
	named = append(named, out)
	return out
}

// named are all pages of the program, which are named while it starts.
var named []Pages

// Every goes over all pages that packages named, for a test that each can be read.
func Every(yield func(name string, page Page) bool) {
	for _, pages := range named {
		for name, page := range pages {
			if !yield(name, page) {
				return
			}
		}
	}
}

var turns = sync.OnceValue(func() *template.Template {
	return template.Must(template.Must(layout().Clone()).ParseFS(files, "templates/turn.html"))
})

var notices = sync.OnceValue(func() *template.Template {
	return template.Must(template.Must(layout().Clone()).ParseFS(files, "templates/notice.html"))
})

// Notice answers with a page of one sentence.
func (f *Frame) Notice(w http.ResponseWriter, r *http.Request, status int, title, text string) {
	f.Show(w, r, status, notices, title, text)
}

// Show answers with a page. It is made in full before anything is sent, so that a failure can still be shown.
func (f *Frame) Show(w http.ResponseWriter, r *http.Request, status int, show Page, title string, body any) {
	section, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	p := page{Title: title, Visitor: VisitorOf(r.Context()), Section: section, Once: f.once(), Body: body}
	if p.Visitor != nil {
		p.Said = f.sessions.manager.PopString(r.Context(), saidKey)
		p.Told, p.Unread = f.Unread != nil, f.unread(r, p.Visitor.ID)
	}
	var out bytes.Buffer
	t := show()
	if err := t.Execute(&out, p); err != nil {
		f.Log.ErrorContext(r.Context(), "a page cannot be made", "page", t.Name(), "route", r.Pattern, "error", err)
		http.Error(w, "Something failed on our side.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(bound(out.Bytes(), p.Visitor)) // the client may be gone
}

// unread is how many notices the visitor has not read. A page is shown without that where it cannot be counted.
func (f *Frame) unread(r *http.Request, person int64) int {
	if f.Unread == nil {
		return 0
	}
	n, err := f.Unread(r.Context(), person)
	if err != nil {
		f.Log.ErrorContext(r.Context(), "unread notices cannot be counted", "error", err)
	}
	return n
}

// once names one sending of a form: when it was shown, and what nobody guesses.
func (f *Frame) once() string {
	return f.DB.Now().UTC().Format(onceTime) + "-" + rand.Text()
}

// Say has the next page tell what was done.
func (f *Frame) Say(r *http.Request, text string) {
	f.sessions.manager.Put(r.Context(), saidKey, text)
}
