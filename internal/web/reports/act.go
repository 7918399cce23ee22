package reports

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"pressroom/internal/core/operation"
	"pressroom/internal/domain/job"
	"pressroom/internal/domain/report"
	"pressroom/internal/web/shell"
)

// refresh has a report made anew.
func (p *Part) refresh(w http.ResponseWriter, r *http.Request, kind, id string) {
	if !p.ReadForm(w, r) {
		return
	}
	_, outcome, err := shell.Ask[job.Job](p.Frame, r, "refresh_report", operation.Arguments{"type": kind, "id": id})
	if err != nil {
		p.refused(w, r, kind, id, "refresh", err)
		return
	}
	p.Say(r, said(outcome.Notes, outcome.Billing, "The report is being refreshed."))
	shell.Redirect(w, r, outcome.App)
}

// track switches whether a report is refreshed by itself, and how often.
func (p *Part) track(w http.ResponseWriter, r *http.Request, kind, id string) {
	if !p.ReadForm(w, r) {
		return
	}
	if r.PostForm.Get("tracking") != "on" {
		p.trackNoMore(w, r, kind, id)
		return
	}
	args := operation.Arguments{"type": kind, "id": id, "enabled": true}
	if days, err := strconv.ParseInt(r.PostForm.Get("frequency"), 10, 64); err == nil {
		args["frequency_days"] = days
	}
	_, outcome, err := shell.Ask[report.ReportTracking](p.Frame, r, "set_report_tracking", args)
	if err != nil {
		p.refused(w, r, kind, id, "tracking", err)
		return
	}
	p.Say(r, switched(args["frequency_days"], outcome.Billing))
	shell.Redirect(w, r, "/reports/"+id)
}

// trackNoMore ends tracking, which the operation could not do while spending is paused.
func (p *Part) trackNoMore(w http.ResponseWriter, r *http.Request, kind, id string) {
	v := shell.VisitorOf(r.Context())
	actor, err := p.Teams.InApp(r.Context(), v.ID, v.Team.ID)
	if err == nil {
		call := operation.Call{Actor: actor, Operation: "end_tracking", RequestID: uuid.NewString(), Now: p.DB.Now()}
		_, err = p.reports.DisableTracking(r.Context(), call, report.Named{Type: kind, ID: id})
	}
	if err != nil {
		p.refused(w, r, kind, id, "tracking", err)
		return
	}
	p.Say(r, "Tracking is off. Nothing more is charged.")
	shell.Redirect(w, r, "/reports/"+id)
}

func switched(days any, b *operation.Billing) string {
	every := "every day"
	if n, ok := days.(int64); ok && n != 1 {
		every = fmt.Sprintf("every %d days", n)
	}
	text := "Tracking is on: the report is refreshed " + every + "."
	if b != nil && b.Charged > 0 {
		text += " The first refresh begins now: " + credits(b.Charged, " is", " are") + " set aside for it."
	}
	return text
}

// refused shows the page again with what stood in the way.
func (p *Part) refused(w http.ResponseWriter, r *http.Request, kind, id, at string, err error) {
	if wrong, ok := p.mendable(w, r, err); ok {
		p.show(w, r, shell.StatusOf(err), kind, id, at, wrong)
	}
}
