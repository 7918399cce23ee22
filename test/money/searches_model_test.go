package money

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

// keyword is the kind of a searched subject. Each keyword is a single hashtag, so that the provider is called once.
const keyword = "keyword"

// paidWindow is how long searches for a keyword are free after it was charged.
var paidWindow = time.Duration(plan.Default().Limits.HashtagDays) * 24 * time.Hour

var keywords = []reportCall{
	{platform: "instagram", subject: "quay"}, {platform: "instagram", subject: "pier"},
	{platform: "tiktok", subject: "quay"}, {platform: "instagram", subject: "missingquay"},
}

// anySearch draws a search. Each team of each round has its own keywords, which can be written in several ways.
func (m *reportMachine) anySearch(d *teamState) reportCall {
	w := pick(m.t, keywords, "keyword")
	w.verb, w.kind, w.idem, w.brief = "search", keyword, m.anyIdem(), rapid.Bool().Draw(m.t, "brief")
	w.subject = fmt.Sprintf("%s_%d_%d", w.subject, d.id, m.round)
	w.text = pick(m.t, []string{w.subject, "#" + w.subject, strings.ToUpper(w.subject), " " + w.subject + " "}, "written")
	return w
}

func (m *reportMachine) search() {
	d := m.anyTeam()
	m.send(d, m.anyKey(d), m.anySearch(d))
}

// anyPaidKeyword draws a keyword that was charged, or returns nil.
func (m *reportMachine) anyPaidKeyword(d *teamState) *reportState {
	found := slices.DeleteFunc(slices.Clone(d.keywords), func(p *reportState) bool { return p.paidUntil.IsZero() })
	if len(found) == 0 {
		return nil
	}
	return rapid.SampledFrom(found).Draw(m.t, "paid")
}

// findKeyword returns the searched keyword of a call, or nil.
func (d *teamState) findKeyword(w reportCall) *reportState {
	for _, p := range d.keywords {
		if p.platform == w.platform && p.subject == w.subject {
			return p
		}
	}
	return nil
}

// expectedSearch returns the expected result of a search, which is free while a search is running or within the paid
// window.
func (d *teamState) expectedSearch(now time.Time, w reportCall) expectation {
	p := d.findKeyword(w)
	switch {
	case p != nil && p.job.isRunning():
		return expectation{job: p.job, apply: func(answer, *modelCharge) *reportState { return p }}
	case p != nil && now.Before(p.paidUntil):
		return expectation{apply: func(a answer, _ *modelCharge) *reportState {
			d.jobs = append(d.jobs, &reportJob{team: d, id: a.jobID(), purpose: purposeNone, report: p, finished: true, state: "succeeded"})
			return p
		}}
	case p == nil:
		p = &reportState{kind: keyword, platform: w.platform, subject: w.subject}
	}
	return d.limitJobs(expectation{price: prices.HashtagSearch, apply: func(a answer, c *modelCharge) *reportState {
		if d.findKeyword(w) == nil {
			d.keywords = append(d.keywords, p)
		}
		d.startJob(p, a.jobID(), purposeSearch, c)
		return p
	}})
}

// endSearch updates the model after the provider has answered a search. If the provider returned the hashtag, the
// search is charged, and further searches are free during the window.
func (d *teamState) endSearch(now time.Time, e *reportJob, how ending) {
	p := e.report
	switch how {
	case served:
		e.state, p.paidUntil, p.hasMetrics = "succeeded", now.Add(paidWindow), true
		d.settle(now, e.charge, e.charge.amount)
		return
	case missing:
		e.state, e.code = "failed", "nothing_found"
	default:
		e.state, e.code = "failed", "source_unavailable"
		if p.hasMetrics { // stored metrics are returned
			e.state = "partially_succeeded"
		}
	}
	d.settle(now, e.charge, 0)
}

// acceptUnpredictable accepts either result for a missing hashtag, because only the provider knows whether it has
// related hashtags.
func (e *reportJob) acceptUnpredictable(job jobOfReport) {
	if e.report.hasMetrics && e.code == "nothing_found" && job.State == "succeeded" {
		e.state, e.code = job.State, ""
	}
}

// cancelMeasurements prevents background measurements of searched hashtags, which would call the provider
// unpredictably.
func (m *reportMachine) cancelMeasurements(e *reportJob) {
	if e.purpose == purposeSearch {
		m.exec(m.t, `UPDATE hashtags SET due_at = 0 WHERE due_at > 0`)
	}
}

// checkSearches compares the running searches and the paid windows with the model.
func (m *reportMachine) checkSearches(d *teamState) {
	now := m.clock.Now()
	got := must.Get(db.All(context.Background(), m.db, func(rows *sql.Rows, line *string) error {
		var platform, text, job string
		var until int64
		err := rows.Scan(&platform, &text, &job, &until)
		*line = fmt.Sprint(platform, " ", text, " ", job, " ", max(until, db.Micros(now)))
		return err
	}, `SELECT platform, keyword, job_id, paid_until FROM hashtag_searches
		WHERE team_id = ? AND (job_id <> '' OR paid_until > ?)`, d.id, db.Micros(now)))(m.t)
	var want []string
	for _, p := range d.keywords {
		job := ""
		if p.job.isRunning() {
			job = p.job.id
		}
		if job != "" || now.Before(p.paidUntil) {
			want = append(want, fmt.Sprint(p.platform, " ", p.subject, " ", job, " ", max(db.Micros(p.paidUntil), db.Micros(now))))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		m.t.Fatalf("searches:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
