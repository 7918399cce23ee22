// Package accounts is the pages of a team's connected accounts: how each connection stands, connecting and
// disconnecting one, and what the networks tell of an account's own posts.
package accounts

import (
	"embed"
	"net/http"
	"strconv"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
	"pressroom/internal/domain/account"
	"pressroom/internal/domain/analytics"
	"pressroom/internal/domain/post"
	"pressroom/internal/web/shell"
)

//go:embed templates/*.html
var files embed.FS

var pages = shell.Parse(files, words)

// Part is these pages.
type Part struct {
	*shell.Frame

	connector *account.Connector
	posts     *post.Service
	insight   *analytics.Service
}

// New makes them.
func New(f *shell.Frame, connector *account.Connector, posts *post.Service, figures *analytics.Service) *Part {
	return &Part{f, connector, posts, figures}
}

// Routes are their addresses.
func (p *Part) Routes() []shell.Route {
	return []shell.Route{
		{Pattern: "GET /accounts", For: shell.Members, Do: p.list},
		{Pattern: "POST /accounts/connect", For: shell.Managers, Do: p.connect},
		{Pattern: "GET /accounts/{id}", For: shell.Members, Do: p.at(p.page)},
		{Pattern: "GET /accounts/{id}/figures.csv", For: shell.Members, Do: p.at(p.export)},
		{Pattern: "POST /accounts/{id}/connect", For: shell.Managers, Do: p.at(p.again)},
		{Pattern: "GET /accounts/{id}/disconnect", For: shell.Managers, Do: p.at(p.leavePage)},
		{Pattern: "POST /accounts/{id}/disconnect", For: shell.Managers, Do: p.at(p.leave)},
	}
}

// at finds the account of an address. Whoever looks at another of their teams than the account's looks at that one from
// now on; for whoever is not in its team it is not there.
func (p *Part) at(do func(w http.ResponseWriter, r *http.Request, a account.Account)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, v := r.Context(), shell.VisitorOf(r.Context())
		id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
		if err != nil {
			p.Missing(w, r)
			return
		}
		team, err := p.connector.Accounts.FindTeam(ctx, id)
		switch {
		case err != nil:
			p.Refuse(w, r, err)
			return
		case team != v.Team.ID && r.Method == http.MethodGet && shell.LookedAt(v.Account, team).ID == team:
			p.Turn(w, r, shell.LookedAt(v.Account, team), r.URL.RequestURI())
			return
		case team != v.Team.ID:
			p.Missing(w, r)
			return
		}
		found, err := p.connector.Accounts.Of(ctx, p.DB, team, []int64{id})
		if err != nil {
			p.Refuse(w, r, err)
			return
		}
		if _, there := found[id]; !there {
			p.Missing(w, r) // it was disconnected at this moment
			return
		}
		do(w, r, found[id])
	}
}

// actor is the visitor as operations know people.
func (p *Part) actor(r *http.Request) (*access.Actor, error) {
	v := shell.VisitorOf(r.Context())
	return p.Teams.InApp(r.Context(), v.ID, v.Team.ID)
}

// mendable is the sentence of a refusal that stands on the page it came from; false where it has been answered.
func (p *Part) mendable(w http.ResponseWriter, r *http.Request, err error) (string, bool) {
	told := apierr.Of(err)
	if told.IsServerError() || told.Code == apierr.NotFound {
		p.Refuse(w, r, err)
		return "", false
	}
	return told.Detail, true
}
