package web

import (
	"net/http"
	"strconv"
	"time"

	"pressroom/internal/fault"
	"pressroom/internal/team"
	"pressroom/internal/web/frame"
)

// signInForm is what the sign-in page shows. The password is never shown again.
type signInForm struct{ Email, Next, Wrong string }

func (a *App) signInPage(w http.ResponseWriter, r *http.Request) {
	next := frame.OwnPath(r.URL.Query().Get("next"))
	if frame.VisitorOf(r.Context()) != nil {
		frame.Redirect(w, r, next)
		return
	}
	a.Show(w, r, http.StatusOK, pages["signin"], "Sign in", signInForm{Next: next})
}

func (a *App) signIn(w http.ResponseWriter, r *http.Request) {
	if !a.ReadForm(w, r) {
		return
	}
	form := signInForm{Email: r.PostForm.Get("email"), Next: frame.OwnPath(r.PostForm.Get("next"))}
	person, err := a.signIns.SignIn(r.Context(), team.Attempt{Email: form.Email, Password: r.PostForm.Get("password"), From: a.Client(r)})
	if err != nil {
		a.refuseSignIn(w, r, form, err)
		return
	}
	if err := a.SignIn(r.Context(), person.ID); err != nil {
		a.Broken(w, r, err)
		return
	}
	frame.Redirect(w, r, form.Next)
}

func (a *App) refuseSignIn(w http.ResponseWriter, r *http.Request, form signInForm, err error) {
	f := fault.Of(err)
	if f.Code == fault.Internal {
		a.Refuse(w, r, err)
		return
	}
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(f.RetryAfter/time.Second)))
	}
	form.Wrong = f.Detail
	a.Show(w, r, frame.StatusOf(err), pages["signin"], "Sign in", form)
}

func (a *App) signOut(w http.ResponseWriter, r *http.Request) {
	if err := a.SignOut(r.Context()); err != nil {
		a.Broken(w, r, err)
		return
	}
	frame.Redirect(w, r, "/")
}
