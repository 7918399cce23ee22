package ratelimit

import (
	"context"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/teamtime"
	"pressroom.example/pressroom/internal/testkit"
)

// callNode is a node of the model. It has its own clock, zone and limit, because nodes learn of changes at different
// times.
type callNode struct {
	clock *testkit.Clock
	calls *FreeCalls
	zone  string
	limit int64
}

type takenCall struct {
	*freeCall
	date string // in the team's zone, by the node's clock
}

// callModel counts what the nodes allow.
type callModel struct {
	team         int64
	steady       bool // one zone and synchronous clocks, so that dates identify days
	nodes        []*callNode
	dead         []*FreeCalls
	out          []takenCall
	day          dayCount         // last seen row
	net          map[int64]int64  // calls allowed and not returned, by the start of their day
	counted      map[int64]int64  // calls counted for settlements
	void         map[int64]int64  // calls returned to no lease
	dates        map[string]int64 // net by date
	highest      int64            // highest limit so far
	elapsed      time.Duration    // since the start
	lastDecrease time.Duration    // time when the count last decreased
}

var (
	callZones = []string{
		"Europe/Berlin", "Asia/Tokyo", "America/New_York", "Pacific/Kiritimati", "Pacific/Pago_Pago", "Australia/Lord_Howe", "UTC",
	}
	callLimits = []int64{0, 1, 7, 50, 300, 1000}
)

