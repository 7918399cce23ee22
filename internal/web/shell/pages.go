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

// page has the data of the layout, and of the page in it (Body).
type page struct {
	Lang             *locale.Language
	Title            string
	Visitor          *Visitor  // nil if not signed in
	Section          string    // first segment of the path
	Flash            string    // confirmation of the last submission; may be empty
	Once             string    // value of the field "once" in the page's forms
	HasNotifications bool      // whether notifications are enabled
	Unread           int       // number of unread notifications
	Waiting          int       // number of posts that wait for the client's approval
	Menu             *sideMenu // nil if the page has none
	Missing          bool      // whether the requested page was not found
	Now              time.Time // current time, for relative times
	Body             any
	Scheme           string // chosen color scheme; "" for the system's
	Stable           bool   // whether the page is the same for all signed-out visitors until the program changes
}

// IsForGuests reports whether a signed-out visitor opens the page through an approval link or a link to a shared
// report.
func (p page) IsForGuests() bool {
	return p.Visitor == nil && (p.Section == "approval" || p.Section == "shared")
}

// perLanguage returns a Page that calls parse once for each language, on first use.
func perLanguage(parse func(*locale.Language) *template.Template) Page {
	made := map[*locale.Language]func() *template.Template{}
	for _, l := range locale.All() {
		made[l] = sync.OnceValue(func() *template.Template { return parse(l) })
	}
	return func(l *locale.Language) *template.Template { return made[l]() }
}

// layout returns the templates that every page can use: the layout and the blocks of parts.html.
var layout = perLanguage(func(l *locale.Language) *template.Template {
	return template.Must(template.New("layout.html").Funcs(funcs(l)).
		ParseFS(files, "templates/layout.html", "templates/parts.html"))
})

// shellPage returns a page of this package by the path of its template.
func shellPage(file string) Page {
	return perLanguage(func(l *locale.Language) *template.Template {
		return template.Must(template.Must(layout(l).Clone()).ParseFS(files, file))
	})
}

// Page returns a page's template in a language. It is parsed on first use, so that nodes that only serve the API parse
// no templates.
type Page func(*locale.Language) *template.Template

// Pages maps names to pages.
type Pages map[string]Page

// Parse returns the pages of a package by name: the files of its folder templates, each of which defines the block
// "main". Files whose names begin with an underscore define blocks for all of the package's pages. funcs are template
// functions, and langFuncs returns those that depend on the language. An invalid page panics on first use, which a test
// triggers.
func Parse(files fs.FS, funcs template.FuncMap, langFuncs ...func(*locale.Language) template.FuncMap) Pages {
	names, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		panic(err)
	}
	shared := perLanguage(func(l *locale.Language) *template.Template {
		t := template.Must(layout(l).Clone()).Funcs(funcs)
		for _, more := range langFuncs {
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
	registeredPages = append(registeredPages, out)
	return out
}

// registeredPages has all pages of the program. Parse adds them during initialization.
var registeredPages []Pages

// EachPage iterates over all pages that Parse has returned, for a test that all can be parsed.
func EachPage(yield func(name string, page Page) bool) {
	for _, pages := range registeredPages {
		for name, page := range pages {
			if !yield(name, page) {
				return
			}
		}
	}
}

var (
	switchPage  = shellPage("templates/turn.html")
	messagePage = shellPage("templates/notice.html")
)

// ShowMessage writes a page with a title and a text as the response.
func (s *Shell) ShowMessage(w http.ResponseWriter, r *http.Request, status int, title, text locale.Key, args ...any) {
	s.ShowText(w, r, status, title, s.T(r, text, args...))
}

// ShowText is like ShowMessage for a text that is already in the visitor's language.
func (s *Shell) ShowText(w http.ResponseWriter, r *http.Request, status int, title locale.Key, text string) {
	s.show(w, r, status, messagePage, page{Title: s.T(r, title), Body: text, Missing: status == http.StatusNotFound})
}

// Show writes a page as the response. It renders the page completely before it sends anything, so that it can still
// show an error.
func (s *Shell) Show(w http.ResponseWriter, r *http.Request, status int, p Page, title locale.Key, body any) {
	s.ShowTitled(w, r, status, p, s.T(r, title), body)
}

// ShowTitled is like Show for a title that is already in the visitor's language.
func (s *Shell) ShowTitled(w http.ResponseWriter, r *http.Request, status int, show Page, title string, body any) {
	s.show(w, r, status, show, page{Title: title, Body: body, Menu: s.sideMenu(r, VisitorOf(r.Context()))})
}

// ShowStable is like ShowTitled for a page that is the same for all signed-out visitors until the program changes.
// Their browsers cache and revalidate the page. The pages of signed-in people are not cached.
func (s *Shell) ShowStable(w http.ResponseWriter, r *http.Request, show Page, title string, body any) {
	s.show(w, r, http.StatusOK, show, page{
		Title: title, Body: body, Menu: s.sideMenu(r, VisitorOf(r.Context())), Stable: true,
	})
}

// ShowPart writes a block of a page as the response, without the layout.
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
			p.Flash = s.sessions.manager.PopString(r.Context(), flashKey)
		}
		p.HasNotifications, p.Unread = s.Unread != nil, s.unread(r, p.Visitor.ID)
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

// isUnchanged sets the entity tag of a page (RFC 9110, section 8.8). If the browser already has the page, it responds
// with 304 and returns true. The tag is weak, because the page may be compressed.
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

// awaitingApproval returns the number of the team's posts that wait for the client. It returns 0 if the visitor does
// not see approvals, or if the posts cannot be counted.
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

// CountOf returns the number to show beside an entry of the navigation, or 0 for none.
func (p page) CountOf(item navItem) int {
	if item.Path() == approvalsItem.Path() {
		return p.Waiting
	}
	return 0
}

// Once returns a new value for the form field "once", which identifies a submission: the time and a random part.
func (s *Shell) Once() string {
	return s.DB.Now().UTC().Format(onceTimeFormat) + "-" + rand.Text()
}

// Flash sets the confirmation that the next page shows. Requests of scripts neither set nor show it, because nobody
// sees their responses: an autosave of the editor between a submission and the next page, for example, must not consume
// it.
func (s *Shell) Flash(r *http.Request, text locale.Key, args ...any) {
	s.FlashText(r, s.T(r, text, args...))
}

// FlashText is like Flash for a text that is already in the visitor's language.
func (s *Shell) FlashText(r *http.Request, text string) {
	if fromScript(r) {
		return
	}
	s.sessions.manager.Put(r.Context(), flashKey, text)
}
