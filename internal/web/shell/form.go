package shell

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// MaxForm is the maximum size of an ordinary form in bytes.
const MaxForm = 16 << 10

// ReadForm parses a form of at most MaxForm bytes and reports whether it succeeded. If not, it writes the error
// response.
func (s *Shell) ReadForm(w http.ResponseWriter, r *http.Request) bool {
	return s.ReadLongForm(w, r, MaxForm)
}

// ReadLongForm is like ReadForm, but for forms of at most limit bytes. Read the fields from r.PostForm, which contains
// only valid text. ReadLongForm rejects forms with files.
func (s *Shell) ReadLongForm(w http.ResponseWriter, r *http.Request, limit int64) bool {
	r.Body = http.MaxBytesReader(w, r.Body, limit)
	if err := r.ParseForm(); err != nil || SendsFiles(r) {
		s.ShowMessage(w, r, http.StatusBadRequest, "Action not completed", formText)
		return false
	}
	CleanForm(r.PostForm)
	return true
}

// RequireSignIn wraps a handler for signed-in visitors. It redirects others to the sign-in page, which later redirects
// back.
func (s *Shell) RequireSignIn(next http.HandlerFunc) http.HandlerFunc {
	return s.requireSignIn(Route{}.restorePath, next)
}

// requireSignIn is like RequireSignIn, but keeps a submitted form if returnPath returns the path of a page that can
// restore it.
func (s *Shell) requireSignIn(returnPath func(*http.Request) string, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch {
		case VisitorOf(r.Context()) != nil:
			next(w, r)
		case r.Method == http.MethodGet:
			Redirect(w, r, "/sign-in?"+url.Values{"next": {r.URL.RequestURI()}}.Encode())
		case returnPath(r) != "":
			http.Redirect(w, r, "/sign-in?"+url.Values{"next": {returnPath(r)}, "resume": {"1"}}.Encode(),
				http.StatusTemporaryRedirect)
		default:
			Redirect(w, r, "/sign-in?"+url.Values{"next": {s.refererPath(r)}, "undone": {"1"}}.Encode())
		}
	}
}

// refererPath returns the path of the page that submitted a form. It returns the path of the home page if the page is
// unknown or has no GET route. For example, a form that is shown again after an error is on a page with the path of the
// form's action.
func (s *Shell) refererPath(r *http.Request) string {
	referer, err := url.Parse(r.Referer())
	publicURL, publicErr := url.Parse(s.PublicURL)
	if err != nil || referer.Host != r.Host && (publicErr != nil || referer.Host != publicURL.Host) {
		return "/"
	}
	if _, pattern := s.routeMux.Handler(&http.Request{Method: http.MethodGet, URL: &url.URL{Path: referer.Path}}); pattern == "" {
		return "/"
	}
	return LocalPath(referer.RequestURI())
}

const savedFormKey = "form"

// maxSavedForm is the maximum size in bytes of a form saved in a session.
const maxSavedForm = 512 << 10

// SaveForm saves a form in the session until SavedForm returns it on the page with the given path. It also selects the
// form's team.
func (s *Shell) SaveForm(ctx context.Context, path string, form url.Values) {
	s.Put(ctx, savedFormKey, []byte(path+"\n"+form.Encode()))
	if team, err := strconv.ParseInt(form.Get(TeamField), 10, 64); err == nil {
		s.SetTeam(ctx, team)
	}
}

// SavedForm returns the form that was saved for the requested page and deletes it from the session. It returns nil if
// there is none. If input is missing from the form, SavedForm sets a message that says so.
func (s *Shell) SavedForm(r *http.Request) url.Values {
	saved := s.Pop(r.Context(), savedFormKey)
	path, text, found := strings.Cut(string(saved), "\n")
	if !found {
		return nil
	}
	if path != r.URL.Path {
		s.Put(r.Context(), savedFormKey, saved)
		return nil
	}
	form, err := url.ParseQuery(text)
	if err != nil { // unreachable: SaveForm encoded it
		return nil
	}
	CleanForm(form)
	if missing := missingText(s.Language(r), form); missing != "" {
		s.FlashText(r, strings.TrimSpace(s.sessions.manager.PopString(r.Context(), flashKey)+" "+missing))
	}
	return form
}

// Redirect redirects to a local page with status 303.
func Redirect(w http.ResponseWriter, r *http.Request, path string) {
	http.Redirect(w, r, path, http.StatusSeeOther) //nolint:gosec // LocalPath checked paths from requests
}

// MaxNext is the maximum length of a local path.
const MaxNext = 4000

// LocalPath returns next without its fragment if it is a path on this site. It returns "/" otherwise, and for the paths
// of sign-in and sign-out.
func LocalPath(next string) string {
	u, err := url.Parse(next)
	switch {
	case err != nil || len(next) > MaxNext || !isLocal(next) || !isLocal(u.Path):
		return "/"
	case u.Path == "/sign-in" || u.Path == "/sign-out":
		return "/"
	}
	return (&url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery}).String()
}

// isLocal reports whether browsers treat a string as a local path. Browsers read \ as / and drop control characters.
func isLocal(path string) bool {
	isForbidden := func(c rune) bool { return c < ' ' || c == 0x7f || c == '\\' }
	return strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "//") && !strings.ContainsFunc(path, isForbidden)
}