// TestFreeCallsByModel checks with random operations that a day allows no more than its limit, that each call is
// counted, and that a new day begins only after the previous day.
func TestFreeCallsByModel(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		var nodes []callNode
		for range 3 {
			clock := testkit.NewClock(callNoon)
			nodes = append(nodes, callNode{clock: clock, calls: NewFreeCalls(testkit.Open(t, url, clock))})
		}
		rapid.Check(t, func(t *rapid.T) {
			m := newCallModel(t, nodes)
			t.Repeat(map[string]func(*rapid.T){
				"take": m.take, "take more": m.take, "give back": m.returnCall, "count": m.count, "end": m.end,
				"die": m.die, "wait": m.wait,
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
		m.nodes = append(m.nodes, &callNode{n.clock, NewFreeCalls(n.calls.db), "Europe/Berlin", m.highest})
	}
	m.team = addCallTeam(t, nodes[0].calls.db, "Europe/Berlin")
	return m
}

func (m *callModel) drawNode(t *rapid.T) *callNode { return rapid.SampledFrom(m.nodes).Draw(t, "node") }

func (m *callModel) take(t *rapid.T) {
	n := m.drawNode(t)
	actor := callActor(m.team, n.limit, n.zone)
	for range rapid.IntRange(1, 60).Draw(t, "calls") {
		call, ok := take(t, n.calls, actor).(*freeCall)
		if !ok {
			m.checkRejection(t, n)
			return
		}
		if call.dayStart != m.day.dayStart {
			m.observe(t, n)
		}
		date := n.clock.Now().In(actor.Zone).Format(time.DateOnly)
		m.out = append(m.out, takenCall{call, date})
		m.net[call.dayStart]++
		m.dates[date]++
		if m.net[call.dayStart] > m.highest {
			t.Fatalf("%d calls were allowed in a day with limit %d", m.net[call.dayStart], m.highest)
		}
		if m.steady && m.dates[date] > m.highest {
			t.Fatalf("%d calls were allowed on %s, with limit %d", m.dates[date], date, m.highest)
		}
	}
	m.observe(t, n)
}

// checkRejection checks that a rejection has a reason.
func (m *callModel) checkRejection(t *rapid.T, n *callNode) {
	m.observe(t, n)
	today := m.day.at(n.clock.Now(), callActor(m.team, 0, n.zone).Zone)
	if today.used < n.limit && m.elapsed-m.lastDecrease >= exhaustedTTL {
		t.Fatalf("rejected with %d of %d used", today.used, n.limit)
	}
}

func (m *callModel) returnCall(t *rapid.T) {
	if len(m.out) == 0 {
		t.Skip("no call to return")
	}
	i := rapid.IntRange(0, len(m.out)-1).Draw(t, "call")
	c := m.out[i]
	m.out[i] = m.out[len(m.out)-1]
	m.out = m.out[:len(m.out)-1]
	before := c.source.remaining(c.dayStart)
	c.Return()
	c.Return()
	m.net[c.dayStart]--
	m.dates[c.date]--
	m.void[c.dayStart] += 1 - (c.source.remaining(c.dayStart) - before)
}

func (m *callModel) count(t *rapid.T) {
	n := m.drawNode(t)
	before := n.calls.teamLeaseFor(m.team).lease
	err := n.calls.db.InTx(context.Background(), "test", func(ctx context.Context, tx *db.Tx) error {
		return n.calls.CountRefunded(ctx, tx, m.team)
	})
	if err != nil {
		t.Fatal(err)
	}
	m.observe(t, n)
	if n.calls.teamLeaseFor(m.team).lease.remaining < before.remaining {
		m.counted[before.dayStart]++ // from the node's lease, whose day is not over by its clock
		return
	}
	m.counted[m.day.dayStart]++
}

func (m *callModel) end(t *rapid.T) {
	n := m.drawNode(t)
	if err := n.calls.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	m.observe(t, n)
}

func (m *callModel) die(t *rapid.T) {
	n := m.drawNode(t)
	m.dead = append(m.dead, n.calls)
	n.calls = NewFreeCalls(n.calls.db)
}

func (m *callModel) wait(t *rapid.T) {
	seconds := rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(60, 3600), rapid.IntRange(3600, 30*3600)).Draw(t, "seconds")
	m.elapsed += time.Duration(seconds) * time.Second
	for _, n := range m.nodes {
		n.clock.Advance(time.Duration(seconds) * time.Second)
	}
}

func (m *callModel) changeZone(t *rapid.T) {
	if m.steady {
		t.Skip("the zone is fixed")
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

// observe reads the row after an operation and checks a new day.
func (m *callModel) observe(t *rapid.T, by *callNode) {
	now, found, err := readDay(context.Background(), by.calls.db, m.team, "")
	if err != nil {
		t.Fatal(err)
	}
	if found && now.dayStart != m.day.dayStart {
		m.checkNewDay(t, by, now.dayStart)
	}
	if now.used < m.day.used {
		m.lastDecrease = m.elapsed
	}
	m.day = now
}

func (m *callModel) checkNewDay(t *rapid.T, by *callNode, since int64) {
	zones := []string{by.zone, ""}
	if err := by.calls.db.QueryRow(context.Background(), `SELECT timezone FROM teams WHERE id = ?`, m.team).Scan(&zones[1]); err != nil {
		t.Fatal(err)
	}
	midnight := false
	for _, zone := range zones { // of the node and of a settlement
		begins, _ := teamtime.Day(by.clock.Now(), callActor(m.team, 0, zone).Zone)
		midnight = midnight || db.Micros(begins) == since
	}
	if !midnight || since < m.day.dayEnd || since <= m.day.dayStart {
		t.Fatalf("a day that ends at %v is followed by one that begins at %v, with the clock at %v",
			db.Time(m.day.dayEnd), db.Time(since), by.clock.Now())
	}
}

// check compares the count with the model.
func (m *callModel) check(t *rapid.T) {
	since := m.day.dayStart
	want := m.net[since] + m.counted[since] + m.void[since]
	for _, c := range m.dead {
		want += c.teamLeaseFor(m.team).remaining(since)
	}
	for _, n := range m.nodes {
		want += n.calls.teamLeaseFor(m.team).remaining(since)
	}
	if since != 0 && m.day.used != want {
		t.Fatalf("%d calls are used, want %d", m.day.used, want)
	}
	n := m.drawNode(t)
	left, err := n.calls.Remaining(context.Background(), callActor(m.team, n.limit, n.zone))
	if err != nil || left < 0 || left > n.limit {
		t.Fatalf("%d of %d calls remain (%v)", left, n.limit, err)
	}
}
