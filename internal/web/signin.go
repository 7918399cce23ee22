package web

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pressroom/internal/fault"
	"pressroom/internal/problem"
	"pressroom/internal/team"
)

// maxForm is how many bytes a form may have.
const maxForm = 16 << 10

// signInForm is what the sign-in page shows. The password is never shown again.
type signInForm struct{ Email, Next, Wrong string }

func (a *App) signInPage(w http.ResponseWriter, r *http.Request) {
	next := ownPath(r.URL.Query().Get("next"))
	if visitorOf(r.Context()) != nil {
		redirect(w, r, next)
		return
	}
	a.show(w, r, http.StatusOK, "signin", "Sign in", signInForm{Next: next})
}

func (a *App) signIn(w http.ResponseWriter, r *http.Request) {
	if !a.readForm(w, r) {
		return
	}
	form := signInForm{Email: r.PostForm.Get("email"), Next: ownPath(r.PostForm.Get("next"))}
	ctx := r.Context()
	person, err := a.signIns.SignIn(ctx, team.Attempt{Email: form.Email, Password: r.PostForm.Get("password"), From: a.proxies.client(r)})
	if err != nil {
		a.refuseSignIn(w, r, form, err)
		return
	}
	// Another token than before: one that somebody planted in this browser must not become signed in.
	if err := a.sessions.manager.RenewToken(ctx); err != nil {
		a.broken(w, r, err)
		return
	}
	a.sessions.manager.Put(ctx, personKey, person.ID)
	redirect(w, r, form.Next)
}

func (a *App) refuseSignIn(w http.ResponseWriter, r *http.Request, form signInForm, err error) {
	f := fault.Of(err)
	if f.Code == fault.Internal {
		a.refuse(w, r, err)
		return
	}
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(f.RetryAfter/time.Second)))
	}
	form.Wrong = f.Detail
	a.show(w, r, statusOf(err), "signin", "Sign in", form)
}

func (a *App) signOut(w http.ResponseWriter, r *http.Request) {
	if err := a.sessions.manager.Destroy(r.Context()); err != nil {
		a.broken(w, r, err)
		return
	}
	redirect(w, r, "/")
}

// readForm reads a small form, or says what is wrong with it.
func (a *App) readForm(w http.ResponseWriter, r *http.Request) bool {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		a.show(w, r, http.StatusBadRequest, "notice", "Not done", notice{"This form cannot be read."})
		return false
	}
	return true
}

// forPeople sends whoever is not signed in to the sign-in page and back.
func (a *App) forPeople(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if visitorOf(r.Context()) != nil {
			next(w, r)
			return
		}
		back := "/"
		if r.Method == http.MethodGet {
			back = r.URL.RequestURI()
		}
		redirect(w, r, "/sign-in?"+url.Values{"next": {back}}.Encode())
	}
}

// redirect leads to a page of ours, which the browser asks for by GET.
func redirect(w http.ResponseWriter, r *http.Request, path string) {
	http.Redirect(w, r, path, http.StatusSeeOther) //nolint:gosec // ownPath has seen what came from the request
}

// maxNext is as long as an address of ours gets.
const maxNext = 2000

// ownPath is where to go after signing in: a path of this very site, else the first page.
func ownPath(next string) string {
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

// statusOf is the HTTP status of a refusal.
func statusOf(err error) int { return problem.Of(err, "").Status }
