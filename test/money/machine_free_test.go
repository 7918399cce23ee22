package money

import (
	"context"
	"time"

	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/teamtime"
	"pressroom.example/pressroom/internal/testkit/must"
)

// freeLeft reports whether a node accepts another free call of a team.
type freeLeft int

const (
	some freeLeft = iota
	none
	unsure
)

// freeCallsOf returns whether a node accepts another free call. The result is unsure if the node may hold a leased
// call although a refund has exceeded the limit. It is also unsure while the node caches that no call is left, for a
// second.
func (m *machine) freeCallsOf(t *rapid.T, i int, team *modelTeam) freeLeft {
	left := m.nodes[i].freeCallsLeft(t, team.keys[0])
	since, cached := m.exhaustedSince[[2]int64{int64(i), team.id}]
	switch {
	case left > 0 && cached && m.clock.Now().Sub(since) < time.Second:
		return unsure
	case left > 0:
		return some
	case m.currentFreeDay(t, team).used > m.freeCalls:
		return unsure
	}
	return none
}

// freeDay is a team's count of free calls.
type freeDay struct {
	since, until time.Time
	used         int64
	others       map[time.Time]int64 // the model's counts of other days
	// Upper bound of lost calls: a rolled-back settlement may have used a leased call.
	maxLost int64
	// The day whose leased calls were lost because a node was killed after the day's end. The model does not count
	// these calls. The day can continue if the team's time zone changes.
	uncounted time.Time
}

// allowLostRefund allows for calls that are lost when a refund is rolled back, at most four times.
func (d *freeDay) allowLostRefund(f fault, o apiCall) {
	if f.point != "" && o.scenario().Price > 0 && o.scenario().Cost() == 0 {
		d.maxLost += 4
	}
}

// rollOver returns the count at a time. The count restarts at zero only on a day that begins after the end of the
// counted day. A change of the time zone therefore grants no second allowance.
func (d *freeDay) rollOver(now time.Time, zone *time.Location) *freeDay {
	if begins, ends := teamtime.Day(now, zone); !begins.Before(d.until) {
		return &freeDay{since: begins, until: ends}
	}
	return d
}

// selectDay selects the model's count of the current day. A change of the time zone can return to an earlier day.
func (m *machine) selectDay(t *rapid.T, team *modelTeam) {
	if row, d := m.currentFreeDay(t, team), m.days[team]; !row.since.Equal(d.since) {
		d.others[d.since], team.usedFree = team.usedFree, d.others[row.since]
		d.since = row.since
	}
}

// currentFreeDay returns the database's count of free calls for the current day.
func (m *machine) currentFreeDay(t *rapid.T, team *modelTeam) *freeDay {
	return m.storedFreeDay(t, team).rollOver(m.clock.Now(), team.zone)
}

// storedFreeDay returns the stored count of free calls.
func (m *machine) storedFreeDay(t *rapid.T, team *modelTeam) *freeDay {
	var since, until, used int64
	must.NoError(t, m.db.QueryRow(context.Background(),
		`SELECT COALESCE(MAX(starts_at), 0), COALESCE(MAX(ends_at), 0), COALESCE(MAX(used), 0) FROM free_calls WHERE team_id = ?`, team.id).
		Scan(&since, &until, &used))
	return &freeDay{since: db.Time(since), until: db.Time(until), used: used}
}

// checkFree compares the free calls with the model. Leased calls do not count as used.
func (m *machine) checkFree(t *rapid.T, team *modelTeam) {
	m.selectDay(t, team)
	row, d := m.currentFreeDay(t, team), m.days[team]
	if row.used > m.freeCalls {
		return // the API reports 0 remaining calls, which hides the leases
	}
	used := row.used
	for _, n := range m.nodes {
		used -= n.freeCallsLeft(t, team.keys[0]) - (m.freeCalls - row.used)
	}
	if row.since.Equal(d.uncounted) {
		d.uncounted = time.Time{}
	} else if lost := used - team.usedFree; lost < 0 || lost > d.maxLost {
		t.Fatalf("%d free calls used, want %d to %d", used, team.usedFree, team.usedFree+d.maxLost)
	}
	team.usedFree, d.maxLost = used, 0
}

// sweepOrKill sweeps expired keys or, one time in eight, kills a node.
func (m *machine) sweepOrKill(t *rapid.T) {
	if rapid.IntRange(0, 7).Draw(t, "kill") == 0 {
		m.kill(t)
		return
	}
	m.sweep(t)
}

// kill restarts a node, which loses its leases.
func (m *machine) kill(t *rapid.T) {
	i := m.anyNode(t)
	for _, team := range m.teams {
		m.selectDay(t, team)
		switch stored, row := m.storedFreeDay(t, team), m.currentFreeDay(t, team); {
		case row.since.After(stored.since):
			m.days[team].uncounted = stored.since
		case row.used <= m.freeCalls:
			team.usedFree += m.nodes[i].freeCallsLeft(t, team.keys[0]) - (m.freeCalls - row.used)
		}
		delete(m.exhaustedSince, [2]int64{int64(i), team.id})
	}
	m.reopen(t, i)
}
