package money

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"pressroom/internal/platform/db"
	"pressroom/internal/testkit/must"
)

// check holds every figure of the team that something was done to against the model.
func (m *reportMachine) check() {
	if m.touched != nil {
		m.checkDesk(m.touched)
	}
	report := must.Get(m.nodes[0].Credits.Audit(context.Background()))(m.t)
	if !report.OK() {
		m.t.Fatalf("the audit complains: %+v", report.Complaints)
	}
}

func (m *reportMachine) checkDesk(d *teamState) {
	now := m.clock.Now()
	d.forget(now)
	for k, key := range d.keys {
		var got credits
		a := m.nodes[k%len(m.nodes)].reads(m.t, key, "/credits")
		m.mustRead(a, &got)
		if want := d.figures(now, key); got.figures() != want || got.DailyLimits.Key != key.limit || got.DailyLimits.Team != d.limit {
			m.t.Fatalf("the credits are %+v instead of %+v, key %d, team %d: %s", got, want, key.limit, d.limit, a.raw)
		}
	}
	m.checkFreeCalls(d)
	m.checkReports(d)
	m.checkHunts(d)
	m.checkCounts(d)
}

// checkFreeCalls compares the daily free calls with the model. Calls in leases are not used yet.
func (m *reportMachine) checkFreeCalls(d *teamState) {
	var since, until, stored int64
	now := m.clock.Now()
	must.NoError(m.t, m.db.QueryRow(context.Background(),
		`SELECT COALESCE(MAX(starts_at), 0), COALESCE(MAX(ends_at), 0), COALESCE(MAX(used), 0) FROM free_calls
		WHERE team_id = ?`, d.id).Scan(&since, &until, &stored))
	stored = (&freeDay{db.Time(since), db.Time(until), stored, nil, 0, db.Time(0)}).at(now, d.zone).used
	used := stored
	for _, n := range m.nodes {
		var limits struct {
			Left int64 `json:"free_calls_left_today"`
		}
		m.mustRead(n.reads(m.t, d.keys[0], "/limits"), &limits)
		used -= limits.Left - (callsForFree - stored)
	}
	if want := d.free[d.day(now)]; used != want {
		m.t.Fatalf("%d free calls are used instead of %d", used, want)
	}
}

