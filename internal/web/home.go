package web

import (
	"net/http"
	"strconv"

	"pressroom/internal/problem"
)

// front is what everybody sees.
type front struct{ PublicURL string }

func (a *App) home(w http.ResponseWriter, r *http.Request) {
	if visitorOf(r.Context()) == nil {
		a.show(w, r, http.StatusOK, "front", "pressroom", front{a.opts.PublicURL})
		return
	}
	a.show(w, r, http.StatusOK, "home", "Your teams", front{a.opts.PublicURL})
}

func (a *App) errorReference(w http.ResponseWriter, r *http.Request) {
	a.show(w, r, http.StatusOK, "errors", "Error reference", problem.Entries())
}

// switchTeam changes which team the person looks at.
func (a *App) switchTeam(w http.ResponseWriter, r *http.Request) {
	if !a.readForm(w, r) {
		return
	}
	id, err := strconv.ParseInt(r.PostForm.Get("team"), 10, 64)
	if v := visitorOf(r.Context()); err != nil || lookedAt(v.Account, id).ID != id {
		a.missing(w, r)
		return
	}
	a.sessions.manager.Put(r.Context(), teamKey, id)
	redirect(w, r, "/")
}
