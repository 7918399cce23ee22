// Package reports serves the pages of reports on public profiles and hashtags: listing, creating, viewing,
// refreshing, tracking, comparing, sharing, emailing and exporting them.
package reports

import (
	"context"
	"embed"
	"net/http"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/credit"
	"pressroom.example/pressroom/internal/domain/media"
	"pressroom.example/pressroom/internal/domain/report"
	"pressroom.example/pressroom/internal/domain/report/sharelink"
	"pressroom.example/pressroom/internal/domain/report/subscription"
	"pressroom.example/pressroom/internal/platform/loadshed"
	"pressroom.example/pressroom/internal/web/shell"
)

//go:embed templates/*.html
var files embed.FS

var pages = shell.Parse(files, shell.Data{
	"compare": compareView{}, "linkrevoke": revokeView{}, "list": listView{}, "new": newView{},
	"new#preview": newView{}, "report": view{}, "share": shareView{}, "shared": sharedView{},
	"unsubscribe": subscription.Subscriber{},
}, nil, templateFuncs)

// Handlers serves the report pages.
type Handlers struct {
	*shell.Shell

	reports       *report.Service
	links         *sharelink.Service
	subscriptions *subscription.Service
	media         Thumbnails
	linkFiles     *loadshed.KeyLimiter // limits concurrent downloads per share link
}

// Thumbnails opens the thumbnails of a team's library.
type Thumbnails interface {
	ThumbnailForTeam(ctx context.Context, team, id int64) (media.File, error)
}

// New returns the handlers.
func New(
	sh *shell.Shell, reports *report.Service, links *sharelink.Service, mails *subscription.Service,
	thumbnails Thumbnails,
) *Handlers {
	return &Handlers{sh, reports, links, mails, thumbnails, loadshed.NewKeyLimiter(maxLinkFiles)}
}

// Routes returns the routes of the pages.
func (h *Handlers) Routes() []shell.Route {
	return []shell.Route{
		{Pattern: "GET /reports", Audience: shell.Members, Handler: h.list},
		{Pattern: "GET /reports/new", Audience: shell.Spenders, Handler: h.newPage},
		{Pattern: "GET /reports/new/preview", Audience: shell.Spenders, Handler: h.newPreview},
		{Pattern: "POST /reports/new", Audience: shell.Spenders, Handler: h.create, RestoresForm: true, Page: "/reports/new"},
		{Pattern: "GET /reports/compare", Audience: shell.Members, Handler: h.compare},
		{Pattern: "GET /reports/{id}", Audience: shell.Members, Handler: h.withReport(h.page)},
		{Pattern: "POST /reports/{id}/refresh", Audience: shell.Spenders, Handler: h.withReport(h.refresh)},
		{Pattern: "POST /reports/{id}/tracking", Audience: shell.Spenders, Handler: h.withReport(h.track)},
		{Pattern: "GET /reports/{id}/share", Audience: shell.Writers, Handler: h.withReport(h.sharePage)},
		{Pattern: "POST /reports/{id}/links", Audience: shell.Writers, Handler: h.withReport(h.createLink)},
		{Pattern: "GET /reports/{id}/links/{link}/revoke", Audience: shell.Writers, Handler: h.withReport(h.revokePage)},
		{Pattern: "POST /reports/{id}/links/{link}/revoke", Audience: shell.Writers, Handler: h.withReport(h.revokeLink)},
		{Pattern: "POST /reports/{id}/links/{link}/replace", Audience: shell.Writers, Handler: h.withReport(h.replaceLink)},
		{Pattern: "POST /reports/{id}/schedule", Audience: shell.Writers, Handler: h.withReport(h.saveSchedule)},
		{Pattern: "POST /reports/{id}/schedule/stop", Audience: shell.Writers, Handler: h.withReport(h.stopMails)},
		{Pattern: "POST /reports/{id}/members", Audience: shell.Writers, Handler: h.withReport(h.addMember)},
		{Pattern: "POST /reports/{id}/addresses", Audience: shell.Managers, Handler: h.withReport(h.addAddress)},
		{Pattern: "POST /reports/{id}/recipients/{recipient}/remove", Audience: shell.Writers,
			Handler: h.withReport(h.removeRecipient)},
		{Pattern: "GET " + subscription.Path + "{token}", Audience: shell.Anyone, Handler: h.unsubscribePage,
			AllowsOneFactor: true},
		{Pattern: "POST " + subscription.Path + "{token}", Audience: shell.Anyone, Handler: h.unsubscribe,
			AllowsOneFactor: true},
		{Pattern: "GET /shared/reports/{token}", Audience: shell.Anyone, Handler: h.sharedPage, AllowsOneFactor: true},
		{Pattern: "GET /shared/reports/{token}/pictures/{id}", Audience: shell.Anyone, Handler: h.sharedThumbnail,
			AllowsOneFactor: true},
		{Pattern: "GET /reports/{id}/posts.csv", Audience: shell.Members, Handler: h.withReport(h.exportPosts),
			SkipsSlot: true},
		{Pattern: "GET /reports/{id}/hashtags.csv", Audience: shell.Members, Handler: h.withReport(h.exportHashtags)},
		{Pattern: "GET /reports/{id}/times.csv", Audience: shell.Members, Handler: h.withReport(h.exportTimes)},
	}
}

// withReport returns a handler that calls next with the report whose ID is in the path. If the report belongs to
// another of the person's teams, a GET request switches to that team.
func (h *Handlers) withReport(next func(w http.ResponseWriter, r *http.Request, kind, id string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, v := r.PathValue("id"), shell.VisitorOf(r.Context())
		owner, err := h.reports.FindOwner(r.Context(), id)
		switch {
		case err != nil:
			h.ShowError(w, r, err)
		case owner.Team == v.Team.ID:
			next(w, r, owner.Kind, id)
		case r.Method == http.MethodGet && shell.TeamOrFirst(v.Account, owner.Team).ID == owner.Team:
			h.SwitchTeam(w, r, shell.TeamOrFirst(v.Account, owner.Team), r.URL.RequestURI())
		default:
			h.NotFound(w, r)
		}
	}
}

// budget holds the prices of reports and the team's balance. Balance is nil if the visitor's role may not see it.
type budget struct {
	Balance *int64
	Prices  prices
}

type prices struct{ Profile, Hashtag int64 }

func (h *Handlers) budget(r *http.Request) (budget, error) {
	credits, _, err := shell.Run[credit.Credits](h.Shell, r, "get_credits", nil)
	prices := prices{h.reports.Catalog.Prices.ProfileReport, h.reports.Catalog.Prices.HashtagReport}
	return budget{credits.Balance, prices}, err
}

// maySpend reports whether the visitor's role may create, refresh and track reports.
func maySpend(r *http.Request) bool { return shell.VisitorOf(r.Context()).Is(shell.Spenders) }

// formError returns the text of an error that the page shows. For a server error or not_found, it writes the error
// response and returns false.
func (h *Handlers) formError(w http.ResponseWriter, r *http.Request, err error) (string, bool) {
	e := apierr.FromError(err)
	if e.IsServerError() || e.Code == apierr.NotFound {
		h.ShowError(w, r, err)
		return "", false
	}
	return h.Detail(r, err), true
}
