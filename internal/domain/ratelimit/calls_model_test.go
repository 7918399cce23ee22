package ratelimit

import (
	"context"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pressroom/internal/platform/db"
	"pressroom/internal/teamtime"
	"pressroom/internal/testkit"
	"pressroom/internal/testkit/must"
)

// callNode is a node as the model drives it: its own clock, zone and limit, as nodes hear of changes one by one.
type callNode struct {
	clock *testkit.Clock
	calls *Calls
	zone  string
	limit int64
}

type takenCall struct {
	*freeCall
	date string // in the team's zone, by the node's clock
}

// callModel counts by itself what the nodes let through.
type callModel struct {
	team    int64
	steady  bool // the zone stays and all clocks agree, so that dates say which day a call is of
	nodes   []*callNode
	dead    []*Calls
	out     []takenCall
	day     day              // the row as it was last seen
	net     map[int64]int64  // calls let through and not given back, by the beginning of their day
	counted map[int64]int64  // calls counted for settlements
	void    map[int64]int64  // calls given back that no lease took
	dates   map[string]int64 // as net, by date
	highest int64            // the highest limit so far
	passed  time.Duration    // since the beginning
	given   time.Duration    // of that, when the count last fell
}

var (
	callZones = []string{
		"Europe/Berlin", "Asia/Tokyo", "America/New_York", "Pacific/Kiritimati", "Pacific/Pago_Pago", "Australia/Lord_Howe", "UTC",
	}
	callLimits = []int64{0, 1, 7, 50, 300, 1000}
)

// Whatever nodes, clocks, zones, limits and settlements do: a day lets through what it may, each call is accounted
// for, and a new day begins only where an old one has ended.
func TestFreeCallsByModel(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		var nodes []callNode
		for range 3 {
			clock := testkit.NewClock(callNoon)
			nodes = append(nodes, callNode{clock: clock, calls: NewCalls(testkit.Open(t, url, clock))})
		}
		rapid.Check(t, func(t *rapid.T) {
			m := newCallModel(t, nodes)
			t.Repeat(map[string]func(*rapid.T){
				"take": m.take, "take more": m.take, "give back": m.giveBack, "count": m.count, "end": m.end, "die": m.die, "wait": m.wait,
				"change zone": m.changeZone, "change limit": m.changeLimit, "": m.check,
			})
		})
	})
}

func newCallModel(t *rapid.T, nodes []callNode) *callModel {
	m := &callModel{
		steady: rapid.Bool().Draw(t, "steady"), net: map[int64]int64{}, counted: map[int64]int64{},
		void: map[int64]int64{}, dates: map[string]int64{},
	}
	start := callNoon.Add(time.Duration(rapid.IntRange(0, 24*365).Draw(t, "hours")) * time.Hour)
	m.highest = rapid.SampledFrom(callLimits).Draw(t, "limit")
	for _, n := range nodes {
		skew := 0
		if !m.steady {
			skew = rapid.IntRange(-90, 90).Draw(t, "skew")
		}
		n.clock.Advance(start.Add(time.Duration(skew) * time.Second).Sub(n.clock.Now()))
		m.nodes = append(m.nodes, &callNode{n.clock, NewCalls(n.calls.db), "Europe/Berlin", m.highest})
	}
	m.team = addCallTeam(t, nodes[0].calls.db, "Europe/Berlin")
	return m
}

func (m *callModel) any(t *rapid.T) *callNode { return rapid.SampledFrom(m.nodes).Draw(t, "node") }

func (m *callModel) take(t *rapid.T) {
	n := m.any(t)
	actor := callActor(m.team, n.limit, n.zone)
	for range rapid.IntRange(1, 60).Draw(t, "calls") {
		call, ok := take(t, n.calls, actor).(*freeCall)
		if !ok {
			m.refused(t, n)
			return
		}
		if call.since != m.day.since {
			m.see(t, n)
		}
		date := n.clock.Now().In(actor.Zone).Format(time.DateOnly)
		m.out = append(m.out, takenCall{call, date})
		m.net[call.since]++
		m.dates[date]++
		if m.net[call.since] > m.highest {
			t.Fatalf("%d were let through in a day of at most %d", m.net[call.since], m.highest)
		}
		if m.steady && m.dates[date] > m.highest {
			t.Fatalf("%d were let through on %s, of at most %d", m.dates[date], date, m.highest)
		}
	}
	m.see(t, n)
}

// refused checks that there was a reason.
func (m *callModel) refused(t *rapid.T, n *callNode) {
	m.see(t, n)
	today := m.day.at(n.clock.Now(), callActor(m.team, 0, n.zone).Zone)
	if today.used < n.limit && m.passed-m.given >= spentFor {
		t.Fatalf("refused with %d of %d used", today.used, n.limit)
	}
}

