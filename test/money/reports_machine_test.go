package money

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pressroom/internal/testkit"
)

// reportMachine runs the program's reports and their model side by side.
type reportMachine struct {
	*reportEnv
	t       *rapid.T
	teams   []*teamState
	touched *teamState // the one that something was done to
	begun   time.Time  // by the clock
	round   int
	booked  int
	counts  map[string]int
}

// Random requests for reports and searches, at random times, on random nodes, with random results of the provider: every
// call and job ends as the model predicts, and so do refreshes and credits.
func TestReportsByModel(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		for i := range reportMachines { // most of a round is waiting
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				if !postgres(url) {
					playReports(t, newPress(t, testkit.SQLite(t), 1))
					return
				}
				playReports(t, newPress(t, testkit.Postgres(t), 2))
			})
		}
	})
}

func playReports(t *testing.T, p *reportEnv) {
	t.Helper()
	counts, began, tried, failed := map[string]int{}, time.Now(), 0, false
	rapid.Check(t, func(t *rapid.T) {
		// A round is long, so few of those requested by rapid are made, but all after a failure, to minimize it.
		if tried++; tried > reportRounds && !failed {
			return
		}
		failed = true
		m := &reportMachine{reportEnv: p, t: t, round: tried, counts: counts}
		m.run()
		failed = false
	})
	t.Logf("%v: %v", time.Since(began), counts)
}

const (
	reportMachines = 2
	reportRounds   = 5  // of each
	reportSteps    = 80 // in a round, at most
)

// pressZones are those of the two teams. In the second one, clocks change at midnight.
var pressZones = []string{"Europe/Berlin", "America/Santiago"}

// longest is how long a round may last by the clock: reports whose making failed, and jobs, are forgotten after 30
// days.
const longest = 28 * 24 * time.Hour

func (m *reportMachine) run() {
	m.begin()
	for _, zone := range pressZones {
		d := m.newTeam(m.t, zone, 2)
		m.teams = append(m.teams, d)
		defer m.leave(d)
		m.grant(d, rapid.Int64Range(20, 150).Draw(m.t, "credits"))
		m.stock(d)
	}
	m.letAllGo()
	actions := []func(){
		m.create, m.create, m.refresh, m.refresh, m.refresh, m.track, m.track, m.track, m.track, m.track, m.repeat,
		m.repeat, m.twins, m.letGo, m.letGo, m.letAllGo,
		m.search, m.search, m.search, m.search, m.pass, m.pass, m.pass, m.pass, m.pass, m.book, m.book, m.limit,
		m.pause, m.move, m.look, m.lookAtJob, m.outage,
	}
	for range reportSteps/2 + index(m.t, reportSteps/2, "steps") {
		m.letSomeGo()
		m.resume()
		pick(m.t, actions, "action")()
		m.check()
	}
	m.end()
}

// stock creates the reports that a team has from the beginning.
func (m *reportMachine) stock(d *teamState) {
	for _, w := range rapid.SliceOfNDistinct(rapid.SampledFrom(subjects[:there]), 0, there-1, rapid.ID[reportCall]).Draw(m.t, "stock") {
		m.send(d, d.keys[0], m.completeCall(d, w))
	}
}

// index draws a number below n uniformly, because rapid prefers small ones.
func index(t *rapid.T, n int, label string) int {
	return rapid.Custom(func(t *rapid.T) int {
		i := 0
		for range 12 {
			i *= 2
			if rapid.Bool().Draw(t, "bit") {
				i++
			}
		}
		return i % n
	}).Draw(t, label)
}

// pick draws an element uniformly.
func pick[T any](t *rapid.T, of []T, label string) T { return of[index(t, len(of), label)] }

// begin sets the clock on to a day or so before clocks change somewhere, at some time of that day.
func (m *reportMachine) begin() {
	zone := location(pick(m.t, pressZones, "clocks change in"))
	before := time.Duration(rapid.IntRange(0, 26*60).Draw(m.t, "minutes before")) * time.Minute
	at := m.clock.Now().Add(longest)
	for offset(at, zone) == offset(at.Add(time.Hour), zone) {
		at = at.Add(time.Hour)
	}
	m.begun = at.Truncate(time.Hour).Add(time.Hour - before)
	m.clock.Advance(m.begun.Sub(m.clock.Now()))
}

func offset(at time.Time, zone *time.Location) int {
	_, east := at.In(zone).Zone()
	return east
}

// leave stops the automatic work of a team of a failed round.
func (m *reportMachine) leave(d *teamState) {
	for _, e := range d.openJobs(nil) {
		m.source.let(e.report.address(), served)
	}
	m.exec(m.t, `UPDATE reports SET tracked = 0 WHERE team_id = ?`, d.id)
}

func (m *reportMachine) anyTeam() *teamState {
	m.touched = pick(m.t, m.teams, "team")
	return m.touched
}

func (m *reportMachine) anyNode() reportNode {
	return pick(m.t, m.nodes, "node")
}

func (m *reportMachine) anyIdem() string {
	return fmt.Sprint("key ", index(m.t, 16, "idem"))
}
