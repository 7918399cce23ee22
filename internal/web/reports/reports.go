// Package reports is the pages of reports on public profiles and hashtags: the list, making one, a report with its
// drawings, refreshing and tracking it, taking its figures along as CSV, and several profiles side by side. What the
// API can do, these pages do by the API's own operations.
package reports

import (
	"embed"
	"net/http"

	"pressroom/internal/apierr"
	"pressroom/internal/domain/credit"
	"pressroom/internal/domain/report"
	"pressroom/internal/web/shell"
)

//go:embed templates/*.html
var files embed.FS

var pages = shell.Parse(files, words)

// Part is these pages.
type Part struct {
	*shell.Frame

	reports *report.Service
}

// New makes them.
func New(f *shell.Frame, reports *report.Service) *Part { return &Part{f, reports} }

// Routes are their addresses.
func (p *Part) Routes() []shell.Route {
	return []shell.Route{
		{Pattern: "GET /reports", For: shell.Members, Do: p.list},
		{Pattern: "GET /reports/new", For: shell.Spenders, Do: p.newPage},
		{Pattern: "POST /reports", For: shell.Spenders, Do: p.create, Resumes: true, Page: "/reports/new"},
		{Pattern: "GET /reports/compare", For: shell.Members, Do: p.compare},
		{Pattern: "GET /reports/{id}", For: shell.Members, Do: p.at(p.page)},
		{Pattern: "POST /reports/{id}/refresh", For: shell.Spenders, Do: p.at(p.refresh)},
		{Pattern: "POST /reports/{id}/tracking", For: shell.Spenders, Do: p.at(p.track)},
		{Pattern: "GET /reports/{id}/posts.csv", For: shell.Members, Do: p.at(p.exportPosts), Urgent: true},
		{Pattern: "GET /reports/{id}/hashtags.csv", For: shell.Members, Do: p.at(p.exportHashtags)},
		{Pattern: "GET /reports/{id}/times.csv", For: shell.Members, Do: p.at(p.exportTimes)},
	}
}

// at finds the report of an address. Whoever looks at another of their teams than the report's looks at that one from
// now on; for whoever is not in its team it is not there.
func (p *Part) at(do func(w http.ResponseWriter, r *http.Request, kind, id string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, v := r.PathValue("id"), shell.VisitorOf(r.Context())
		place, err := p.reports.FindOwner(r.Context(), id)
		switch {
		case err != nil:
			p.Refuse(w, r, err)
		case place.Team == v.Team.ID:
			do(w, r, place.Kind, id)
		case r.Method == http.MethodGet && shell.LookedAt(v.Account, place.Team).ID == place.Team:
			p.Turn(w, r, shell.LookedAt(v.Account, place.Team), r.URL.RequestURI())
		default:
			p.Missing(w, r)
		}
	}
}

// purse is what stands beside a price: what the team has left, where the role may see it.
type purse struct {
	Balance *int64
	Prices  prices
}

type prices struct{ Profile, Hashtag int64 }

func (p *Part) purse(r *http.Request) (purse, error) {
	credits, _, err := shell.Ask[credit.Credits](p.Frame, r, "get_credits", nil)
	prices := prices{p.reports.Terms.Prices.ProfileReport, p.reports.Terms.Prices.HashtagReport}
	return purse{credits.Balance, prices}, err
}

// maySpend tells whether the visitor's role may make, refresh and track reports.
func maySpend(r *http.Request) bool { return shell.VisitorOf(r.Context()).Is(shell.Spenders) }

// mendable is the sentence of a refusal that stands at the form it came from; false where it has been answered.
func (p *Part) mendable(w http.ResponseWriter, r *http.Request, err error) (string, bool) {
	told := apierr.Of(err)
	if told.IsServerError() || told.Code == apierr.NotFound {
		p.Refuse(w, r, err)
		return "", false
	}
	return told.Detail, true
}
