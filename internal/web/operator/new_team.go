package operator

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/teamtime"
	"pressroom.example/pressroom/internal/web/settings"
	"pressroom.example/pressroom/internal/web/shell"
)

// newTeamView is the form for a new team. Form holds its values.
type newTeamView struct {
	Plans     []string
	Zones     []teamtime.ZoneOption
	Languages []settings.ContentLanguage
	Form      url.Values
	Error     string
}

func (h *Handlers) newTeamPage(w http.ResponseWriter, r *http.Request) {
	form := h.SavedForm(r)
	if form == nil {
		v := shell.VisitorOf(r.Context())
		form = url.Values{"owner": {v.Email}, "timezone": {"UTC"}, "language": {"en"}, "plan": {"team"}}
		if v.Team.ID > 0 {
			form.Set("timezone", v.Team.Timezone)
		}
	}
	h.showNewTeam(w, r, http.StatusOK, newTeamView{Form: form})
}

func (h *Handlers) showNewTeam(w http.ResponseWriter, r *http.Request, status int, view newTeamView) {
	view.Plans, view.Zones, view.Languages = h.Teams.Plans(), teamtime.ZoneOptions(h.DB.Now()), settings.ContentLanguages()
	h.Show(w, r, status, pages["newteam"], "New team", view)
}

// addTeam creates a team and redirects to its page.
func (h *Handlers) addTeam(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	f := r.PostForm
	created, err := h.Teams.AddTeamForOwner(r.Context(), shell.VisitorOf(r.Context()).ID, team.Team{
		Name: f.Get("name"), Timezone: f.Get("timezone"), Language: f.Get("language"), Plan: f.Get("plan"),
	}, f.Get("owner"))
	if err != nil {
		if text, status, ok := h.formError(w, r, err); ok {
			h.showNewTeam(w, r, status, newTeamView{Form: f, Error: text})
		}
		return
	}
	message := h.T(r, "The team was created. Its owner finds it in the team menu.")
	if strings.EqualFold(strings.TrimSpace(f.Get("owner")), shell.VisitorOf(r.Context()).Email) {
		message = h.T(r, "The team was created.")
	}
	h.finish(w, r, message, fmt.Sprintf("/operator/teams/%d?created=1", created.ID))
}
