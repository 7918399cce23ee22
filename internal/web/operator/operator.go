// Package operator serves the operator's pages: teams and people, pauses, background work, the state of networks,
// deliveries with an unknown outcome, notification channels, the ledger audit, and the audit log. Visitors who are
// not operators get status 404.
package operator

import (
	"embed"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/account/appcheck"
	"pressroom.example/pressroom/internal/domain/credit"
	"pressroom.example/pressroom/internal/domain/delivery"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/notification"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/team/teamsearch"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/restoreguard"
	"pressroom.example/pressroom/internal/web/shell"
)

//go:embed templates/*.html
var files embed.FS

var pages = shell.Parse(files, shell.Data{
	"channel": channelView{}, "channelremove": channelView{}, "channels": channelsView{},
	"channelsecret": channelView{}, "close": teamView{}, "events": eventsView{}, "ledger": ledgerView{},
	"networks": networksView{}, "newteam": newTeamView{}, "overview": overview{}, "pauses": pausesView{},
	"people": peopleView{}, "person": personView{}, "posts": postsView{}, "queue": queueView{},
	"recovery": recoveryView{}, "team": teamView{}, "teams": teamsView{},
}, nil, templateFuncs)

// Services are the services that the pages use.
type Services struct {
	Credits      *credit.Service
	Delivery     *delivery.Service
	Jobs         *job.Store
	Posts        *post.Service
	Platforms    []string // networks that the installation supports
	RestoreGuard *restoreguard.Service
	Apps         *appcheck.Service

	Notifications *notification.Service
}

// Handlers serves the operator's pages.
type Handlers struct {
	*shell.Shell
	Services
}

// New returns the handlers.
func New(sh *shell.Shell, s Services) *Handlers { return &Handlers{sh, s} }

// Routes returns the routes of the pages.
func (h *Handlers) Routes() []shell.Route {
	routes := []shell.Route{
		{Pattern: "GET /operator", Handler: h.overview},
		{Pattern: "GET /operator/teams", Handler: h.teamsPage},
		{Pattern: "GET /operator/teams/new", Handler: h.newTeamPage},
		{Pattern: "POST /operator/teams", Handler: h.addTeam, RequiresRecentAuth: true, RestoresForm: true,
			Page: "/operator/teams/new"},
		{Pattern: "GET /operator/teams/{team}", Handler: h.teamPage},
		{Pattern: "POST /operator/teams/{team}/plan", Handler: h.setPlan, RequiresRecentAuth: true, RestoresForm: true,
			Page: "/operator/teams/{team}"},
		{Pattern: "POST /operator/teams/{team}/credits", Handler: h.adjustCredits, RequiresRecentAuth: true, RestoresForm: true,
			Page: "/operator/teams/{team}"},
		{Pattern: "POST /operator/teams/{team}/limit", Handler: h.setLimit, RequiresRecentAuth: true, RestoresForm: true,
			Page: "/operator/teams/{team}"},
		{Pattern: "GET /operator/teams/{team}/close", Handler: h.closePage},
		{Pattern: "POST /operator/teams/{team}/close", Handler: h.closeTeam, RequiresRecentAuth: true},
		{Pattern: "POST /operator/teams/{team}/reopen", Handler: h.reopenTeam, RequiresRecentAuth: true},
		{Pattern: "GET /operator/people", Handler: h.peoplePage},
		{Pattern: "GET /operator/people/{person}", Handler: h.personPage},
		{Pattern: "POST /operator/people/{person}/hold", Handler: h.suspend, RequiresRecentAuth: true},
		{Pattern: "POST /operator/people/{person}/operator", Handler: h.setOperator, RequiresRecentAuth: true},
		{Pattern: "POST /operator/people/{person}/recovery", Handler: h.recover, RequiresRecentAuth: true},
		{Pattern: "GET /operator/pauses", Handler: h.pausesPage},
		{Pattern: "POST /operator/pauses", Handler: h.pause},
		{Pattern: "POST /operator/pauses/end", Handler: h.resume},
		{Pattern: "POST /operator/api", Handler: h.switchAPI, RequiresRecentAuth: true},
		{Pattern: "GET /operator/queue", Handler: h.queuePage},
		{Pattern: "POST /operator/queue/wake", Handler: h.wake},
		{Pattern: "GET /operator/networks", Handler: h.networksPage},
		{Pattern: "POST /operator/networks", Handler: h.checkApps},
		{Pattern: "GET /operator/posts", Handler: h.postsPage},
		{Pattern: "POST /operator/posts", Handler: h.decide},
		{Pattern: "GET /operator/ledger", Handler: h.ledgerPage},
		{Pattern: "POST /operator/ledger", Handler: h.audit},
		{Pattern: "GET /operator/events", Handler: h.eventsPage},
		{Pattern: "GET /operator/events.jsonl", Handler: h.eventsFile},
	}
	routes = append(routes, h.channelRoutes()...)
	for i := range routes {
		// SkipsSlot, because operators must be able to use a busy node
		routes[i].Audience, routes[i].Handler, routes[i].SkipsSlot = shell.Operators, h.asOperator(routes[i].Handler), true
	}
	return routes
}

