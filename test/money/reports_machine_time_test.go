package money

import (
	"context"
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"pressroom/internal/platform/db"
	"pressroom/internal/teamtime"
	"pressroom/internal/testkit/must"
)

// pass lets time go by: a little, or to around something that happens then.
func (m *reportMachine) pass() {
	d, now := m.anyTeam(), m.clock.Now()
	to := now
	switch index(m.t, 9, "how") {
	case 0:
		to = now.Add(time.Duration(rapid.Int64Range(0, 700).Draw(m.t, "seconds")) * time.Second)
	case 1, 2:
		_, to = teamtime.Day(now, d.zone)
	case 3, 4:
		if p := m.anyOf(d, "tracked", func(p *reportState) bool { return p.tracked }); p != nil {
			to = p.next
		}
	case 5:
		if p := m.anyOf(d, "asked", func(p *reportState) bool { return !p.asked.IsZero() }); p != nil {
			to = p.asked.Add(refreshApart)
		}
	case 7:
		if p := m.anyHunt(d); p != nil {
			to = p.paidUntil
		}
	case 6:
		if p := m.anyOf(d, "ready", func(p *reportState) bool { return p.there(now) }); p != nil {
			to = p.until
		}
	default:
		to = now.Add(time.Duration(rapid.Int64Range(1, 90).Draw(m.t, "hours")) * time.Hour)
	}
	to = to.Add(time.Duration(rapid.IntRange(-1, 1).Draw(m.t, "microseconds")) * time.Microsecond)
	m.moveTo(minTime(to, m.begun.Add(longest)))
}

func (m *reportMachine) anyOf(d *teamState, what string, those func(*reportState) bool) *reportState {
	found := slices.DeleteFunc(slices.Clone(d.reports), func(p *reportState) bool { return !those(p) })
	if len(found) == 0 {
		return nil
	}
	return rapid.SampledFrom(found).Draw(m.t, what)
}

// mayMove is how often the clock may advance while a job waits for its source. Each time the program restarts the job
// as abandoned, and eventually gives up.
const mayMove = 2

// mayWait is how many reports may wait for their source at once.
const mayWait = 2

// moveTo advances the clock after unpredictable work has ended, and processes what is due then.
func (m *reportMachine) moveTo(to time.Time) {
	if !to.After(m.clock.Now()) {
		return
	}
	if len(m.openJobs()) > mayWait { // a worker that retries waits too
		m.letAllGo()
	}
	m.release(m.those(func(e *reportJob) bool {
		ends := !e.report.tracked && !e.report.until.IsZero() && !to.Before(e.report.until)
		return ends || e.moves >= mayMove
	}), served)
	m.clock.Advance(max(0, to.Sub(m.clock.Now()))) // what rested may have taken longer
	for _, d := range m.teams {
		for _, e := range d.openJobs(nil) {
			e.moves++
		}
		m.after(d)
	}
}

func minTime(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// after waits until the program has looked after the reports whose automatic refresh is due, and books it.
func (m *reportMachine) after(d *teamState) {
	now := m.clock.Now()
	d.forget(now)
	waiting := slices.DeleteFunc(slices.Clone(d.reports), func(p *reportState) bool { return !p.tracked || p.next.After(now) })
	if len(waiting) == 0 {
		return
	}
	m.lookAfter(d)
	came := make([]due, len(waiting))
	for i, p := range waiting {
		came[i] = m.cameOf(p)
		m.t.Logf("%v: %#v was due at %v: job %s, next at %v, ended by %q", now, p, p.next, came[i].job, came[i].next, came[i].ended)
		m.counts[fmt.Sprintf("due: begins: %v, ends: %q", came[i].job != "", came[i].ended)]++
	}
	must.NoError(m.t, d.bookDue(now, came))
}

// lookAfter processes due refreshes at once, in parallel with the nodes.
func (m *reportMachine) lookAfter(d *teamState) {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		m.nodes[0].Reports.RunTracking(ctx, func(error) {})
		close(ended)
	}()
	left := int64(-1)
	good := until(ctx, func() bool {
		left = m.number(m.t, `SELECT COUNT(*) FROM reports WHERE team_id = ? AND tracked = 1 AND next_refresh_at <= ?`,
			d.id, db.Micros(m.clock.Now()))
		return left == 0
	})
	stop()
	<-ended
	if !good {
		m.t.Fatalf("nobody looks after %d due reports", left)
	}
}

func (m *reportMachine) cameOf(p *reportState) due {
	came := due{report: p}
	var job string
	var tracked, next int64
	must.NoError(m.t, m.db.QueryRow(context.Background(),
		`SELECT job_id, tracked, next_refresh_at, tracking_ended FROM reports WHERE id = ?`, p.id).
		Scan(&job, &tracked, &next, &came.ended))
	came.next = db.Time(next)
	if p.job == nil || p.job.id != job {
		came.job = job
	}
	if tracked == 0 && came.ended == "" {
		m.t.Fatalf("tracking of %+v ended and nobody said why", p)
	}
	return came
}
