package money

import (
	"database/sql"
	"fmt"
	"strings"

	"pressroom/internal/platform/db"
	"pressroom/internal/testkit/must"
)

// check holds the answers, the jobs and the ledger against each other.
func (r *killedReports) check() {
	report := must.Get(r.admin.Credits.Audit(r.t.Context()))(r.t)
	if !report.OK() {
		r.t.Errorf("the audit complains: %+v", report.Complaints)
	}
	paid := int64(0)
	for _, o := range r.orders {
		if err := r.judge(o); err != nil {
			r.t.Errorf("%+v, asked %d times: %v: %s", o.call, o.tries, err, o.answer.raw)
		}
		if o.answer.ok() && o.answer.Billing.Charged > 0 {
			paid++
		}
	}
	spent := r.number(`SELECT COALESCE(SUM(charged), 0) FROM reservations`)
	if n := r.number(`SELECT COUNT(*) FROM reservations WHERE key_id > 0`); n != paid {
		r.t.Errorf("%d reservations of calls instead of %d", n, paid)
	}
	if n := r.number(`SELECT COUNT(*) FROM reservations WHERE state <> 'settled'`); n > 0 {
		r.t.Errorf("%d reservations are open", n)
	}
	if n := r.number(`SELECT available FROM wallets WHERE team_id = ?`, r.team.id); n != raidGrant-spent {
		r.t.Errorf("%d credits are left, and %d were spent", n, spent)
	}
	r.checkOnce()
	r.checkSearches()
	r.checkAutomatic()
}

// judge compares the answer to a request with its payment.
func (r *killedReports) judge(o *insisted) error {
	var n, amount, charged int64
	must.NoError(r.t, r.db.QueryRow(r.t.Context(),
		`SELECT COUNT(*), COALESCE(SUM(amount), 0), COALESCE(SUM(charged), 0) FROM reservations
		WHERE key_id = ? AND idempotency_key = ?`, o.key.id, o.call.idem).Scan(&n, &amount, &charged))
	price := int64(0)
	switch {
	case o.answer.refusal() == "422 validation_failed wrong_state" && o.call.verb == "refresh": // its making had failed
	case !o.answer.ok():
		return fmt.Errorf("it was refused")
	default:
		price = o.answer.Billing.Charged
	}
	switch {
	case amount != price || n > 1 || price > 0 && n != 1:
		return fmt.Errorf("%d reservations of %d instead of one of %d", n, amount, price)
	case o.answer.job() == "":
		return nil
	}
	return r.judgeJob(o, price, charged)
}

// judgeJob compares a request's job with its charge.
func (r *killedReports) judgeJob(o *insisted, price, charged int64) error {
	var job jobOfReport
	if !until(r.t.Context(), func() bool {
		answered := must.Get(show(r.t.Context(), r.nodes[0].root(), o.key, "/jobs/"+o.answer.job(), &job))(r.t)
		return answered
	}) {
		return fmt.Errorf("nobody tells of the job")
	}
	switch {
	case !job.Finished:
		return fmt.Errorf("the job goes on: %+v", job)
	case o.call.verb != "refresh" && (job.State == "succeeded") != ((&reportState{subject: o.call.subject}).natural(served) == served):
		return fmt.Errorf("the job ended otherwise: %+v", job)
	case price > 0 && job.Result.Charged != charged, price > 0 && (charged == price) != (job.State == "succeeded"),
		price > 0 && charged != 0 && charged != price:
		return fmt.Errorf("it was charged %d of %d: %+v", charged, price, job)
	}
	return nil
}

// checkOnce checks that each report was charged once, or not at all if it failed.
func (r *killedReports) checkOnce() {
	lines := must.Get(db.All(r.t.Context(), r.db, func(rows *sql.Rows, line *string) error {
		var kind, subject, status string
		var charged int64
		err := rows.Scan(&kind, &subject, &status, &charged)
		p, want := reportState{kind: kind, subject: subject}, "ready"
		wantCharged := p.makingCosts()
		if p.natural(served) != served {
			want, wantCharged = "error", 0
		}
		if status != want || charged != wantCharged {
			*line = fmt.Sprintf("%s %s is %s instead of %s, charged %d instead of %d", kind, subject, status, want, charged, wantCharged)
		}
		return err
	}, `SELECT p.kind, p.subject, p.status, CAST(COALESCE((SELECT SUM(r.charged) FROM report_jobs b
		JOIN jobs j ON j.id = b.job_id JOIN reservations r ON r.id = j.reservation_id
		WHERE b.report_id = p.id AND b.purpose = 'make'), 0) AS BIGINT) FROM reports p`))(r.t)
	for _, line := range lines {
		if line != "" {
			r.t.Error(line)
		}
	}
}

// checkSearches checks that each keyword was charged once, or not at all if nothing was found.
func (r *killedReports) checkSearches() {
	found := 0
	lines := must.Get(db.All(r.t.Context(), r.db, func(rows *sql.Rows, line *string) error {
		var platform, text, job string
		var charged, begun int64
		err := rows.Scan(&platform, &text, &job, &charged, &begun)
		want := prices.HashtagSearch
		if p := (&reportState{kind: keyword, subject: text}); p.natural(served) != served {
			want = 0
		}
		if found++; charged != want || job != "" {
			*line = fmt.Sprintf("%s on %s: %d searches were charged %d instead of %d, and %q goes on", text, platform,
				begun, charged, want, job)
		}
		return err
	}, `SELECT s.platform, s.keyword, s.job_id, CAST(COALESCE(SUM(r.charged), 0) AS BIGINT), COUNT(r.id) FROM hashtag_searches s
		LEFT JOIN hashtag_search_jobs l ON l.search_id = s.id LEFT JOIN jobs j ON j.id = l.job_id LEFT
		JOIN reservations r ON r.id = j.reservation_id GROUP BY s.id, s.platform, s.keyword, s.job_id`))(r.t)
	for _, line := range lines {
		if line != "" {
			r.t.Error(line)
		}
	}
	if found == 0 {
		r.t.Error("nobody searched")
	}
}

// checkAutomatic checks that each due time of a tracked report caused one refresh, which was charged once.
func (r *killedReports) checkAutomatic() {
	all := int64(0)
	for _, id := range r.tracked {
		all += r.nudged[id]
		began, good := r.number(`SELECT COUNT(*) FROM jobs j JOIN report_jobs b ON b.job_id = j.id
		JOIN reservations r ON r.id = j.reservation_id WHERE b.report_id = ? AND b.purpose = 'automatic' AND r.key_id = 0`, id),
			r.number(`SELECT COUNT(*) FROM jobs j JOIN report_jobs b ON b.job_id = j.id
		JOIN reservations r ON r.id = j.reservation_id WHERE b.report_id = ? AND b.purpose = 'automatic' AND r.key_id = 0
				AND j.state = 'succeeded' AND r.charged = r.amount AND r.amount > 0`, id)
		if began != r.nudged[id] || good != began {
			r.t.Errorf("report %s was due %d times, %d refreshes began and %d succeeded and were charged", id, r.nudged[id], began, good)
		}
	}
	if n := r.number(`SELECT COUNT(*) FROM reservations WHERE key_id = 0`); n != all || all == 0 {
		r.t.Errorf("%d automatic charges instead of %d", n, all)
	}
	if strings.Contains(r.nodes[0].logText(), "panic") {
		r.t.Errorf("the program complains: %s", r.nodes[0].logText())
	}
}
