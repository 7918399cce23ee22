// Package operator is where those who run the service look after it: teams and people, what is switched off or paused,
// the work under way, how the networks stand, posts that nobody knows of whether they went out, the proof of the
// ledger, and the record of events. For everybody else these pages are not there.
package operator

import (
	"context"
	"embed"
	"errors"
	"html/template"
	"net/http"
	"strconv"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/domain/credit"
	"pressroom/internal/domain/delivery"
	"pressroom/internal/domain/job"
	"pressroom/internal/domain/post"
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/restoreguard"
	"pressroom/internal/web/shell"
)

//go:embed templates/*.html
var files embed.FS

var pages = shell.Parse(files,
	template.FuncMap{
		"time": utc, "limit": limitWords, "paused": pausedWords, "phase": phaseWords, "circuit": circuitWords,
		"job": jobWords,
	})

// Services are what the operator looks after.
type Services struct {
	Credits   *credit.Service
	Delivery  *delivery.Service
	Jobs      *job.Store
	Posts     *post.Service
	Platforms []string // of the networks that are spoken with
	Hold      *restoreguard.Service
}

// Part is these pages.
type Part struct {
	*shell.Frame
	Services
}

// New makes them.
func New(f *shell.Frame, s Services) *Part { return &Part{f, s} }

// Routes are their addresses.
func (p *Part) Routes() []shell.Route {
	routes := []shell.Route{
		{Pattern: "GET /operator", Do: p.overview},
		{Pattern: "GET /operator/teams", Do: p.teamsPage},
		{Pattern: "GET /operator/teams/{team}", Do: p.teamPage},
		{Pattern: "POST /operator/teams/{team}/plan", Do: p.setPlan, Recent: true, Resumes: true, Page: "/operator/teams/{team}"},
		{Pattern: "POST /operator/teams/{team}/credits", Do: p.book, Recent: true, Resumes: true, Page: "/operator/teams/{team}"},
		{Pattern: "POST /operator/teams/{team}/limit", Do: p.setLimit, Recent: true, Resumes: true, Page: "/operator/teams/{team}"},
		{Pattern: "GET /operator/teams/{team}/close", Do: p.closePage},
		{Pattern: "POST /operator/teams/{team}/close", Do: p.closeTeam, Recent: true},
		{Pattern: "POST /operator/teams/{team}/reopen", Do: p.reopenTeam, Recent: true},
		{Pattern: "GET /operator/people", Do: p.peoplePage},
		{Pattern: "GET /operator/people/{person}", Do: p.personPage},
		{Pattern: "POST /operator/people/{person}/hold", Do: p.hold, Recent: true},
		{Pattern: "POST /operator/people/{person}/operator", Do: p.setOperator, Recent: true},
		{Pattern: "POST /operator/people/{person}/recovery", Do: p.recover, Recent: true},
		{Pattern: "GET /operator/pauses", Do: p.pausesPage},
		{Pattern: "POST /operator/pauses", Do: p.pause},
		{Pattern: "POST /operator/pauses/end", Do: p.resume},
		{Pattern: "POST /operator/api", Do: p.switchAPI, Recent: true},
		{Pattern: "GET /operator/queue", Do: p.queuePage},
		{Pattern: "POST /operator/queue/wake", Do: p.wake},
		{Pattern: "GET /operator/networks", Do: p.networksPage},
		{Pattern: "GET /operator/posts", Do: p.postsPage},
		{Pattern: "POST /operator/posts", Do: p.decide},
		{Pattern: "GET /operator/ledger", Do: p.ledgerPage},
		{Pattern: "POST /operator/ledger", Do: p.audit},
		{Pattern: "GET /operator/events", Do: p.eventsPage},
		{Pattern: "GET /operator/events.jsonl", Do: p.eventsFile},
	}
	for i := range routes {
		// who looks after a full node has to see it
		routes[i].For, routes[i].Do, routes[i].Urgent = shell.Operators, p.acting(routes[i].Do), true
	}
	return routes
}

// acting has what is done be recorded with who did it.
func (p *Part) acting(do http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		do(w, r.WithContext(auditlog.WithOperator(r.Context(), shell.VisitorOf(r.Context()).ID)))
	}
}

// atOnce is how many teams, people and events a page shows.
const atOnce = 50

// pager leads through a list.
type pager struct{ First, Next string }

// wrongOf is the sentence of a refusal that the operator can mend. It has answered already where that is false.
func (p *Part) wrongOf(w http.ResponseWriter, r *http.Request, err error) (string, int, bool) {
	if refusal, ok := errors.AsType[apierr.OperatorError](err); ok {
		return sentence(string(refusal)), http.StatusUnprocessableEntity, true
	}
	told := apierr.Of(err)
	if told.IsServerError() || told.Code == apierr.NotFound {
		p.Refuse(w, r, err)
		return "", 0, false
	}
	return told.Detail, shell.StatusOf(err), true
}

// refuse answers what no form shows.
func (p *Part) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if text, status, ok := p.wrongOf(w, r, err); ok {
		p.Notice(w, r, status, "Not done", text)
	}
}

// did ends a form that has done its work.
func (p *Part) did(w http.ResponseWriter, r *http.Request, said, next string) {
	p.Say(r, said)
	shell.Redirect(w, r, next)
}

// overview is what stands in the way of somebody or waits for the operator.
type overview struct {
	queueView

	Paused      int
	APIOff      bool
	Hold        restoreguard.State
	Unconfirmed int
	Rests       []string // networks that do not take anything
	Proxy       string   // a peer that forwards requests and is not trusted; empty if there is none
}

// Under is how many jobs and deliveries have not ended.
func (v overview) Under() struct{ Jobs, Deliveries int64 } {
	var out struct{ Jobs, Deliveries int64 }
	for _, l := range v.Jobs {
		out.Jobs += l.Jobs
	}
	for _, l := range v.Deliveries {
		out.Deliveries += l.Deliveries
	}
	return out
}

func (p *Part) overview(w http.ResponseWriter, r *http.Request) {
	view, err := p.standing(r.Context())
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	p.Show(w, r, http.StatusOK, pages["overview"], "Operator", view)
}

func (p *Part) standing(ctx context.Context) (overview, error) {
	var out overview
	pauses, off, err := p.pauses(ctx)
	if err != nil {
		return out, err
	}
	out.Paused, out.APIOff = len(pauses), off
	if out.Hold, err = p.Hold.State(ctx); err != nil {
		return out, err
	}
	doubts, err := p.Delivery.ListUnconfirmed(ctx, 0)
	if err != nil {
		return out, err
	}
	out.Unconfirmed = len(doubts)
	for _, platform := range p.Platforms {
		if p.Delivery.Circuit(platform).State != delivery.Closed {
			out.Rests = append(out.Rests, shell.NetworkName(platform))
		}
	}
	out.Proxy = p.UntrustedProxy()
	out.queueView, err = p.queue(ctx)
	return out, err
}

// numberOf is a number above 0 in the address's query; 0 where there is none.
func numberOf(r *http.Request, name string) int64 {
	n, err := strconv.ParseInt(r.URL.Query().Get(name), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// utc shows an instant in UTC, as all these pages do: they are about many teams.
func utc(at time.Time) template.HTML { return shell.Time(at.UTC()) }
