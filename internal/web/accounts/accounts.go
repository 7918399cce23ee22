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
func (p *Handlers) Routes() []shell.Route {
	return []shell.Route{
		{Pattern: "GET /analytics", Audience: shell.Members, Handler: p.overview},
		{Pattern: "GET /analytics/figures.csv", Audience: shell.Members, Handler: p.exportOverview},
		{Pattern: "GET /accounts", Audience: shell.Members, Handler: p.list},
		{Pattern: "POST /accounts/connect", Audience: shell.Managers, Handler: p.connect},
		{Pattern: "GET /accounts/{id}", Audience: shell.Members, Handler: p.withAccount(p.page)},
		{Pattern: "GET /accounts/{id}/picture", Audience: shell.Members, Handler: p.picture},
		{Pattern: "GET /accounts/{id}/figures.csv", Audience: shell.Members, Handler: p.withAccount(p.export)},
		{Pattern: "POST /accounts/{id}/connect", Audience: shell.Managers, Handler: p.withAccount(p.reconnect)},
		{Pattern: "GET /accounts/{id}/disconnect", Audience: shell.Managers, Handler: p.withAccount(p.disconnectPage)},
		{Pattern: "POST /accounts/{id}/disconnect", Audience: shell.Managers, Handler: p.withAccount(p.disconnect)},
	}
}

// withAccount returns a handler that calls do with the account whose ID is in the path. If the account belongs to
// another of the person's teams, a GET request switches to that team.
func (p *Handlers) withAccount(do func(w http.ResponseWriter, r *http.Request, a account.Account)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, v := r.Context(), shell.VisitorOf(r.Context())
		id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
		if err != nil {
			p.NotFound(w, r)
			return
		}
		team, err := p.connector.Accounts.FindTeam(ctx, id)
		switch {
		case err != nil:
			p.ShowError(w, r, err)
			return
		case team != v.Team.ID && r.Method == http.MethodGet && shell.TeamOrFirst(v.Account, team).ID == team:
			p.SwitchTeam(w, r, shell.TeamOrFirst(v.Account, team), r.URL.RequestURI())
			return
		case team != v.Team.ID:
			p.NotFound(w, r)
			return
		}
		accounts, err := p.connector.Accounts.ByID(ctx, p.DB, team, []int64{id})
		if err != nil {
			p.ShowError(w, r, err)
			return
		}
		if _, there := accounts[id]; !there {
			p.NotFound(w, r) // disconnected
			return
		}
		do(w, r, accounts[id])
	}
}

// actor returns the visitor as the actor of an operation in the selected team.
func (p *Handlers) actor(r *http.Request) (*access.Actor, error) {
	v := shell.VisitorOf(r.Context())
	return p.Teams.InApp(r.Context(), v.ID, v.Team.ID)
}

// formError returns the text of an error that the page shows. For a server error or not_found, it writes the error
// response and returns false.
func (p *Handlers) formError(w http.ResponseWriter, r *http.Request, err error) (string, bool) {
	f := apierr.FromError(err)
	if f.IsServerError() || f.Code == apierr.NotFound {
		p.ShowError(w, r, err)
		return "", false
	}
	return p.Detail(r, err), true
}
