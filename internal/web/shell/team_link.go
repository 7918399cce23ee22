package shell

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"pressroom.example/pressroom/internal/core/pipeline"
	"pressroom.example/pressroom/internal/domain/team"
)

// followTeamLink wraps the pages. Links in API responses name a team in their query. A GET request with such a query
// selects the team and redirects to the same page without that parameter. If the visitor is not in the team,
// followTeamLink responds with 404. Pages handle signed-out visitors themselves.
func (s *Shell) followTeamLink(pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, query := VisitorOf(r.Context()), r.URL.Query()
		if v == nil || r.Method != http.MethodGet || !query.Has(pipeline.TeamParam) {
			pages.ServeHTTP(w, r)
			return
		}
		id, err := strconv.ParseInt(query.Get(pipeline.TeamParam), 10, 64)
		i := slices.IndexFunc(v.Teams, func(t team.OwnTeam) bool { return t.ID == id })
		if err != nil || i < 0 {
			s.NotFound(w, r)
			return
		}
		query.Del(pipeline.TeamParam)
		target := LocalPath((&url.URL{Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: query.Encode()}).String())
		if v.Team.ID == id {
			Redirect(w, r, target)
			return
		}
		s.SwitchTeam(w, r, v.Teams[i], target)
	})
}

// switchView is the page that asks a person to confirm a switch to another team.
type switchView struct {
	Team team.OwnTeam
	Next string // path of the page to open afterwards
}

// SwitchTeam selects another of the visitor's teams and redirects to a page of that team. A link on another site must
// not change the selected team, so it leads to a confirmation page instead (Fetch Metadata Request Headers, W3C).
func (s *Shell) SwitchTeam(w http.ResponseWriter, r *http.Request, newTeam team.OwnTeam, page string) {
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
		s.Show(w, r, http.StatusOK, switchPage, "Switch team", switchView{newTeam, page})
		return
	}
	s.SetTeam(r.Context(), newTeam.ID)
	s.Flash(r, "You switched to the team %s.", newTeam.Name)
	Redirect(w, r, page)
}
