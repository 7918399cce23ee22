package shell

import (
	"context"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// MaxForm is how many bytes a usual form may have.
const MaxForm = 16 << 10

// ReadForm reads a form of at most MaxForm bytes, or says what is wrong with it.
func (f *Frame) ReadForm(w http.ResponseWriter, r *http.Request) bool {
	return f.ReadLongForm(w, r, MaxForm)
}

// ReadLongForm is ReadForm with a bound of its own. Fields are read from r.PostForm: there they hold nothing but text.
func (f *Frame) ReadLongForm(w http.ResponseWriter, r *http.Request, most int64) bool {
	r.Body = http.MaxBytesReader(w, r.Body, most)
	if err := r.ParseForm(); err != nil {
		f.Notice(w, r, http.StatusBadRequest, "Not done", "This form cannot be read.")
		return false
	}
	mend(r.PostForm)
	return true
}

// ForPeople sends whoever is not signed in to the sign-in page and back.
func (f *Frame) ForPeople(next http.HandlerFunc) http.HandlerFunc {
	return f.forPeople(Route{}.back, next)
}

// forPeople is ForPeople; a form that a page takes back goes along to the sign-in page.
func (f *Frame) forPeople(back func(*http.Request) string, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch {
		case VisitorOf(r.Context()) != nil:
			next(w, r)
		case r.Method == http.MethodGet:
			Redirect(w, r, "/sign-in?"+url.Values{"next": {r.URL.RequestURI()}}.Encode())
		case back(r) != "" && !sendsFiles(r):
			http.Redirect(w, r, "/sign-in?"+url.Values{"next": {back(r)}, "resume": {"1"}}.Encode(),
				http.StatusTemporaryRedirect)
		default:
			Redirect(w, r, "/sign-in?"+url.Values{"next": {f.cameFrom(r)}, "undone": {"1"}}.Encode())
		}
	}
}

// cameFrom is the page of ours on which a form was sent. A form that was refused stands at the address that it is sent
// to, which may show nothing by itself: then it is the first page.
func (f *Frame) cameFrom(r *http.Request) string {
	from, err := url.Parse(r.Referer())
	own, broken := url.Parse(f.PublicURL)
	if err != nil || from.Host != r.Host && (broken != nil || from.Host != own.Host) {
		return "/"
	}
	if _, shows := f.known.Handler(&http.Request{Method: http.MethodGet, URL: &url.URL{Path: from.Path}}); shows == "" {
		return "/"
	}
	return OwnPath(from.RequestURI())
}

func sendsFiles(r *http.Request) bool {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return kind == "multipart/form-data"
}

const resumeKept = "form"

// maxResumed is how many bytes a form may have that a session keeps until its page takes it back.
const maxResumed = 512 << 10

// Resume keeps what was sent to a path without a session, until Resumed takes it. It looks at the team that the form
// was shown for.
func (f *Frame) Resume(ctx context.Context, path string, form url.Values) {
	f.Keep(ctx, resumeKept, []byte(path+"\n"+form.Encode()))
	if team, err := strconv.ParseInt(form.Get(TeamField), 10, 64); err == nil {
		f.LookAt(ctx, team)
	}
}

// Resumed gives what Resume has kept for the page that is asked for, once; nil where that is nothing.
func (f *Frame) Resumed(r *http.Request) url.Values {
	kept := f.Take(r.Context(), resumeKept)
	path, text, found := strings.Cut(string(kept), "\n")
	if !found {
		return nil
	}
	if path != r.URL.Path {
		f.Keep(r.Context(), resumeKept, kept)
		return nil
	}
	form, err := url.ParseQuery(text)
	if err != nil { // written by us
		return nil
	}
	mend(form)
	return form
}

// Redirect leads to a page of ours, which the browser asks for by GET.
func Redirect(w http.ResponseWriter, r *http.Request, path string) {
	http.Redirect(w, r, path, http.StatusSeeOther) //nolint:gosec // OwnPath has seen what came from the request
}

// MaxNext is as long as an address of ours gets.
const MaxNext = 4000

// OwnPath is where to go after signing in: a path of this very site, else the first page.
func OwnPath(next string) string {
	u, err := url.Parse(next)
	switch {
	case err != nil || len(next) > MaxNext || !isOwn(next) || !isOwn(u.Path):
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
