package shell

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// recentWindow is how long an authentication counts as recent.
const recentWindow = 15 * time.Minute

// authenticatedKey is the session key for the time of the last authentication, in microseconds. That time may precede
// the session: a directory can sign in a person silently, long after the person entered a password there.
const authenticatedKey = "proved"

// RecentlyAuthenticated reports whether the visitor authenticated within the last 15 minutes. Sensitive actions require
// it to protect against the use of an unattended browser (OWASP ASVS 5.0, section 7.5).
func (s *Shell) RecentlyAuthenticated(ctx context.Context) bool {
	authenticatedAt := s.AuthenticatedAt(ctx)
	return !authenticatedAt.IsZero() && s.DB.Now().Sub(authenticatedAt) < recentWindow
}

// AuthenticatedAt returns when the visitor last authenticated, or the zero time if that is unknown.
func (s *Shell) AuthenticatedAt(ctx context.Context) time.Time {
	if micros := s.sessions.manager.GetInt64(ctx, authenticatedKey); micros > 0 {
		return db.Time(micros)
	}
	return time.Time{}
}

// StepUp redirects the visitor to sign in again, and then to a page. If form is not nil, StepUp saves it in the session
// for that page to restore. If another person signs in, the saved form is deleted.
func (s *Shell) StepUp(w http.ResponseWriter, r *http.Request, page string, form url.Values) {
	query := url.Values{"again": {"1"}, "next": {page}}
	if form != nil {
		path, _, _ := strings.Cut(page, "?")
		s.Put(r.Context(), savedFormKey, []byte(path+"\n"+form.Encode()))
	} else if r.Method != http.MethodGet {
		query.Set("undone", "1")
	}
	Redirect(w, r, "/sign-in?"+query.Encode())
}

// HasSavedForm reports whether a form is saved in the session for a page.
func (s *Shell) HasSavedForm(ctx context.Context, page string) bool {
	savedPath, _, found := strings.Cut(string(s.sessions.manager.GetBytes(ctx, valuePrefix+savedFormKey)), "\n")
	path, _, _ := strings.Cut(page, "?")
	return found && savedPath == path
}

// stepUp is like StepUp, for a route. If no page can restore the form, the visitor returns to the page that sent it.
func (s *Shell) stepUp(w http.ResponseWriter, r *http.Request, route Route) {
	back, form := route.restorePath(r), peekForm(r)
	switch {
	case r.Method == http.MethodGet && route.Page != "":
		s.StepUp(w, r, route.pagePath(r), nil)
	case r.Method == http.MethodGet:
		s.StepUp(w, r, r.URL.RequestURI(), nil)
	case back != "" && form != nil && len(form.Encode()) <= maxSavedForm:
		s.StepUp(w, r, back, form)
	default:
		s.StepUp(w, r, s.refererPath(r), nil)
	}
}
