package frame

import (
	"net/http"
	"net/url"
	"strings"
)

// MaxForm is how many bytes a usual form may have.
const MaxForm = 16 << 10

// ReadForm reads a form of at most MaxForm bytes, or says what is wrong with it.
func (f *Frame) ReadForm(w http.ResponseWriter, r *http.Request) bool {
	return f.ReadLongForm(w, r, MaxForm)
}

// ReadLongForm is ReadForm with a bound of its own.
func (f *Frame) ReadLongForm(w http.ResponseWriter, r *http.Request, most int64) bool {
	r.Body = http.MaxBytesReader(w, r.Body, most)
	if err := r.ParseForm(); err != nil {
		f.Notice(w, r, http.StatusBadRequest, "Not done", "This form cannot be read.")
		return false
	}
	return true
}

// ForPeople sends whoever is not signed in to the sign-in page and back.
func (f *Frame) ForPeople(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if VisitorOf(r.Context()) != nil {
			next(w, r)
			return
		}
		back := "/"
		if r.Method == http.MethodGet {
			back = r.URL.RequestURI()
		}
		Redirect(w, r, "/sign-in?"+url.Values{"next": {back}}.Encode())
	}
}

// Redirect leads to a page of ours, which the browser asks for by GET.
func Redirect(w http.ResponseWriter, r *http.Request, path string) {
	http.Redirect(w, r, path, http.StatusSeeOther) //nolint:gosec // OwnPath has seen what came from the request
}

// maxNext is as long as an address of ours gets.
const maxNext = 2000

// OwnPath is where to go after signing in: a path of this very site, else the first page.
func OwnPath(next string) string {
	u, err := url.Parse(next)
	switch {
	case err != nil || len(next) > maxNext || !isOwn(next) || !isOwn(u.Path):
		return "/"
	case u.Path == "/sign-in" || u.Path == "/sign-out":
		return "/"
	}
	return (&url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery}).String()
}

// isOwn tells whether a browser takes a text for a path: it reads \ as /, and drops control characters.
func isOwn(path string) bool {
	foreign := func(c rune) bool { return c < ' ' || c == 0x7f || c == '\\' }
	return strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "//") && !strings.ContainsFunc(path, foreign)
}
