package shell

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"pressroom/internal/platform/db"
)

// fresh is how long an authentication counts as recent.
const fresh = 15 * time.Minute

// provedKey names when the person last authenticated, in microseconds. It is not the start of the session: a directory
// may sign somebody in silently, long after the person last entered a password there.
const provedKey = "proved"

// Fresh reports whether the visitor authenticated within the last 15 minutes, so that nobody else acts at a browser
// left alone (OWASP ASVS 5.0, section 7.5).
func (f *Frame) Fresh(ctx context.Context) bool {
	proved := f.ProvedAt(ctx)
	return !proved.IsZero() && f.DB.Now().Sub(proved) < fresh
}

// ProvedAt returns when the visitor last authenticated; zero if unknown.
func (f *Frame) ProvedAt(ctx context.Context) time.Time {
	if proved := f.sessions.manager.GetInt64(ctx, provedKey); proved > 0 {
		return db.Time(proved)
	}
	return time.Time{}
}

// StepUp sends the visitor to sign in again and then to a page, and does nothing else. A form that the page takes back
// by Resumed is kept in the session, which ends if another person signs in.
func (f *Frame) StepUp(w http.ResponseWriter, r *http.Request, page string, form url.Values) {
	query := url.Values{"again": {"1"}, "next": {page}}
	if form != nil {
		path, _, _ := strings.Cut(page, "?")
		f.Keep(r.Context(), resumeKept, []byte(path+"\n"+form.Encode()))
	} else if r.Method != http.MethodGet {
		query.Set("undone", "1")
	}
	Redirect(w, r, "/sign-in?"+query.Encode())
}

// Resuming reports whether a form is kept for a page.
func (f *Frame) Resuming(ctx context.Context, page string) bool {
	kept, _, found := strings.Cut(string(f.sessions.manager.GetBytes(ctx, keptKey+resumeKept)), "\n")
	path, _, _ := strings.Cut(page, "?")
	return found && kept == path
}

// stepUp is StepUp for a route. A form without a page that takes it back returns to the page on which it was sent.
func (f *Frame) stepUp(w http.ResponseWriter, r *http.Request, route Route) {
	back, form := route.back(r), peek(r)
	switch {
	case r.Method == http.MethodGet && route.Page != "":
		f.StepUp(w, r, route.page(r), nil)
	case r.Method == http.MethodGet:
		f.StepUp(w, r, r.URL.RequestURI(), nil)
	case back != "" && form != nil && len(form.Encode()) <= maxResumed:
		f.StepUp(w, r, back, form)
	default:
		f.StepUp(w, r, f.cameFrom(r), nil)
	}
}