// asOperator returns a handler whose changes are recorded in the audit log with the operator's ID.
func (h *Handlers) asOperator(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		next(w, r.WithContext(auditlog.WithOperator(r.Context(), shell.VisitorOf(r.Context()).ID)))
	}
}

// rowsPerPage is the number of teams, people or events on a page.
const rowsPerPage = 50

// pager holds the paths of other pages; "" if there is none.
type pager struct{ First, Next string }

// formError returns the text and status of an error that the operator can correct. For a server error or not_found,
// it writes the error response and returns false.
func (h *Handlers) formError(w http.ResponseWriter, r *http.Request, err error) (string, int, bool) {
	if rejection, ok := errors.AsType[apierr.OperatorError](err); ok {
		return sentence(rejectionText(h.Language(r), err, string(rejection))), http.StatusUnprocessableEntity, true
	}
	e := apierr.FromError(err)
	if e.IsServerError() || e.Code == apierr.NotFound {
		h.ShowError(w, r, err)
		return "", 0, false
	}
	return h.Detail(r, err), shell.StatusOf(err), true
}

// reject shows an error on a page of its own.
func (h *Handlers) reject(w http.ResponseWriter, r *http.Request, err error) {
	if text, status, ok := h.formError(w, r, err); ok {
		h.ShowText(w, r, status, "Action not completed", text)
	}
}

// finish redirects to next, which shows message as a confirmation. message is in the visitor's language.
func (h *Handlers) finish(w http.ResponseWriter, r *http.Request, message, next string) {
	h.FlashText(r, message)
	shell.Redirect(w, r, next)
}

// overview is the start page: statistics, pauses, and problems that need attention.
type overview struct {
	queueView

	Totals      teamsearch.Totals
	Paused      int
	APIOff      bool
	Hold        restoreguard.State
	Unconfirmed int
	Failing     []string // names of the networks that are failing
	Circuits    []networkView
	Channels    int // notification channels whose last attempt failed
	Recent      []eventLine
	Proxy       string // address of an untrusted proxy that forwards requests; empty if there is none
}

// FailingNetworks returns the names of the networks that are failing.
func (v overview) FailingNetworks() string { return strings.Join(v.Failing, ", ") }

// Unfinished returns the numbers of unfinished jobs and deliveries.
func (v overview) Unfinished() struct{ Jobs, Deliveries int64 } {
	var out struct{ Jobs, Deliveries int64 }
	for _, l := range v.Jobs {
		out.Jobs += l.Jobs
	}
	for _, l := range v.Deliveries {
		out.Deliveries += l.Deliveries
	}
	return out
}

func (h *Handlers) overview(w http.ResponseWriter, r *http.Request) {
	view, err := h.loadOverview(r)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.Show(w, r, http.StatusOK, pages["overview"], "Operator", view)
}

func (h *Handlers) loadOverview(r *http.Request) (overview, error) {
	var out overview
	ctx := r.Context()
	pauses, off, err := h.pauses(ctx)
	if err != nil {
		return out, err
	}
	out.Paused, out.APIOff = len(pauses), off
	if out.Hold, err = h.RestoreGuard.State(ctx); err != nil {
		return out, err
	}
	unconfirmed, err := h.Delivery.ListUnconfirmed(ctx, 0)
	if err != nil {
		return out, err
	}
	out.Unconfirmed = len(unconfirmed)
	for _, platform := range h.Platforms {
		circuit := h.Delivery.Circuit(platform)
		out.Circuits = append(out.Circuits, networkView{Circuit: circuit, Platform: platform})
		if circuit.State != delivery.Closed {
			out.Failing = append(out.Failing, shell.NetworkName(platform))
		}
	}
	out.Proxy = h.UntrustedProxy()
	today := h.DB.Now().UTC().Truncate(24 * time.Hour)
	if out.Totals, err = teamsearch.CountAll(ctx, h.DB, today, today.AddDate(0, 0, 1)); err != nil {
		return out, err
	}
	if out.queueView, err = h.readQueue(ctx); err != nil {
		return out, err
	}
	return out, h.addActivity(r, &out)
}

// maxRecentEvents is the maximum number of events on the start page.
const maxRecentEvents = 7

// addActivity adds the newest events and the number of failing channels.
func (h *Handlers) addActivity(r *http.Request, view *overview) error {
	channels, err := h.Notifications.Channels(r.Context())
	if err != nil {
		return err
	}
	for _, c := range channels {
		if c.Error != "" {
			view.Channels++
		}
	}
	found, err := auditlog.Entries(r.Context(), h.DB, auditlog.Filter{Limit: maxRecentEvents})
	if err != nil {
		return err
	}
	days, err := h.eventDays(r, found)
	for _, day := range days {
		view.Recent = append(view.Recent, day.Lines...)
	}
	return err
}

// queryNumber returns the number in a query parameter, or 0 if it is missing or invalid.
func queryNumber(r *http.Request, name string) int64 {
	n, err := strconv.ParseInt(r.URL.Query().Get(name), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