// checkReports compares every stored report with the model.
func (m *reportMachine) checkReports(d *teamState) {
	got := must.Get(db.All(context.Background(), m.db, func(rows *sql.Rows, line *string) error {
		var id, status, job string
		var tracked, days, next, refreshed, until int64
		err := rows.Scan(&id, &status, &job, &tracked, &days, &next, &refreshed, &until)
		*line = fmt.Sprint(id, status, job, tracked == 1, days, next, refreshed, until)
		return err
	}, `SELECT id, status, job_id, tracked, frequency_days, next_refresh_at, refreshed_at, available_until FROM reports
		WHERE team_id = ? AND (available_until = 0 OR available_until > ? OR tracked = 1)`, d.id, db.Micros(m.clock.Now())))(m.t)
	var want []string
	for _, p := range d.reports {
		want = append(want,
			fmt.Sprint(p.id, p.status, p.job.id, p.tracked, p.days, db.Micros(p.next), db.Micros(p.refreshed), db.Micros(p.until)))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		m.t.Fatalf("the reports are\n%s\ninstead of\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// checkCounts counts what there is, so that a refusal shows that left something behind.
func (m *reportMachine) checkCounts(d *teamState) {
	now, kept, open := m.clock.Now(), 0, 0
	for _, key := range d.keys {
		for _, k := range key.kept {
			if k.isValid(now) {
				kept++
			}
		}
	}
	for _, c := range d.tolls {
		if c.open {
			open++
		}
	}
	want := fmt.Sprint(len(d.tolls), open, len(d.jobs), len(d.openJobs(nil)), kept, len(d.holds))
	var got [6]int
	must.NoError(m.t, m.db.QueryRow(context.Background(),
		`SELECT (SELECT COUNT(*) FROM reservations WHERE team_id = ?), (SELECT COUNT(*) FROM reservations
		WHERE team_id = ? AND state = 'open'),
		(SELECT COUNT(*) FROM jobs WHERE team_id = ?), (SELECT COUNT(*) FROM jobs WHERE team_id = ? AND finished_at = 0),
		(SELECT COUNT(*) FROM paid_requests WHERE key_id IN (?, ?) AND answer IS NOT NULL AND expires_at > ?),
		(SELECT COUNT(*) FROM credit_holds WHERE team_id = ? AND released_at = 0)`,
		d.id, d.id, d.id, d.id, d.keys[0].id, d.keys[1].id, db.Micros(now), d.id).Scan(&got[0], &got[1], &got[2],
		&got[3], &got[4], &got[5]))
	if text := fmt.Sprint(got[0], got[1], got[2], got[3], got[4], got[5]); text != want {
		m.t.Fatalf("reservations, open ones, jobs, unfinished ones, kept answers, holds: %s instead of %s", text, want)
	}
}

// look reads one or all reports.
func (m *reportMachine) look() {
	d, now := m.anyTeam(), m.clock.Now()
	kind, id, found := m.anyReport(d)
	if !found || rapid.Bool().Draw(m.t, "all") {
		m.lookAtAll(d)
		return
	}
	got := m.anyNode().reads(m.t, d.keys[0], "/reports/"+kind+"/"+id)
	p := d.about(reportCall{kind: kind, id: id})
	if p == nil {
		if got.refusal() != "404 not_found" {
			m.t.Fatalf("a report that is not there is shown: %s", got.raw)
		}
		return
	}
	var shown shownReport
	m.mustRead(got, &shown)
	d.free[d.day(now)]++
	if shown.line() != p.line() {
		m.t.Fatalf("%s is shown instead of %s", shown.line(), p.line())
	}
}

// lookAtAll holds the list of the reports against the model.
func (m *reportMachine) lookAtAll(d *teamState) {
	got := m.anyNode().reads(m.t, d.keys[0], "/reports?limit=50")
	d.free[d.day(m.clock.Now())]++
	var list struct{ Reports []shownReport }
	m.mustRead(got, &list)
	var want, shown []string
	for _, p := range d.reports {
		want = append(want, p.line())
	}
	for _, r := range list.Reports {
		shown = append(shown, r.line())
	}
	slices.Sort(want)
	slices.Sort(shown)
	if !slices.Equal(want, shown) {
		m.t.Fatalf("the list is\n%s\ninstead of\n%s", strings.Join(shown, "\n"), strings.Join(want, "\n"))
	}
}

// shownReport is an entry of a list, or what begins a report.
type shownReport struct {
	ID, Kind, Subject, Status, Platform string
	Refreshed                           *struct{ UTC string } `json:"refreshed_at"`
	Until                               *struct{ UTC string } `json:"available_until"`
	Tracked                             bool
}

func (r shownReport) line() string {
	var refreshed, until string
	if r.Refreshed != nil {
		refreshed = r.Refreshed.UTC
	}
	if r.Until != nil {
		until = r.Until.UTC
	}
	return strings.Join([]string{r.ID, r.Kind, r.Platform, r.Subject, r.Status, refreshed, until, fmt.Sprint(r.Tracked)}, " ")
}

func (p *reportState) line() string {
	return strings.Join([]string{
		p.id, p.kind, p.platform, p.subject, p.status, stamp(p.refreshed), stamp(p.until), fmt.Sprint(p.tracked),
	}, " ")
}

// lookAtJob reads the state of a job.
func (m *reportMachine) lookAtJob() {
	d := m.anyTeam()
	if len(d.jobs) == 0 {
		return
	}
	e := pick(m.t, d.jobs, "job")
	got := m.jobOf(e)
	state := got.State
	if state == "running" {
		state = "pending" // whether a worker has claimed it
	}
	if got.Finished != e.finished || state != e.state || e.finished && got.Result.Charged != e.cost() {
		m.t.Fatalf("the job is %+v instead of %s, charged %d", got, e.state, e.cost())
	}
}

func (m *reportMachine) jobOf(e *reportJob) jobOfReport {
	var job jobOfReport
	m.mustRead(m.anyNode().reads(m.t, e.team.keys[0], "/jobs/"+e.id), &job)
	return job
}

func (m *reportMachine) mustRead(a answer, data any) {
	if !a.ok() {
		m.t.Fatalf("nothing is shown: %s", a.raw)
	}
	must.NoError(m.t, json.Unmarshal(a.Data, data))
}

// end waits for all work to end, and compares everything with the model.
func (m *reportMachine) end() {
	m.release(m.openJobs(), served)
	for _, d := range m.teams {
		m.touched = d
		m.lookAtAll(d)
		for _, e := range d.jobs {
			m.mustHaveEnded(e)
		}
		m.check()
		if open := m.number(m.t, `SELECT COUNT(*) FROM reservations WHERE team_id = ? AND state = 'open'`, d.id); open > 0 {
			m.t.Fatalf("%d reservations are open at the end", open)
		}
	}
}
