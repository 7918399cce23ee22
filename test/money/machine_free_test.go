package money

import (
	"context"
	"time"

	"pgregory.net/rapid"

	"pressroom/internal/platform/db"
	"pressroom/internal/teamtime"
	"pressroom/internal/testkit/must"
)

// freeLeft is whether a node has a free call for a team.
type freeLeft int

const (
	some freeLeft = iota
	none
	unsure
)

// freeOf reports whether a node has a free call left. A refund counts past the limit while a node may still hold a call,
// and a node believes for a second that none is left.
func (m *machine) freeOf(t *rapid.T, i int, team *modelTeam) freeLeft {
	left := m.nodes[i].left(t, team.keys[0])
	since, doubts := m.disbelief[[2]int64{int64(i), team.id}]
	switch {
	case left > 0 && doubts && m.clock.Now().Sub(since) < time.Second:
		return unsure
	case left > 0:
		return some
	case m.row(t, team).used > m.allowed:
		return unsure
	}
	return none
}

// freeDay is a team's count of free calls.
type freeDay struct {
	since, until time.Time
	used         int64
	others       map[time.Time]int64 // the model's counts of other days
	// Calls that may be lost: a rolled-back settlement may have used a call of its node's lease.
	mayLose int64
	// The day of which calls were lost with a node after its end, uncounted. It continues if the team's zone changes to
	// one in which the day has not ended.
	unseen time.Time
}

// losing notes that a refund may be rolled back, each time it is tried.
func (d *freeDay) losing(f fault, o order) {
	if f.at != "" && o.words().Price > 0 && o.words().Cost() == 0 {
		d.mayLose += 4
	}
}

// at returns the count at an instant. A change of zone gives no second allowance: only a day that begins after the
// counted one has ended starts at zero.
func (d *freeDay) at(now time.Time, zone *time.Location) *freeDay {
	if begins, ends := teamtime.Day(now, zone); !begins.Before(d.until) {
		return &freeDay{since: begins, until: ends}
	}
	return d
}

// today selects the model's count of the current day. A change of zone can lead back to an earlier day.
func (m *machine) today(t *rapid.T, team *modelTeam) {
	if row, d := m.row(t, team), m.days[team]; !row.since.Equal(d.since) {
		d.others[d.since], team.free = team.free, d.others[row.since]
		d.since = row.since
	}
}

// row returns the count of free calls as the database has it, brought to now.
func (m *machine) row(t *rapid.T, team *modelTeam) *freeDay {
	return m.storedFreeDay(t, team).at(m.clock.Now(), team.zone)
}

// storedFreeDay returns the stored count of free calls.
func (m *machine) storedFreeDay(t *rapid.T, team *modelTeam) *freeDay {
	var since, until, used int64
	must.NoError(t, m.db.QueryRow(context.Background(),
		`SELECT COALESCE(MAX(starts_at), 0), COALESCE(MAX(ends_at), 0), COALESCE(MAX(used), 0) FROM free_calls WHERE team_id = ?`, team.id).
		Scan(&since, &until, &used))
	return &freeDay{since: db.Time(since), until: db.Time(until), used: used}
}

// checkFree compares the free calls with the model. Calls in leases are not used yet.
func (m *machine) checkFree(t *rapid.T, team *modelTeam) {
	m.today(t, team)
	row, d := m.row(t, team), m.days[team]
	if row.used > m.allowed {
		return // the remaining calls are shown as 0, so the leases are unknown
	}
	used := row.used
	for _, n := range m.nodes {
		used -= n.left(t, team.keys[0]) - (m.allowed - row.used)
	}
	if row.since.Equal(d.unseen) {
		d.unseen = time.Time{}
	} else if lost := used - team.free; lost < 0 || lost > d.mayLose {
		t.Fatalf("%d free calls are used instead of %d, or up to %d more", used, team.free, d.mayLose)
	}
	team.free, d.mayLose = used, 0
}

// lookAfter sweeps, or now and then kills a node.
func (m *machine) lookAfter(t *rapid.T) {
	if rapid.IntRange(0, 7).Draw(t, "kill") == 0 {
		m.kill(t)
		return
	}
	m.sweep(t)
}

// kill kills a node and restarts it. Its leases are lost.
func (m *machine) kill(t *rapid.T) {
	i := m.anyNode(t)
	for _, team := range m.teams {
		m.today(t, team)
		switch stored, row := m.storedFreeDay(t, team), m.row(t, team); {
		case row.since.After(stored.since):
			m.days[team].unseen = stored.since
		case row.used <= m.allowed:
			team.free += m.nodes[i].left(t, team.keys[0]) - (m.allowed - row.used)
		}
		delete(m.disbelief, [2]int64{int64(i), team.id})
	}
	m.reopen(t, i)
}
