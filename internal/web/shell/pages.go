package shell

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"pressroom.example/pressroom/internal/locale"
)

//go:embed templates/*.html assets/* styles/*.css
var files embed.FS

// page is the data of the layout and of one page in it.
type page struct {
	Lang    *locale.Language
	Title   string
	Visitor *Visitor // nil if not signed in
	Section string   // first segment of the path
	Said    string   // confirmation of the last form
	Once    string   // identifies a submission of this page's forms
	Told    bool     // notifications are enabled
	Unread  int      // unread notifications
	Waiting int      // posts that wait for the client
	Menu    *sideMenu
	Missing bool      // the page was not found
	Now     time.Time // for relative times
	Body    any
	Scheme  string // chosen color scheme; "" follows the system
	Stable  bool   // the same for all signed-out visitors until the program changes
}

// IsForGuests reports whether the page is for people who have a link but no account.
func (p page) IsForGuests() bool {
	return p.Visitor == nil && (p.Section == "approval" || p.Section == "shared")
}

// perLanguage returns a function that makes a template for a language on first use.
func perLanguage(parse func(*locale.Language) *template.Template) Page {
	made := map[*locale.Language]func() *template.Template{}
	for _, l := range locale.All() {
		made[l] = sync.OnceValue(func() *template.Template { return parse(l) })
	}
	return func(l *locale.Language) *template.Template { return made[l]() }
}

// layout has the templates that every page can use: the layout and the small templates of parts.html.
var layout = perLanguage(func(l *locale.Language) *template.Template {
	return template.Must(template.New("layout.html").Funcs(funcs(l)).
		ParseFS(files, "templates/layout.html", "templates/parts.html"))
})

// ownPage returns a page of this package.
func ownPage(file string) Page {
	return perLanguage(func(l *locale.Language) *template.Template {
		return template.Must(template.Must(layout(l).Clone()).ParseFS(files, file))
	})
}

// Page returns a page's template in a language. It is parsed on first use, so that nodes that only serve the API parse
// no templates.
type Page func(*locale.Language) *template.Template

// Pages maps names to pages.
type Pages map[string]Page

