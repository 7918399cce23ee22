package money

import (
	"context"
	"fmt"
	"time"

	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/testkit/must"
)

// outage requests a report while the provider's health check fails. The result of the check is cached for five seconds.
func (m *reportMachine) outage() {
	d := m.anyTeam()
	m.moveTo(m.clock.Now().Add(6 * time.Second))
	m.gate.update(func() { m.gate.down = true })
	d.outage = true
	m.send(d, m.anyKey(d), m.anyCreate(d))
	d.outage = false
	m.gate.update(func() { m.gate.down = false })
	m.moveTo(m.clock.Now().Add(6 * time.Second))
}

// changeBalance grants or withdraws credits.
func (m *reportMachine) changeBalance() {
	d, credits := m.anyTeam(), rapid.Int64Range(1, 40).Draw(m.t, "credits")
	if uniform(m.t, 3, "grant") > 0 {
		m.grant(d, credits)
		return
	}
	m.booked++
	_, err := m.nodes[0].Credits.Withdraw(context.Background(), d.id, credits, fmt.Sprint("booking ", m.booked), "")
	if (err == nil) != (credits <= d.balance) {
		m.t.Fatalf("withdrawing %d of %d: %v", credits, d.balance, err)
	}
	if err == nil {
		d.balance -= credits
	}
}

func (m *reportMachine) grant(d *teamState, credits int64) {
	m.booked++
	must.Get(m.nodes[0].Credits.Grant(context.Background(), d.id, credits, fmt.Sprint("booking ", m.booked), ""))(m.t)
	d.balance += credits
}

// changeLimit sets the daily limit of a key or of a team.
func (m *reportMachine) changeLimit() {
	d := m.anyTeam()
	credits := pick(m.t, []int64{-1, -1, -1, 1, 7, 12, 20, 30}, "credits")
	if rapid.Bool().Draw(m.t, "of a key") {
		key := m.anyKey(d)
		key.limit = credits
		must.NoError(m.t, m.nodes[0].Teams.SetKeyLimit(context.Background(), key.id, credits))
	} else {
		d.limit = credits
		must.NoError(m.t, m.nodes[0].Teams.SetDailyCredits(context.Background(), d.id, &credits))
	}
	m.awaitAccessChange()
}

// awaitAccessChange waits until a change of access takes effect on every node, at most a second.
func (m *reportMachine) awaitAccessChange() { m.moveTo(m.clock.Now().Add(1100 * time.Millisecond)) }

// pause pauses a team's spending.
func (m *reportMachine) pause() {
	d := m.anyTeam()
	if !d.paused {
		must.NoError(m.t, m.nodes[0].Teams.Pause(context.Background(),
			team.Pause{Scope: team.ForTeam, Target: d.id, Action: access.PauseSpending}))
		d.paused = true
		m.awaitAccessChange()
	}
}

// resume resumes the paused teams, each with a probability of one in five.
func (m *reportMachine) resume() {
	for _, d := range m.teams {
		if d.paused && uniform(m.t, 5, "resume") == 0 {
			must.NoError(m.t, m.nodes[0].Teams.Resume(context.Background(),
				team.Pause{Scope: team.ForTeam, Target: d.id, Action: access.PauseSpending}))
			d.paused = false
			m.awaitAccessChange()
		}
	}
}

// changePlan moves a team to the other plan.
func (m *reportMachine) changePlan() {
	d := m.anyTeam()
	d.plan = map[string]string{largePlan: smallPlan, smallPlan: largePlan}[d.plan]
	must.NoError(m.t, m.nodes[0].Teams.SetPlan(context.Background(), d.id, d.plan, time.Time{}))
	m.awaitAccessChange()
}
