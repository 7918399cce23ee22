package web

import (
	"net/http"
	"strconv"

	"pressroom/internal/problem"
	"pressroom/internal/web/frame"
)

// front is what everybody sees.
type front struct{ PublicURL string }

func (a *App) home(w http.ResponseWriter, r *http.Request) {
	if frame.VisitorOf(r.Context()) == nil {
		a.Show(w, r, http.StatusOK, pages["front"], "pressroom", front{a.PublicURL})
		return
	}
	a.Show(w, r, http.StatusOK, pages["home"], "Your teams", front{a.PublicURL})
}

func (a *App) errorReference(w http.ResponseWriter, r *http.Request) {
	a.Show(w, r, http.StatusOK, pages["errors"], "Error reference", problem.Entries())
}

// switchTeam changes which team the person looks at.
func (a *App) switchTeam(w http.ResponseWriter, r *http.Request) {
	if !a.ReadForm(w, r) {
		return
	}
	id, err := strconv.ParseInt(r.PostForm.Get("team"), 10, 64)
	if v := frame.VisitorOf(r.Context()); err != nil || frame.LookedAt(v.Account, id).ID != id {
		a.Missing(w, r)
		return
	}
	a.LookAt(r.Context(), id)
	frame.Redirect(w, r, "/")
}
