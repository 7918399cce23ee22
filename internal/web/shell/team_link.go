package shell

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"pressroom/internal/core/pipeline"
	"pressroom/internal/domain/team"
)

// led has an address that names a team lead to the page as that team has it, which is looked at from then on: so lead
// the answers of the API. To whoever is not of the team the page is not there. Whoever is not signed in is asked to
// first, by the page.
func (f *Frame) led(pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, query := VisitorOf(r.Context()), r.URL.Query()
		if v == nil || r.Method != http.MethodGet || !query.Has(pipeline.TeamParam) {
			pages.ServeHTTP(w, r)
			return
		}
		id, err := strconv.ParseInt(query.Get(pipeline.TeamParam), 10, 64)
		at := slices.IndexFunc(v.Teams, func(t team.OwnTeam) bool { return t.ID == id })
		if err != nil || at < 0 {
			f.Missing(w, r)
			return
		}
		query.Del(pipeline.TeamParam)
		to := OwnPath((&url.URL{Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: query.Encode()}).String())
		if v.Team.ID == id {
			Redirect(w, r, to)
			return
		}
		f.Turn(w, r, v.Teams[at], to)
	})
}

// turning is the page that asks before another team is looked at.
type turning struct {
	Team team.OwnTeam
	Next string
}

// Turn leads a person to a page of another of their teams, which is looked at from then on. A link on another site
// must not change what a session works in, so it leads to a page that asks first (Fetch Metadata Request Headers, W3C).
func (f *Frame) Turn(w http.ResponseWriter, r *http.Request, to team.OwnTeam, page string) {
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
		f.Show(w, r, http.StatusOK, turns, "Switch team", turning{to, page})
		return
	}
	f.LookAt(r.Context(), to.ID)
	f.Say(r, "This is of the team "+to.Name+": you look at that team now.")
	Redirect(w, r, page)
}