func (m *callModel) giveBack(t *rapid.T) {
	if len(m.out) == 0 {
		t.Skip("none is out")
	}
	i := rapid.IntRange(0, len(m.out)-1).Draw(t, "call")
	c := m.out[i]
	m.out[i] = m.out[len(m.out)-1]
	m.out = m.out[:len(m.out)-1]
	before := c.purse.held(c.since)
	c.Return()
	c.Return()
	m.net[c.since]--
	m.dates[c.date]--
	m.void[c.since] += 1 - (c.purse.held(c.since) - before)
}

func (m *callModel) count(t *rapid.T) {
	n := m.any(t)
	before := n.calls.purse(m.team).lease
	must.NoError(t, n.calls.db.InTx(context.Background(), "test", func(ctx context.Context, tx *db.Tx) error {
		return n.calls.CountFree(ctx, tx, m.team)
	}))
	m.see(t, n)
	if n.calls.purse(m.team).lease.left < before.left {
		m.counted[before.since]++ // one that the node held, of a day that by its clock is not over yet
		return
	}
	m.counted[m.day.since]++
}

func (m *callModel) end(t *rapid.T) {
	n := m.any(t)
	must.NoError(t, n.calls.Close(context.Background()))
	m.see(t, n)
}

func (m *callModel) die(t *rapid.T) {
	n := m.any(t)
	m.dead = append(m.dead, n.calls)
	n.calls = NewCalls(n.calls.db)
}

func (m *callModel) wait(t *rapid.T) {
	seconds := rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(60, 3600), rapid.IntRange(3600, 30*3600)).Draw(t, "seconds")
	m.passed += time.Duration(seconds) * time.Second
	for _, n := range m.nodes {
		n.clock.Advance(time.Duration(seconds) * time.Second)
	}
}

func (m *callModel) changeZone(t *rapid.T) {
	if m.steady {
		t.Skip("the zone stays")
	}
	zone := rapid.SampledFrom(callZones).Draw(t, "zone")
	setCallZone(t, m.nodes[0].calls.db, m.team, zone)
	for _, n := range m.nodes {
		if rapid.Bool().Draw(t, "hears of it") {
			n.zone = zone
		}
	}
}

func (m *callModel) changeLimit(t *rapid.T) {
	limit := rapid.SampledFrom(callLimits).Draw(t, "limit")
	m.highest = max(m.highest, limit)
	for _, n := range m.nodes {
		if rapid.Bool().Draw(t, "hears of it") {
			n.limit = limit
		}
	}
}

// see looks at the row after a node has done something. A day that has begun meanwhile must be one.
func (m *callModel) see(t *rapid.T, by *callNode) {
	now, found, err := read(context.Background(), by.calls.db, m.team, "")
	must.NoError(t, err)
	if found && now.since != m.day.since {
		m.begun(t, by, now.since)
	}
	if now.used < m.day.used {
		m.given = m.passed
	}
	m.day = now
}

func (m *callModel) begun(t *rapid.T, by *callNode, since int64) {
	zones := []string{by.zone, ""}
	must.NoError(t, by.calls.db.QueryRow(context.Background(), `SELECT timezone FROM teams WHERE id = ?`, m.team).Scan(&zones[1]))
	midnight := false
	for _, zone := range zones { // that of the node, and that of a settlement
		begins, _ := teamtime.Day(by.clock.Now(), callActor(m.team, 0, zone).Zone)
		midnight = midnight || db.Micros(begins) == since
	}
	if !midnight || since < m.day.until || since <= m.day.since {
		t.Fatalf("a day that ends at %v is followed by one that begins at %v, with the clock at %v",
			db.Time(m.day.until), db.Time(since), by.clock.Now())
	}
}

// check holds the count against all that was done with it.
func (m *callModel) check(t *rapid.T) {
	since := m.day.since
	want := m.net[since] + m.counted[since] + m.void[since]
	for _, c := range m.dead {
		want += c.purse(m.team).held(since)
	}
	for _, n := range m.nodes {
		want += n.calls.purse(m.team).held(since)
	}
	if since != 0 && m.day.used != want {
		t.Fatalf("%d are used, but %d accounted for", m.day.used, want)
	}
	n := m.any(t)
	left, err := n.calls.Left(context.Background(), callActor(m.team, n.limit, n.zone))
	if err != nil || left < 0 || left > n.limit {
		t.Fatalf("%d of %d are left (%v)", left, n.limit, err)
	}
}
