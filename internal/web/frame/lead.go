package frame

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"pressroom/internal/pipeline"
	"pressroom/internal/team"
)

// led has an address that names a team lead to the page as that team has it, which is looked at from then on: so lead
// the answers of the API. To whoever is not of the team the page is not there. Whoever is not signed in is asked to
// first, by the page.
func (f *Frame) led(pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, query := VisitorOf(r.Context()), r.URL.Query()
		if v == nil || r.Method != http.MethodGet || !query.Has(pipeline.OfTeam) {
			pages.ServeHTTP(w, r)
			return
		}
		id, err := strconv.ParseInt(query.Get(pipeline.OfTeam), 10, 64)
		at := slices.IndexFunc(v.Teams, func(t team.OwnTeam) bool { return t.ID == id })
		if err != nil || at < 0 {
			f.Missing(w, r)
			return
		}
		if v.Team.ID != id {
			f.LookAt(r.Context(), id)
			f.Say(r, "This is of the team "+v.Teams[at].Name+": you look at that team now.")
		}
		query.Del(pipeline.OfTeam)
		Redirect(w, r, OwnPath((&url.URL{Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: query.Encode()}).String()))
	})
}
