package money

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"pressroom/internal/core/plan"
	"pressroom/internal/platform/db"
	"pressroom/internal/testkit/must"
)

// keyword is the kind of a search's subject. Each is one hashtag here, so that the source is called once.
const keyword = "keyword"

// window is for how long a keyword is paid for.
var window = time.Duration(plan.Default().Limits.HashtagDays) * 24 * time.Hour

var keywords = []reportCall{
	{platform: "instagram", subject: "quay"}, {platform: "instagram", subject: "pier"},
	{platform: "tiktok", subject: "quay"}, {platform: "instagram", subject: "missingquay"},
}

// anySearch draws a search. Each team of each round has its own keywords, which may be written in several ways.
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

func (m *reportMachine) anyHunt(d *teamState) *reportState {
	found := slices.DeleteFunc(slices.Clone(d.hunts), func(p *reportState) bool { return p.paidUntil.IsZero() })
	if len(found) == 0 {
		return nil
	}
	return rapid.SampledFrom(found).Draw(m.t, "paid")
}

// hunt returns a keyword that the team has searched for.
func (d *teamState) hunt(w reportCall) *reportState {
	for _, p := range d.hunts {
		if p.platform == w.platform && p.subject == w.subject {
			return p
		}
	}
	return nil
}

// judgeSearch returns the expected price of a search: free while the keyword is being searched or paid for.
func (d *teamState) judgeSearch(now time.Time, w reportCall) verdict {
	p := d.hunt(w)
	switch {
	case p != nil && p.job.running():
		return verdict{job: p.job, book: func(answer, *modelCharge) *reportState { return p }}
	case p != nil && now.Before(p.paidUntil):
		return verdict{book: func(a answer, _ *modelCharge) *reportState {
			d.jobs = append(d.jobs, &reportJob{team: d, id: a.job(), purpose: nothing, report: p, finished: true, state: "succeeded"})
			return p
		}}
	case p == nil:
		p = &reportState{kind: keyword, platform: w.platform, subject: w.subject}
	}
	return d.takePlace(verdict{price: prices.HashtagSearch, book: func(a answer, c *modelCharge) *reportState {
		if d.hunt(w) == nil {
			d.hunts = append(d.hunts, p)
		}
		d.begin(p, a.job(), searching, c)
		return p
	}})
}

// endSearch ends a search with the source's answer: it is charged if the source returned the hashtag, which then is
// free for the window.
func (d *teamState) endSearch(now time.Time, e *reportJob, how ending) {
	p := e.report
	switch how {
	case served:
		e.state, p.paidUntil, p.known = "succeeded", now.Add(window), true
		d.settle(now, e.charge, e.charge.amount)
		return
	case missing:
		e.state, e.code = "failed", "nothing_found"
	default:
		e.state, e.code = "failed", "source_unavailable"
		if p.known { // stored figures are returned
			e.state = "partially_succeeded"
		}
	}
	d.settle(now, e.charge, 0)
}

// takes records what cannot be predicted: whether a deleted hashtag had related ones. It is not charged either way.
func (e *reportJob) takes(job jobOfReport) {
	if e.report.known && e.code == "nothing_found" && job.State == "succeeded" {
		e.state, e.code = job.State, ""
	}
}

// want prevents background measurements of searched hashtags, which would call the source at unpredictable times.
func (m *reportMachine) want(e *reportJob) {
	if e.purpose == searching {
		m.exec(m.t, `UPDATE hashtags SET due_at = 0 WHERE due_at > 0`)
	}
}

// checkHunts holds against the model which keywords are searched for, and until when they are paid for.
func (m *reportMachine) checkHunts(d *teamState) {
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
	for _, p := range d.hunts {
		job := ""
		if p.job.running() {
			job = p.job.id
		}
		if job != "" || now.Before(p.paidUntil) {
			want = append(want, fmt.Sprint(p.platform, " ", p.subject, " ", job, " ", max(db.Micros(p.paidUntil), db.Micros(now))))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		m.t.Fatalf("the searches are\n%s\ninstead of\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