// Parse returns a package's pages: each file of the folder templates, whose block "main" is the page. Files that
// begin with an underscore hold blocks for all others. The functions in bound depend on the language. An invalid page
// panics when it is shown, and in a test.
func Parse(files fs.FS, funcs template.FuncMap, bound ...func(*locale.Language) template.FuncMap) Pages {
	names, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		panic(err)
	}
	shared := perLanguage(func(l *locale.Language) *template.Template {
		t := template.Must(layout(l).Clone()).Funcs(funcs)
		for _, more := range bound {
			t.Funcs(more(l))
		}
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
			out[strings.TrimSuffix(base, ".html")] = perLanguage(func(l *locale.Language) *template.Template {
				return template.Must(template.Must(shared(l).Clone()).ParseFS(files, name))
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

var (
	switchPage  = ownPage("templates/turn.html")
	messagePage = ownPage("templates/notice.html")
)

// ShowMessage answers with a page of one text.
func (s *Shell) ShowMessage(w http.ResponseWriter, r *http.Request, status int, title, text locale.Key, args ...any) {
	s.ShowText(w, r, status, title, s.T(r, text, args...))
}

// ShowText is ShowMessage for a text in the visitor's language.
func (s *Shell) ShowText(w http.ResponseWriter, r *http.Request, status int, title locale.Key, text string) {
	s.show(w, r, status, messagePage, page{Title: s.T(r, title), Body: text, Missing: status == http.StatusNotFound})
}

// Show answers with a page. It is rendered completely before anything is sent, so that an error can still be shown.
func (s *Shell) Show(w http.ResponseWriter, r *http.Request, status int, show Page, title locale.Key, body any) {
	s.ShowTitled(w, r, status, show, s.T(r, title), body)
}

// ShowTitled is Show for a title in the visitor's language.
func (s *Shell) ShowTitled(w http.ResponseWriter, r *http.Request, status int, show Page, title string, body any) {
	s.show(w, r, status, show, page{Title: title, Body: body, Menu: s.sideMenu(r, VisitorOf(r.Context()))})
}

// ShowStable is ShowTitled for a page that is the same for all signed-out visitors until the program changes. Their
// browsers keep it and ask whether it has changed. Signed-in people get a page that is not cached.
func (s *Shell) ShowStable(w http.ResponseWriter, r *http.Request, show Page, title string, body any) {
	s.show(w, r, http.StatusOK, show, page{
		Title: title, Body: body, Menu: s.sideMenu(r, VisitorOf(r.Context())), Stable: true,
	})
}

// ShowPart answers with a block of a page.
func (s *Shell) ShowPart(w http.ResponseWriter, r *http.Request, show Page, block string, body any) {
	var out bytes.Buffer
	if err := show(s.Language(r)).ExecuteTemplate(&out, block, body); err != nil {
		s.ServerError(w, r, fmt.Errorf("rendering a part of a page: %w", err))
		return
	}
	WriteHTML(w, r, http.StatusOK, out.Bytes())
}

func (s *Shell) show(w http.ResponseWriter, r *http.Request, status int, show Page, p page) {
	p.Section, _, _ = strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	p.Visitor, p.Once, p.Now = VisitorOf(r.Context()), s.Once(), s.DB.Now()
	p.Scheme = appearance(r)
	if p.Visitor != nil {
		if status < http.StatusBadRequest && !fromScript(r) {
			p.Said = s.sessions.manager.PopString(r.Context(), flashKey)
		}
		p.Told, p.Unread = s.Unread != nil, s.unread(r, p.Visitor.ID)
		p.Waiting = s.awaitingApproval(r, p.Visitor)
	}
	var out bytes.Buffer
	p.Lang = s.Language(r)
	t := show(p.Lang)
	if err := t.Execute(&out, p); err != nil {
		s.Log.ErrorContext(r.Context(), "rendering a page failed", "page", t.Name(), "route", r.Pattern, "error", err)
		http.Error(w, "Something went wrong. Try again in a moment.", http.StatusInternalServerError)
		return
	}
	if p.Stable && p.Visitor == nil && isUnchanged(w, r, out.Bytes()) {
		return
	}
	WriteHTML(w, r, status, addTeamField(out.Bytes(), p.Visitor))
}

// isUnchanged sets the validator of a page (RFC 9110, section 8.8). If the browser has the page, it answers with 304. The
// validator is weak, because the page may be compressed.
func isUnchanged(w http.ResponseWriter, r *http.Request, data []byte) bool {
	sum := sha256.Sum256(data)
	tag := `W/"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("ETag", tag)
	for known := range strings.SplitSeq(r.Header.Get("If-None-Match"), ",") {
		if strings.TrimSpace(known) == tag {
			w.Header().Add("Vary", "Accept-Language")
			w.WriteHeader(http.StatusNotModified)
			return true
		}
	}
	return false
}

// unread returns the number of the visitor's unread notifications, or 0 if they cannot be counted.
func (s *Shell) unread(r *http.Request, person int64) int {
	if s.Unread == nil {
		return 0
	}
	n, err := s.Unread(r.Context(), person)
	if err != nil {
		s.Log.ErrorContext(r.Context(), "counting unread notifications failed", "error", err)
	}
	return n
}

// awaitingApproval returns the number of posts that wait for the client, for visitors who see approvals, or 0 if they cannot
// be counted.
func (s *Shell) awaitingApproval(r *http.Request, v *Visitor) int {
	if s.AwaitingApproval == nil || v.Team.ID == 0 || v.Team.Closed || !v.Is(Writers) {
		return 0
	}
	n, err := s.AwaitingApproval(r.Context(), v.Team.ID)
	if err != nil {
		s.Log.ErrorContext(r.Context(), "counting the posts that await approval failed", "error", err)
	}
	return n
}

// CountOf returns the number beside an entry of the navigation.
func (p page) CountOf(item navItem) int {
	if item.Path() == approvalsItem.Path() {
		return p.Waiting
	}
	return 0
}

// Once returns an identifier of a form submission: the time and a random part.
func (s *Shell) Once() string {
	return s.DB.Now().UTC().Format(onceTime) + "-" + rand.Text()
}

// Flash sets the confirmation that the next page shows. Requests of scripts neither set nor take it, because nobody sees
// their pages: one that arrives between a form and its page, such as that of the composer's autosave, must not lose it.
func (s *Shell) Flash(r *http.Request, text locale.Key, args ...any) {
	s.FlashText(r, s.T(r, text, args...))
}

// FlashText is like Flash, for a text in the visitor's language.
func (s *Shell) FlashText(r *http.Request, text string) {
	if fromScript(r) {
		return
	}
	s.sessions.manager.Put(r.Context(), flashKey, text)
}
