package operator

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"pressroom/internal/domain/credit"
	"pressroom/internal/platform/auditlog"
)

func (p *Part) ledgerPage(w http.ResponseWriter, r *http.Request) {
	p.Show(w, r, http.StatusOK, pages["ledger"], "The ledger", (*credit.Report)(nil))
}

// auditWithin is how long the proof may take: it looks at the whole ledger.
const auditWithin = 5 * time.Minute

func (p *Part) audit(w http.ResponseWriter, r *http.Request) {
	// a server that knows no deadlines has none to be moved
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(auditWithin))
	report, err := p.Credits.Audit(r.Context())
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	p.Show(w, r, http.StatusOK, pages["ledger"], "The ledger", &report)
}

// eventsView is a part of the record.
type eventsView struct {
	Team   int64
	Events []auditlog.Entry
	Pages  pager
	File   string // where the whole of it is
}

func (p *Part) eventsPage(w http.ResponseWriter, r *http.Request) {
	part := auditlog.Filter{Team: numberOf(r, "team"), BeforeID: numberOf(r, "before"), Limit: atOnce + 1}
	found, err := auditlog.Entries(r.Context(), p.DB, part)
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	view := eventsView{
		Team: part.Team, Events: found[:min(len(found), atOnce)],
		File: eventsPath("/operator/events.jsonl", part.Team, 0),
	}
	if part.BeforeID > 0 {
		view.Pages.First = eventsPath("/operator/events", part.Team, 0)
	}
	if len(found) > atOnce {
		view.Pages.Next = eventsPath("/operator/events", part.Team, found[atOnce-1].ID)
	}
	p.Show(w, r, http.StatusOK, pages["events"], "Events", view)
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
	batch       = 1000             // events that are read at once for a file
	batchWithin = 30 * time.Second // in which the client has to take them
)

// eventsFile gives the whole record, or a team's, as lines of JSON, the oldest first.
func (p *Part) eventsFile(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/jsonl; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="pressroom-events.jsonl"`)
	control, out := http.NewResponseController(w), json.NewEncoder(w)
	part := auditlog.Filter{Team: numberOf(r, "team"), AfterID: numberOf(r, "after"), OldestFirst: true, Limit: batch}
	for {
		found, err := auditlog.Entries(r.Context(), p.DB, part)
		if err != nil {
			p.Log.ErrorContext(r.Context(), "a file of events was cut off", "error", err)
			panic(http.ErrAbortHandler) // the client must not take a part for the whole
		}
		if err := control.SetWriteDeadline(time.Now().Add(batchWithin)); err != nil && !errors.Is(err,
			http.ErrNotSupported) {
			panic(http.ErrAbortHandler)
		}
		for _, e := range found {
			if err := out.Encode(e); err != nil {
				return // the client is gone
			}
		}
		if len(found) < batch {
			return
		}
		part.AfterID = found[batch-1].ID
	}
}
