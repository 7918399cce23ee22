package operator

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"pressroom.example/pressroom/internal/domain/credit"
	"pressroom.example/pressroom/internal/platform/auditlog"
)

func (p *Handlers) ledgerPage(w http.ResponseWriter, r *http.Request) {
	p.Show(w, r, http.StatusOK, pages["ledger"], "Ledger audit", (*credit.Report)(nil))
}

// auditTimeout bounds the audit, which reads the whole ledger.
const auditTimeout = 5 * time.Minute

func (p *Handlers) audit(w http.ResponseWriter, r *http.Request) {
	// servers without deadlines need no update
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(auditTimeout))
	report, err := p.Credits.Audit(r.Context())
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	p.Show(w, r, http.StatusOK, pages["ledger"], "Ledger audit", &report)
}

// eventsView is a page of the audit log.
type eventsView struct {
	Team   int64
	Events []auditlog.Entry
	Pages  pager
	File   string // path of the complete log
}

func (p *Handlers) eventsPage(w http.ResponseWriter, r *http.Request) {
	part := auditlog.Filter{Team: numberOf(r, "team"), BeforeID: numberOf(r, "before"), Limit: rowsPerPage + 1}
	found, err := auditlog.Entries(r.Context(), p.DB, part)
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	view := eventsView{
		Team: part.Team, Events: found[:min(len(found), rowsPerPage)],
		File: eventsPath("/operator/events.jsonl", part.Team, 0),
	}
	if part.BeforeID > 0 {
		view.Pages.First = eventsPath("/operator/events", part.Team, 0)
	}
	if len(found) > rowsPerPage {
		view.Pages.Next = eventsPath("/operator/events", part.Team, found[rowsPerPage-1].ID)
	}
	p.Show(w, r, http.StatusOK, pages["events"], "Audit log", view)
}

func eventsPath(path string, team, before int64) string {
	query := url.Values{}
	if team > 0 {
		query.Set("team", strconv.FormatInt(team, 10))
	}
	if before > 0 {
		query.Set("before", strconv.FormatInt(before, 10))
	}
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

const (
	batch        = 1000             // events read at once for a file
	batchTimeout = 30 * time.Second // time for the client to accept them
)

// eventsFile serves the audit log of a team or of all as JSON lines, oldest first.
func (p *Handlers) eventsFile(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/jsonl; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="pressroom-events.jsonl"`)
	control, out := http.NewResponseController(w), json.NewEncoder(w)
	part := auditlog.Filter{Team: numberOf(r, "team"), AfterID: numberOf(r, "after"), OldestFirst: true, Limit: batch}
	for {
		found, err := auditlog.Entries(r.Context(), p.DB, part)
		if err != nil {
			p.Log.ErrorContext(r.Context(), "sending the audit log failed", "error", err)
			panic(http.ErrAbortHandler) // the client must notice the truncation
		}
		if err := control.SetWriteDeadline(time.Now().Add(batchTimeout)); err != nil && !errors.Is(err,
			http.ErrNotSupported) {
			panic(http.ErrAbortHandler)
		}
		for _, e := range found {
			if err := out.Encode(e); err != nil {
				return // the client disconnected
			}
		}
		if len(found) < batch {
			return
		}
		part.AfterID = found[batch-1].ID
	}
}
