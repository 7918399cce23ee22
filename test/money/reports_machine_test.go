package money

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/testkit"
)

// reportMachine applies random actions to the servers and to the model of the reports, and compares them.
type reportMachine struct {
	*reportEnv
	t          *rapid.T
	teams      []*teamState
	lastTeam   *teamState // the team of the last action
	roundStart time.Time  // start of the round by the test's clock
	round      int
	booked     int
	counts     map[string]int
}

// Reports and searches are requested at random times, on random nodes, with random results of the provider. Every call,
// job, automatic refresh and credit matches the model.
func TestReportsByModel(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		for i := range reportMachines { // in parallel, because a round mostly waits
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				if !postgres(url) {
					runRounds(t, newReportEnv(t, testkit.SQLite(t), 1))
					return
				}
				runRounds(t, newReportEnv(t, testkit.Postgres(t), 2))
			})
		}
	})
}

func runRounds(t *testing.T, p *reportEnv) {
	t.Helper()
	counts, began, tried, failed := map[string]int{}, time.Now(), 0, false
	rapid.Check(t, func(t *rapid.T) {
		// A round takes long, so only the first rounds run. After a failure, all rounds run so that rapid can
		// minimize it.
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
	reportRounds   = 5  // rounds of each machine
	reportSteps    = 80 // actions in a round, at most
)

// reportZones are the time zones of the two teams. In the second zone, clocks change at midnight.
var reportZones = []string{"Europe/Berlin", "America/Santiago"}

// maxRound is the maximum duration of a round by the test's clock. The program deletes jobs and failed reports after 30
// days.
const maxRound = 28 * 24 * time.Hour

func (m *reportMachine) run() {
	m.startRound()
	for _, zone := range reportZones {
		d := m.newTeam(m.t, zone, 2)
		m.teams = append(m.teams, d)
		defer m.stopAutomatic(d)
		m.grant(d, rapid.Int64Range(20, 150).Draw(m.t, "credits"))
		m.createInitial(d)
	}
	m.releaseAll()
	actions := []func(){
		m.create, m.create, m.refresh, m.refresh, m.refresh, m.track, m.track, m.track, m.track, m.track, m.repeat,
		m.repeat, m.callTwice, m.releaseOne, m.releaseOne, m.releaseAll,
		m.search, m.search, m.search, m.search,
		m.advanceClock, m.advanceClock, m.advanceClock, m.advanceClock, m.advanceClock, m.changeBalance, m.changeBalance, m.changeLimit,
		m.pause, m.changePlan, m.checkRandomReport, m.checkRandomJob, m.outage,
	}
	for range reportSteps/2 + uniform(m.t, reportSteps/2, "steps") {
		m.releaseOverdue()
		m.resume()
		pick(m.t, actions, "action")()
		m.check()
	}
	m.finishRound()
}

// createInitial creates the initial reports of a team.
func (m *reportMachine) createInitial(d *teamState) {
	subject := rapid.SampledFrom(subjects[:existingSubjects])
	for _, w := range rapid.SliceOfNDistinct(subject, 0, existingSubjects-1, rapid.ID[reportCall]).Draw(m.t, "initial reports") {
		m.send(d, d.keys[0], m.completeCall(d, w))
	}
}

// uniform draws a number below n uniformly, because rapid prefers small numbers.
func uniform(t *rapid.T, n int, label string) int {
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
func pick[T any](t *rapid.T, list []T, label string) T { return list[uniform(t, len(list), label)] }

// startRound advances the clock to a random time within 26 hours before a daylight saving change in one of the zones.
func (m *reportMachine) startRound() {
	zone := location(pick(m.t, reportZones, "clocks change in"))
	before := time.Duration(rapid.IntRange(0, 26*60).Draw(m.t, "minutes before")) * time.Minute
	at := m.clock.Now().Add(maxRound)
	for utcOffset(at, zone) == utcOffset(at.Add(time.Hour), zone) {
		at = at.Add(time.Hour)
	}
	m.roundStart = at.Truncate(time.Hour).Add(time.Hour - before)
	m.clock.Advance(m.roundStart.Sub(m.clock.Now()))
}

func utcOffset(at time.Time, zone *time.Location) int {
	_, east := at.In(zone).Zone()
	return east
}

// stopAutomatic stops the automatic refreshes of a team at the end of a round.
func (m *reportMachine) stopAutomatic(d *teamState) {
	for _, e := range d.openJobs(nil) {
		m.gate.answer(e.report.address(), served)
	}
	m.exec(m.t, `UPDATE reports SET tracked = 0 WHERE team_id = ?`, d.id)
}

func (m *reportMachine) anyTeam() *teamState {
	m.lastTeam = pick(m.t, m.teams, "team")
	return m.lastTeam
}

func (m *reportMachine) anyNode() reportNode {
	return pick(m.t, m.nodes, "node")
}

func (m *reportMachine) anyIdem() string {
	return fmt.Sprint("key ", uniform(m.t, 16, "idem"))
}
