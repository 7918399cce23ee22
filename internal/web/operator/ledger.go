package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"pressroom.example/pressroom/internal/domain/credit"
	"pressroom.example/pressroom/internal/domain/team/teamsearch"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// ledgerView is the page with the last audit of the ledger, if any.
type ledgerView struct {
	At     time.Time // zero if there was no audit
	By     string    // name of the operator
	Report credit.Report
	Now    bool // the audit was just run, so Report lists the violations
}

// ledgerAuditKind is the kind of the audit log events that store the results of ledger audits.
const ledgerAuditKind = "ledger.audited"

func (h *Handlers) ledgerPage(w http.ResponseWriter, r *http.Request) {
	view, err := h.lastAudit(r.Context())
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.Show(w, r, http.StatusOK, pages["ledger"], "Ledger audit", view)
}

// auditDetail is the detail of a ledgerAuditKind event.
type auditDetail struct {
	Totals         credit.AuditTotals `json:"figures"`
	ViolationCount int64              `json:"complaints_total"`
	Operator       int64              `json:"operator"`
}

func (h *Handlers) lastAudit(ctx context.Context) (ledgerView, error) {
	e, ok, err := auditlog.Last(ctx, h.DB, ledgerAuditKind)
	if err != nil || !ok {
		return ledgerView{}, err
	}
	var detail auditDetail
	if err := json.Unmarshal(e.Detail, &detail); err != nil {
		return ledgerView{}, fmt.Errorf("decoding the last ledger audit: %w", err)
	}
	names, err := teamsearch.PersonNames(ctx, h.DB, []int64{detail.Operator})
	return ledgerView{
		At: e.At, By: names[detail.Operator], Report: credit.Report{Totals: detail.Totals, Total: detail.ViolationCount},
	}, err
}

// auditTimeout is the maximum duration of an audit, which reads the whole ledger.
const auditTimeout = 5 * time.Minute

func (h *Handlers) audit(w http.ResponseWriter, r *http.Request) {
	// SetWriteDeadline fails only if the server does not support deadlines
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(auditTimeout))
	report, err := h.Credits.Audit(r.Context())
	if err == nil {
		err = h.DB.InTx(r.Context(), "operator.ledger_audited", func(ctx context.Context, tx *db.Tx) error {
			return auditlog.Record(ctx, tx, 0, auditlog.Actor{}, ledgerAuditKind, "ledger",
				map[string]any{"figures": report.Totals, "complaints_total": report.Total})
		})
	}
	var view ledgerView
	if err == nil {
		view, err = h.lastAudit(r.Context())
	}
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	view.Report, view.Now = report, true
	h.Show(w, r, http.StatusOK, pages["ledger"], "Ledger audit", view)
}
