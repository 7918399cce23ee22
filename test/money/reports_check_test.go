package money

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

// check compares the team of the last action, and the credit audit, with the model.
func (m *reportMachine) check() {
	if m.lastTeam != nil {
		m.checkTeam(m.lastTeam)
	}
	report := must.Get(m.nodes[0].Credits.Audit(context.Background()))(m.t)
	if !report.OK() {
		m.t.Fatalf("audit violations: %+v", report.Violations)
	}
}

// checkTeam compares all data of a team with the model.
func (m *reportMachine) checkTeam(d *teamState) {
	now := m.clock.Now()
	d.removeExpired(now)
	for k, key := range d.keys {
		var got credits
		a := m.nodes[k%len(m.nodes)].get(m.t, key, "/credits")
		m.mustRead(a, &got)
		if want := d.counts(now, key); got.counts() != want || got.DailyLimits.Key != key.limit || got.DailyLimits.Team != d.limit {
			m.t.Fatalf("credits = %+v, want %+v, key limit %d, team limit %d: %s", got, want, key.limit, d.limit, a.raw)
		}
	}
	m.checkFreeCalls(d)
	m.checkReports(d)
	m.checkSearches(d)
	m.checkCounts(d)
}

// checkFreeCalls compares the daily free calls with the model. Leased calls do not count as used.
func (m *reportMachine) checkFreeCalls(d *teamState) {
	var since, until, stored int64
	now := m.clock.Now()
	must.NoError(m.t, m.db.QueryRow(context.Background(),
		`SELECT COALESCE(MAX(starts_at), 0), COALESCE(MAX(ends_at), 0), COALESCE(MAX(used), 0) FROM free_calls
		WHERE team_id = ?`, d.id).Scan(&since, &until, &stored))
	stored = (&freeDay{db.Time(since), db.Time(until), stored, nil, 0, db.Time(0)}).rollOver(now, d.zone).used
	used := stored
	for _, n := range m.nodes {
		var limits struct {
			Left int64 `json:"free_calls_left_today"`
		}
		m.mustRead(n.get(m.t, d.keys[0], "/limits"), &limits)
		used -= limits.Left - (freeCallsPerDay - stored)
	}
	if want := d.usedFree[d.day(now)]; used != want {
		m.t.Fatalf("%d free calls used, want %d", used, want)
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
			fmt.Sprint(p.id, p.status, p.job.id, p.tracked, p.days, db.Micros(p.nextRefresh), db.Micros(p.refreshed),
				db.Micros(p.availableUntil)))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		m.t.Fatalf("reports:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// checkCounts compares row counts with the model, to detect rows that a failed call has left.
func (m *reportMachine) checkCounts(d *teamState) {
	now, records, open := m.clock.Now(), 0, 0
	for _, key := range d.keys {
		for _, k := range key.answers {
			if k.isValid(now) {
				records++
			}
		}
	}
	for _, c := range d.charges {
		if c.isOpen {
			open++
		}
	}
	want := fmt.Sprint(len(d.charges), open, len(d.jobs), len(d.openJobs(nil)), records, len(d.holds))
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
		m.t.Fatalf("reservations, open reservations, jobs, unfinished jobs, stored answers, holds = %s, want %s", text, want)
	}
}

// checkRandomReport reads one report, or the list of reports, and compares it with the model.
func (m *reportMachine) checkRandomReport() {
	d, now := m.anyTeam(), m.clock.Now()
	kind, id, found := m.anyReport(d)
	if !found || rapid.Bool().Draw(m.t, "all") {
		m.checkList(d)
		return
	}
	got := m.anyNode().get(m.t, d.keys[0], "/reports/"+kind+"/"+id)
	p := d.findReport(reportCall{kind: kind, id: id})
	if p == nil {
		if got.rejection() != "404 not_found" {
			m.t.Fatalf("want 404 for an unknown or expired report: %s", got.raw)
		}
		return
	}
	var report shownReport
	m.mustRead(got, &report)
	d.usedFree[d.day(now)]++
	if report.line() != p.line() {
		m.t.Fatalf("report %s, want %s", report.line(), p.line())
	}
}

// checkList compares the list of reports with the model.
func (m *reportMachine) checkList(d *teamState) {
	got := m.anyNode().get(m.t, d.keys[0], "/reports?limit=50")
	d.usedFree[d.day(m.clock.Now())]++
	var list struct{ Reports []shownReport }
	m.mustRead(got, &list)
	var want, listed []string
	for _, p := range d.reports {
		want = append(want, p.line())
	}
	for _, r := range list.Reports {
		listed = append(listed, r.line())
	}
	slices.Sort(want)
	slices.Sort(listed)
	if !slices.Equal(want, listed) {
		m.t.Fatalf("list:\n%s\nwant:\n%s", strings.Join(listed, "\n"), strings.Join(want, "\n"))
	}
}

// shownReport holds the fields that a report and its list entry share.
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
		p.id, p.kind, p.platform, p.subject, p.status, formatTime(p.refreshed), formatTime(p.availableUntil), fmt.Sprint(p.tracked),
	}, " ")
}

// checkRandomJob reads a job and compares it with the model.
func (m *reportMachine) checkRandomJob() {
	d := m.anyTeam()
	if len(d.jobs) == 0 {
		return
	}
	e := pick(m.t, d.jobs, "job")
	got := m.readJob(e)
	state := got.State
	if state == "running" {
		state = "pending" // the model does not know whether a worker has claimed the job
	}
	if got.Finished != e.finished || state != e.state || e.finished && got.Result.Charged != e.cost() {
		m.t.Fatalf("job %+v, want state %s, charged %d", got, e.state, e.cost())
	}
}

func (m *reportMachine) readJob(e *reportJob) jobOfReport {
	var job jobOfReport
	m.mustRead(m.anyNode().get(m.t, e.team.keys[0], "/jobs/"+e.id), &job)
	return job
}

func (m *reportMachine) mustRead(a answer, data any) {
	if !a.isSuccess() {
		m.t.Fatalf("reading failed: %s", a.raw)
	}
	must.NoError(m.t, json.Unmarshal(a.Data, data))
}

// finishRound waits for all jobs to end and compares everything with the model.
func (m *reportMachine) finishRound() {
	m.release(m.openJobs(), served)
	for _, d := range m.teams {
		m.lastTeam = d
		m.checkList(d)
		for _, e := range d.jobs {
			m.mustHaveEnded(e)
		}
		m.check()
		if open := m.queryInt(m.t, `SELECT COUNT(*) FROM reservations WHERE team_id = ? AND state = 'open'`, d.id); open > 0 {
			m.t.Fatalf("%d reservations still open at the end", open)
		}
	}
}
