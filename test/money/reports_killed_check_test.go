package money

import (
	"database/sql"
	"fmt"
	"strings"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

// check compares the answers, the jobs and the ledger with each other.
func (r *killedReports) check() {
	report := must.Get(r.admin.Credits.Audit(r.t.Context()))(r.t)
	if !report.OK() {
		r.t.Errorf("audit violations: %+v", report.Violations)
	}
	paid := int64(0)
	for _, o := range r.answered {
		if err := r.checkCharge(o); err != nil {
			r.t.Errorf("%+v, called %d times: %v: %s", o.call, o.tries, err, o.answer.raw)
		}
		if o.answer.isSuccess() && o.answer.Billing.Charged > 0 {
			paid++
		}
	}
	spent := r.queryInt(`SELECT COALESCE(SUM(charged), 0) FROM reservations`)
	if n := r.queryInt(`SELECT COUNT(*) FROM reservations WHERE key_id > 0`); n != paid {
		r.t.Errorf("%d reservations of calls, want %d", n, paid)
	}
	if n := r.queryInt(`SELECT COUNT(*) FROM reservations WHERE state <> 'settled'`); n > 0 {
		r.t.Errorf("%d open reservations", n)
	}
	if n := r.queryInt(`SELECT available FROM wallets WHERE team_id = ?`, r.team.id); n != raidGrant-spent {
		r.t.Errorf("%d credits left after %d were spent", n, spent)
	}
	r.checkOnce()
	r.checkSearches()
	r.checkAutomatic()
}

// checkCharge compares the answer to a request with its payment.
func (r *killedReports) checkCharge(o *answeredCall) error {
	var n, amount, charged int64
	must.NoError(r.t, r.db.QueryRow(r.t.Context(),
		`SELECT COUNT(*), COALESCE(SUM(amount), 0), COALESCE(SUM(charged), 0) FROM reservations
		WHERE key_id = ? AND idempotency_key = ?`, o.key.id, o.call.idem).Scan(&n, &amount, &charged))
	price := int64(0)
	switch {
	case o.answer.rejection() == "422 validation_failed wrong_state" && o.call.verb == "refresh": // the report could not be created
	case !o.answer.isSuccess():
		return fmt.Errorf("the call was rejected")
	default:
		price = o.answer.Billing.Charged
	}
	switch {
	case amount != price || n > 1 || price > 0 && n != 1:
		return fmt.Errorf("%d reservations of %d credits, want one of %d", n, amount, price)
	case o.answer.jobID() == "":
		return nil
	}
	return r.checkJob(o, price, charged)
}

// checkJob compares a request's job with its charge.
func (r *killedReports) checkJob(o *answeredCall, price, charged int64) error {
	var job jobOfReport
	if !poll(r.t.Context(), func() bool {
		answered := must.Get(readData(r.t.Context(), r.nodes[0].baseURL(), o.key, "/jobs/"+o.answer.jobID(), &job))(r.t)
		return answered
	}) {
		return fmt.Errorf("no response about the job")
	}
	switch {
	case !job.Finished:
		return fmt.Errorf("the job has not finished: %+v", job)
	case o.call.verb != "refresh" && (job.State == "succeeded") != ((&reportState{subject: o.call.subject}).endingOf(served) == served):
		return fmt.Errorf("unexpected job state: %+v", job)
	case price > 0 && job.Result.Charged != charged, price > 0 && (charged == price) != (job.State == "succeeded"),
		price > 0 && charged != 0 && charged != price:
		return fmt.Errorf("charged %d of %d credits: %+v", charged, price, job)
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
		wantCharged := p.createPrice()
		if p.endingOf(served) != served {
			want, wantCharged = "error", 0
		}
		if status != want || charged != wantCharged {
			*line = fmt.Sprintf("%s %s: status %s, want %s; charged %d, want %d", kind, subject, status, want, charged, wantCharged)
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
		if p := (&reportState{kind: keyword, subject: text}); p.endingOf(served) != served {
			want = 0
		}
		if found++; charged != want || job != "" {
			*line = fmt.Sprintf("%s on %s: %d searches were charged %d, want %d; unfinished job %q", text, platform,
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
		r.t.Error("no searches were made")
	}
}

// checkAutomatic checks that each due tracked report was refreshed once and charged once.
func (r *killedReports) checkAutomatic() {
	all := int64(0)
	for _, id := range r.tracked {
		all += r.dueCount[id]
		began, good := r.queryInt(`SELECT COUNT(*) FROM jobs j JOIN report_jobs b ON b.job_id = j.id
		JOIN reservations r ON r.id = j.reservation_id WHERE b.report_id = ? AND b.purpose = 'automatic' AND r.key_id = 0`, id),
			r.queryInt(`SELECT COUNT(*) FROM jobs j JOIN report_jobs b ON b.job_id = j.id
		JOIN reservations r ON r.id = j.reservation_id WHERE b.report_id = ? AND b.purpose = 'automatic' AND r.key_id = 0
				AND j.state = 'succeeded' AND r.charged = r.amount AND r.amount > 0`, id)
		if began != r.dueCount[id] || good != began {
			r.t.Errorf("report %s was due %d times; %d refreshes began, %d succeeded and were charged", id, r.dueCount[id], began, good)
		}
	}
	if n := r.queryInt(`SELECT COUNT(*) FROM reservations WHERE key_id = 0`); n != all || all == 0 {
		r.t.Errorf("%d automatic charges, want %d", n, all)
	}
	if strings.Contains(r.nodes[0].logText(), "panic") {
		r.t.Errorf("a server panicked: %s", r.nodes[0].logText())
	}
}
