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
	others       map[time.Time]int64 // what the model counted of other days
	// What may be lost: a settlement that is taken back may have used up a call that its node held.
	mayLose int64
	// The day of which calls were lost with a node after it was over, so that nobody could count them. It goes on
	// where the team moves to where it is not over.
	unseen time.Time
}

// losing notes that a refund may be taken back, each time that it is tried.
func (d *freeDay) losing(f fault, o order) {
	if f.at != "" && o.words().Price > 0 && o.words().Cost() == 0 {
		d.mayLose += 4
	}
}

// at returns the count as it stands at an instant. A change of zone gives no second allowance: only a day that begins
// after the counted one has ended begins anew.
func (d *freeDay) at(now time.Time, zone *time.Location) *freeDay {
	if begins, ends := teamtime.Day(now, zone); !begins.Before(d.until) {
		return &freeDay{since: begins, until: ends}
	}
	return d
}

// today takes up the model's count of the day that it is now. A team that moves can come back to an earlier one.
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

// storedFreeDay returns the count of free calls as it was last written.
func (m *machine) storedFreeDay(t *rapid.T, team *modelTeam) *freeDay {
	var since, until, used int64
	must.NoError(t, m.db.QueryRow(context.Background(),
		`SELECT COALESCE(MAX(starts_at), 0), COALESCE(MAX(ends_at), 0), COALESCE(MAX(used), 0) FROM free_calls WHERE team_id = ?`, team.id).
		Scan(&since, &until, &used))
	return &freeDay{since: db.Time(since), until: db.Time(until), used: used}
}

// checkFree holds the free calls against the model: what the nodes hold in their leases is not used yet.
func (m *machine) checkFree(t *rapid.T, team *modelTeam) {
	m.today(t, team)
	row, d := m.row(t, team), m.days[team]
	if row.used > m.allowed {
		return // what is left is shown as 0, so that nobody can tell what the nodes hold
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

// kill ends a node without a word and starts it again. What it held of the teams' free calls is lost.
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
