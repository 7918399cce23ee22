package money

import (
	"context"
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/teamtime"
	"pressroom.example/pressroom/internal/testkit/must"
)

// advanceClock advances the clock: by a random time, or to about a midnight, a refresh or an expiry.
func (m *reportMachine) advanceClock() {
	d, now := m.anyTeam(), m.clock.Now()
	to := now
	switch uniform(m.t, 9, "how") {
	case 0:
		to = now.Add(time.Duration(rapid.Int64Range(0, 700).Draw(m.t, "seconds")) * time.Second)
	case 1, 2:
		_, to = teamtime.Day(now, d.zone)
	case 3, 4:
		if p := m.anyMatching(d, "tracked", func(p *reportState) bool { return p.tracked }); p != nil {
			to = p.nextRefresh
		}
	case 5:
		if p := m.anyMatching(d, "asked", func(p *reportState) bool { return !p.refreshRequested.IsZero() }); p != nil {
			to = p.refreshRequested.Add(refreshInterval)
		}
	case 7:
		if p := m.anyPaidKeyword(d); p != nil {
			to = p.paidUntil
		}
	case 6:
		if p := m.anyMatching(d, "ready", func(p *reportState) bool { return p.isReady(now) }); p != nil {
			to = p.availableUntil
		}
	default:
		to = now.Add(time.Duration(rapid.Int64Range(1, 90).Draw(m.t, "hours")) * time.Hour)
	}
	to = to.Add(time.Duration(rapid.IntRange(-1, 1).Draw(m.t, "microseconds")) * time.Microsecond)
	m.moveTo(minTime(to, m.roundStart.Add(maxRound)))
}

// anyMatching draws one of the team's matching reports, or returns nil.
func (m *reportMachine) anyMatching(d *teamState, label string, matches func(*reportState) bool) *reportState {
	found := slices.DeleteFunc(slices.Clone(d.reports), func(p *reportState) bool { return !matches(p) })
	if len(found) == 0 {
		return nil
	}
	return rapid.SampledFrom(found).Draw(m.t, label)
}

// maxClockMoves is how often the clock may advance while a job waits for the provider. At each advance, the program
// considers the job abandoned and restarts it, up to a limit.
const maxClockMoves = 2

// maxWaiting is how many jobs may wait for the provider concurrently.
const maxWaiting = 2

// moveTo advances the clock and processes due refreshes. Jobs that would become unpredictable finish first.
func (m *reportMachine) moveTo(to time.Time) {
	if !to.After(m.clock.Now()) {
		return
	}
	if len(m.openJobs()) > maxWaiting { // a retrying worker also occupies a slot
		m.releaseAll()
	}
	m.release(m.unfinishedJobs(func(e *reportJob) bool {
		expires := !e.report.tracked && !e.report.availableUntil.IsZero() && !to.Before(e.report.availableUntil)
		return expires || e.clockMoves >= maxClockMoves
	}), served)
	m.clock.Advance(max(0, to.Sub(m.clock.Now()))) // a retry may have advanced the clock further
	for _, d := range m.teams {
		for _, e := range d.openJobs(nil) {
			e.clockMoves++
		}
		m.processDue(d)
	}
}

func minTime(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// processDue waits until the program has processed the due automatic refreshes, and applies the results to the model.
func (m *reportMachine) processDue(d *teamState) {
	now := m.clock.Now()
	d.removeExpired(now)
	waiting := slices.DeleteFunc(slices.Clone(d.reports), func(p *reportState) bool { return !p.tracked || p.nextRefresh.After(now) })
	if len(waiting) == 0 {
		return
	}
	m.runDue(d)
	results := make([]due, len(waiting))
	for i, p := range waiting {
		results[i] = m.readDue(p)
		m.t.Logf("%v: %#v was due at %v: %+v", now, p, p.nextRefresh, results[i])
		m.counts[fmt.Sprintf("due: begins: %v, ends: %q", results[i].job != "", results[i].ended)]++
	}
	must.NoError(m.t, d.bookDue(now, results))
}

// runDue processes due refreshes immediately, in parallel with the nodes.
func (m *reportMachine) runDue(d *teamState) {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		m.nodes[0].Reports.RunTracking(ctx, func(error) {})
		close(ended)
	}()
	left := int64(-1)
	done := poll(ctx, func() bool {
		left = m.queryInt(m.t, `SELECT COUNT(*) FROM reports WHERE team_id = ? AND tracked = 1 AND next_refresh_at <= ?`,
			d.id, db.Micros(m.clock.Now()))
		return left == 0
	})
	stop()
	<-ended
	if !done {
		m.t.Fatalf("%d due reports were not processed", left)
	}
}

// readDue reads how the program handled a due report.
func (m *reportMachine) readDue(p *reportState) due {
	result := due{report: p}
	var job string
	var tracked, next int64
	must.NoError(m.t, m.db.QueryRow(context.Background(),
		`SELECT job_id, tracked, next_refresh_at, tracking_ended FROM reports WHERE id = ?`, p.id).
		Scan(&job, &tracked, &next, &result.ended))
	result.next = db.Time(next)
	if p.job == nil || p.job.id != job {
		result.job = job
	}
	if tracked == 0 && result.ended == "" {
		m.t.Fatalf("tracking of %+v ended without a reason", p)
	}
	return result
}
