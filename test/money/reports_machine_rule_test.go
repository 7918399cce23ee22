package money

import (
	"context"
	"fmt"
	"time"

	"pgregory.net/rapid"

	"pressroom/internal/core/access"
	"pressroom/internal/domain/team"
	"pressroom/internal/testkit/must"
)

// outage asks for a report while the source says that it is out of order. What it said is believed for five seconds.
func (m *pressMachine) outage() {
	d := m.anyDesk()
	m.moveTo(m.clock.Now().Add(6 * time.Second))
	m.source.change(func() { m.source.down = true })
	d.outage = true
	m.send(d, m.anyKey(d), m.anyCreate(d))
	d.outage = false
	m.source.change(func() { m.source.down = false })
	m.moveTo(m.clock.Now().Add(6 * time.Second))
}

// book tops a team up, or takes credits away.
func (m *pressMachine) book() {
	d, credits := m.anyDesk(), rapid.Int64Range(1, 40).Draw(m.t, "credits")
	if index(m.t, 3, "grant") > 0 {
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

func (m *pressMachine) grant(d *desk, credits int64) {
	m.booked++
	must.Get(m.nodes[0].Credits.Grant(context.Background(), d.id, credits, fmt.Sprint("booking ", m.booked), ""))(m.t)
	d.balance += credits
}

// limit sets the daily limit of a key, or of the team.
func (m *pressMachine) limit() {
	d := m.anyDesk()
	credits := pick(m.t, []int64{-1, -1, -1, 1, 7, 12, 20, 30}, "credits")
	if rapid.Bool().Draw(m.t, "of a key") {
		key := m.anyKey(d)
		key.limit = credits
		must.NoError(m.t, m.nodes[0].Teams.SetKeyLimit(context.Background(), key.id, credits))
	} else {
		d.limit = credits
		must.NoError(m.t, m.nodes[0].Teams.SetDailyCredits(context.Background(), d.id, &credits))
	}
	m.holds()
}

// holds lets a change of access hold on every node: that takes up to a second.
func (m *pressMachine) holds() { m.moveTo(m.clock.Now().Add(1100 * time.Millisecond)) }

// pause pauses what the team spends.
func (m *pressMachine) pause() {
	d := m.anyDesk()
	if !d.paused {
		must.NoError(m.t, m.nodes[0].Teams.Pause(context.Background(),
			team.Pause{Scope: team.ForTeam, Target: d.id, Action: access.PauseSpending}))
		d.paused = true
		m.holds()
	}
}

// resume resumes it, soon.
func (m *pressMachine) resume() {
	for _, d := range m.desks {
		if d.paused && index(m.t, 5, "resume") == 0 {
			must.NoError(m.t, m.nodes[0].Teams.Resume(context.Background(),
				team.Pause{Scope: team.ForTeam, Target: d.id, Action: access.PauseSpending}))
			d.paused = false
			m.holds()
		}
	}
}

// move moves the team to the other plan.
func (m *pressMachine) move() {
	d := m.anyDesk()
	d.plan = map[string]string{largePlan: smallPlan, smallPlan: largePlan}[d.plan]
	must.NoError(m.t, m.nodes[0].Teams.SetPlan(context.Background(), d.id, d.plan, time.Time{}))
	m.holds()
}
