// Package accounts serves the pages of a team's connected accounts: the list with the state of each connection,
// disconnecting, and account analytics.
package accounts

import (
	"embed"
	"net/http"
	"strconv"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/analytics"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/web/shell"
)

//go:embed templates/*.html
var files embed.FS

var pages = shell.Parse(files, shell.Data{
	"account": view{}, "leave": disconnectView{}, "list": listView{}, "overview": overviewView{},
}, nil, templateFuncs)

// Handlers serves the account pages.
type Handlers struct {
	*shell.Shell

	connector *account.Connector
	posts     *post.Service
	analytics *analytics.Service
}

// New returns the handlers.
func New(sh *shell.Shell, connector *account.Connector, posts *post.Service, stats *analytics.Service) *Handlers {
	return &Handlers{sh, connector, posts, stats}
}

// Routes returns the routes of the pages.
func (h *Handlers) Routes() []shell.Route {
	return []shell.Route{
		{Pattern: "GET /analytics", Audience: shell.Members, Handler: h.overview},
		{Pattern: "GET /analytics/figures.csv", Audience: shell.Members, Handler: h.exportOverview},
		{Pattern: "GET /accounts", Audience: shell.Members, Handler: h.list},
		{Pattern: "POST /accounts/connect", Audience: shell.Managers, Handler: h.connect},
		{Pattern: "GET /accounts/{id}", Audience: shell.Members, Handler: h.withAccount(h.page)},
		{Pattern: "GET /accounts/{id}/picture", Audience: shell.Members, Handler: h.picture},
		{Pattern: "GET /accounts/{id}/figures.csv", Audience: shell.Members, Handler: h.withAccount(h.export)},
		{Pattern: "POST /accounts/{id}/connect", Audience: shell.Managers, Handler: h.withAccount(h.reconnect)},
		{Pattern: "GET /accounts/{id}/disconnect", Audience: shell.Managers, Handler: h.withAccount(h.disconnectPage)},
		{Pattern: "POST /accounts/{id}/disconnect", Audience: shell.Managers, Handler: h.withAccount(h.disconnect)},
	}
}

// withAccount returns a handler that calls next with the account whose ID is in the path. If the account belongs to
// another of the person's teams, a GET request switches to that team.
func (h *Handlers) withAccount(next func(w http.ResponseWriter, r *http.Request, a account.Account)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, v := r.Context(), shell.VisitorOf(r.Context())
		id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
		if err != nil {
			h.NotFound(w, r)
			return
		}
		teamID, err := h.connector.Accounts.FindTeam(ctx, id)
		switch {
		case err != nil:
			h.ShowError(w, r, err)
			return
		case teamID != v.Team.ID && r.Method == http.MethodGet && shell.TeamOrFirst(v.Account, teamID).ID == teamID:
			h.SwitchTeam(w, r, shell.TeamOrFirst(v.Account, teamID), r.URL.RequestURI())
			return
		case teamID != v.Team.ID:
			h.NotFound(w, r)
			return
		}
		accounts, err := h.connector.Accounts.ByID(ctx, h.DB, teamID, []int64{id})
		if err != nil {
			h.ShowError(w, r, err)
			return
		}
		if _, ok := accounts[id]; !ok {
			h.NotFound(w, r) // disconnected
			return
		}
		next(w, r, accounts[id])
	}
}

// actor returns the visitor as the actor of an operation in the selected team.
func (h *Handlers) actor(r *http.Request) (*access.Actor, error) {
	v := shell.VisitorOf(r.Context())
	return h.Teams.InApp(r.Context(), v.ID, v.Team.ID)
}

// formError returns the text of an error that the page shows. For a server error or not_found, it writes the error
// response and returns false.
func (h *Handlers) formError(w http.ResponseWriter, r *http.Request, err error) (string, bool) {
	apiErr := apierr.FromError(err)
	if apiErr.IsServerError() || apiErr.Code == apierr.NotFound {
		h.ShowError(w, r, err)
		return "", false
	}
	return h.Detail(r, err), true
}
