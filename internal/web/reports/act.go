package reports

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/report"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

// refresh starts a refresh of a report.
func (h *Handlers) refresh(w http.ResponseWriter, r *http.Request, kind, id string) {
	if !h.ReadForm(w, r) {
		return
	}
	_, outcome, err := shell.Run[job.Job](h.Shell, r, "refresh_report", operation.Arguments{"type": kind, "id": id})
	if err != nil {
		h.showError(w, r, kind, id, "refresh", err)
		return
	}
	h.FlashText(r, refreshText(h.Language(r), outcome.Notes, outcome.Billing))
	shell.Redirect(w, r, outcome.App)
}

// refreshText returns the confirmation of a refresh: the notes, or a text with the price if there are none.
func refreshText(l *locale.Language, operationNotes []string, b *operation.Billing) string {
	if len(operationNotes) > 0 {
		return strings.Join(notes.Translate(l, operationNotes), " ")
	}
	text := l.T("The report is being refreshed.")
	if b != nil && b.Charged > 0 {
		text += " " + l.N(b.Charged, "%d credit is reserved for it.", "%d credits are reserved for it.")
	}
	return text
}

// track sets whether and how often a report is refreshed automatically.
func (h *Handlers) track(w http.ResponseWriter, r *http.Request, kind, id string) {
	if !h.ReadForm(w, r) {
		return
	}
	if r.PostForm.Get("tracking") != "on" {
		h.stopTracking(w, r, kind, id)
		return
	}
	args := operation.Arguments{"type": kind, "id": id, "enabled": true}
	if days, err := strconv.ParseInt(r.PostForm.Get("frequency"), 10, 64); err == nil {
		args["frequency_days"] = days
	}
	_, outcome, err := shell.Run[report.ReportTracking](h.Shell, r, "set_report_tracking", args)
	if err != nil {
		h.showError(w, r, kind, id, "tracking", err)
		return
	}
	h.FlashText(r, trackingText(h.Language(r), args["frequency_days"], outcome.Billing))
	shell.Redirect(w, r, "/reports/"+id)
}

// stopTracking ends tracking of a report. It does not use the API operation, which is rejected while spending is
// paused.
func (h *Handlers) stopTracking(w http.ResponseWriter, r *http.Request, kind, id string) {
	v := shell.VisitorOf(r.Context())
	actor, err := h.Teams.InApp(r.Context(), v.ID, v.Team.ID)
	if err == nil {
		call := operation.Call{Actor: actor, Operation: "end_tracking", RequestID: uuid.NewString(), Now: h.DB.Now()}
		_, err = h.reports.DisableTracking(r.Context(), call, report.Ref{Type: kind, ID: id})
	}
	if err != nil {
		h.showError(w, r, kind, id, "tracking", err)
		return
	}
	h.Flash(r, "Tracking is off. Nothing more is charged.")
	shell.Redirect(w, r, "/reports/"+id)
}

func trackingText(l *locale.Language, days any, b *operation.Billing) string {
	text := l.T("Tracking is on: the report is refreshed every day.")
	if n, ok := days.(int64); ok && n != 1 {
		text = l.T("Tracking is on: the report is refreshed every %d days.", n)
	}
	if b != nil && b.Charged > 0 {
		text += " " + l.N(b.Charged, "The first refresh starts now: %d credit is reserved for it.",
			"The first refresh starts now: %d credits are reserved for it.")
	}
	return text
}

// showError shows the report's page again, with an error in the given form.
func (h *Handlers) showError(w http.ResponseWriter, r *http.Request, kind, id, form string, err error) {
	if formErr, ok := h.formError(w, r, err); ok {
		h.show(w, r, shell.StatusOf(err), kind, id, form, formErr)
	}
}
