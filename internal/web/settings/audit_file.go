package settings

import (
	"net/http"
	"time"

	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/web/shell"
)

// auditFile serves the events that the filter selects as CSV, newest first.
func (h *Handlers) auditFile(w http.ResponseWriter, r *http.Request) {
	page := filterOf(r).page(zone(r))
	page.Limit = exportBatchSize
	lines, more, err := h.nextFileLines(r, &page)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	out := shell.NewCSVWriter(w, "audit-log.csv", "time", "who", "key", "event", "what", "item", "name", "account", "client")
	for {
		for _, l := range lines {
			out.WriteRow(l.At.Format(time.RFC3339), l.Who, l.Key, l.Kind, l.Text, l.Subject, l.Post+l.Name, l.Account, l.Client)
		}
		out.Flush()
		if !more {
			return
		}
		if lines, more, err = h.nextFileLines(r, &page); err != nil {
			h.Log.ErrorContext(r.Context(), "sending an audit log failed", "error", err)
			panic(http.ErrAbortHandler) // the client must notice the truncation
		}
	}
}

// nextFileLines returns the next lines for the file, advances page, and reports whether there may be more lines. The
// lines are in English, because programs read the file.
func (h *Handlers) nextFileLines(r *http.Request, page *auditlog.Page) ([]auditLine, bool, error) {
	events, err := auditlog.List(r.Context(), h.DB, teamID(r), *page)
	if err != nil {
		return nil, false, err
	}
	var lines []auditLine
	for _, e := range events {
		lines = append(lines, linesOf(locale.English, []auditlog.Event{e}, zone(r))...)
		page.BeforeID = e.ID
	}
	return lines, len(events) == page.Limit, h.addNames(r, lines)
}
