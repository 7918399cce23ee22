package credit

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// Report is the result of an audit.
type Report struct {
	Totals     AuditTotals `json:"figures"`
	Violations []Violation `json:"complaints"`       // the first 100
	Total      int64       `json:"complaints_total"` // number of all violations, including omitted ones
}

// OK reports whether the audit found no violations.
func (r Report) OK() bool { return r.Total == 0 }

// AuditTotals counts the audited records and adds up the credits of all wallets.
type AuditTotals struct {
	Teams        int64 `json:"teams"` // teams with a wallet
	Transfers    int64 `json:"transfers"`
	Entries      int64 `json:"entries"`
	Reservations int64 `json:"reservations"`
	Granted      int64 `json:"credits_granted"` // minus withdrawn credits
	Available    int64 `json:"credits_available"`
	Reserved     int64 `json:"credits_reserved"`
	Spent        int64 `json:"credits_spent"`
}

// Violation describes one violation of a rule.
type Violation struct {
	Rule string `json:"rule"` // stable identifier
	Team int64  `json:"team_id,omitempty"`
	Text string `json:"text"`
}

const (
	maxViolations = 100
	// maxOpenWithoutJob is how long a reservation may be open without a job. Synchronous work has no job, and its
	// reservation ends when the work ends.
	maxOpenWithoutJob = 24 * time.Hour
)

// Audit checks that the ledger is consistent and that it matches the wallets, reservations and jobs. It runs one
// read-only statement, so it sees a consistent snapshot.
func (s *Service) Audit(ctx context.Context) (Report, error) { return audit(ctx, s.db, s.db.Now()) }

func audit(ctx context.Context, q db.Querier, now time.Time) (Report, error) {
	report := Report{Violations: []Violation{}}
	rows, err := q.Query(ctx, auditQuery(), db.Micros(now.Add(-maxOpenWithoutJob)))
	if err != nil {
		return report, fmt.Errorf("auditing the ledger: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var f finding
		if err := f.scan(rows); err != nil {
			return report, fmt.Errorf("reading an audit finding: %w", err)
		}
		f.addTo(&report)
	}
	if err := rows.Err(); err != nil {
		return report, fmt.Errorf("auditing the ledger: %w", err)
	}
	return report, nil
}

// field returns a pointer to the total with this name, or nil if there is none.
func (t *AuditTotals) field(name string) *int64 {
	switch name {
	case "teams":
		return &t.Teams
	case "transfers":
		return &t.Transfers
	case "entries":
		return &t.Entries
	case "reservations":
		return &t.Reservations
	case "granted":
		return &t.Granted
	case "available":
		return &t.Available
	case "reserved":
		return &t.Reserved
	case "spent":
		return &t.Spent
	}
	return nil
}

// finding is one row of the audit query: a total or a violation.
type finding struct {
	rule                string
	team, id, got, want int64
	job                 string
}

func (f *finding) scan(rows *sql.Rows) error {
	return rows.Scan(&f.rule, &f.team, &f.id, &f.got, &f.want, &f.job)
}

// addTo adds the finding to the report.
func (f *finding) addTo(r *Report) {
	if total := r.Totals.field(f.rule); total != nil {
		*total = f.got
		return
	}
	if r.Total++; r.Total <= maxViolations {
		r.Violations = append(r.Violations, Violation{f.rule, f.team, f.text()})
	}
}

func (f *finding) text() string {
	formatInt := func(n int64) string { return strconv.FormatInt(n, 10) }
	replacer := strings.NewReplacer("{team}", formatInt(f.team), "{id}", formatInt(f.id), "{got}", formatInt(f.got), "{want}",
		formatInt(f.want), "{job}", f.job)
	for _, c := range checks {
		if c.rule == f.rule {
			return replacer.Replace(c.text)
		}
	}
	return f.rule
}

// auditQuery returns the statement that computes the totals and all checks. The rows with the totals come first.
var auditQuery = sync.OnceValue(func() string {
	parts := make([]string, 0, len(totalQueries)+len(checks))
	for _, f := range totalQueries {
		parts = append(parts, `SELECT '`+f.rule+`', 0, 0, `+f.value+`, 0, ''`)
	}
	for _, c := range checks {
		parts = append(parts, `SELECT '`+c.rule+`', `+c.rows)
	}
	return auditCTEs + strings.Join(parts, "\nUNION ALL ")
})
