package money

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/test/money/standin"
)

// machine applies random actions to the servers and to the model, and compares them.
type machine struct {
	*inProcess
	teams          []*modelTeam
	lastTeam       *modelTeam // the team of the last action
	steps          int
	booked         int
	calls          *int
	exhaustedSince map[[2]int64]time.Time // by node and team: when the node cached that no free call is left
	days           map[*modelTeam]*freeDay
}

// Calls, repeats, disconnects, faults and jobs occur in random order, at random times and on random nodes. Every
// result and all credits match the model.
func TestPaidCallsByModel(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		nodes, rounds := 1, 2
		if postgres(url) {
			nodes, rounds = 2, 1
		}
		in := newInProcess(t, url, nodes, freeCalls)
		in.exec(t, createDoomTable)
		calls := 0
		property := func(t *rapid.T) {
			m := &machine{inProcess: in, calls: &calls, exhaustedSince: map[[2]int64]time.Time{}, days: map[*modelTeam]*freeDay{}}
			m.setClock(rapid.SampledFrom(startTimes).Draw(t, "start"))
			for _, zone := range []string{"Europe/Berlin", "Asia/Kathmandu"} {
				team := m.team(t, zone, 2)
				m.grant(t, team, 40, "start")
				m.teams, m.days[team] = append(m.teams, team), &freeDay{others: map[time.Time]int64{}}
			}
			t.Repeat(map[string]func(*rapid.T){
				"": m.check, "call": m.call, "call more": m.call, "call on": m.call, "repeat": m.repeat,
				"repeat on": m.repeat, "other": m.reuseKey,
				"remember": m.repeatNearExpiry, "work": m.runJob, "work on": m.runJob, "work twice": m.runJobTwice, "book": m.changeBalance,
				"limit": m.changeLimit, "move": m.changeTimezone,
				"pass": m.advanceClock, "look after": m.sweepOrKill,
			})
			m.checkAll(t)
		}
		for range rounds {
			rapid.Check(t, property)
		}
		t.Logf("%d calls", calls)
	})
}

// freeCalls is a team's number of free calls per day, small enough to run out.
const freeCalls = 12

// createDoomTable creates a table with a deferred constraint, so that an insert fails at commit.
const createDoomTable = `CREATE TABLE stand_in_doom (team_id BIGINT REFERENCES teams (id) DEFERRABLE INITIALLY DEFERRED)`

var (
	startTimes = []string{"2027-10-30T21:59:00Z", "2028-03-25T22:30:00Z", "2029-01-10T18:14:59Z", "2030-06-01T12:00:00Z"}
	timezones  = []string{"UTC", "Europe/Berlin", "Asia/Kathmandu", "Pacific/Kiritimati", "America/Los_Angeles"}
)

func postgres(url string) bool { return url[0] == 'p' }

// setClock sets the clock, possibly back, because runs are independent.
func (m *machine) setClock(start string) {
	at, err := time.Parse(time.RFC3339, start)
	if err != nil {
		panic(err)
	}
	m.clock.Advance(at.Sub(m.clock.Now()))
}

func (m *machine) anyTeam(t *rapid.T) *modelTeam {
	m.lastTeam = rapid.SampledFrom(m.teams).Draw(t, "team")
	return m.lastTeam
}

func (m *machine) anyNode(t *rapid.T) int { return rapid.IntRange(0, len(m.nodes)-1).Draw(t, "node") }

var searchEnds = []standin.Outcome{standin.All, standin.All, standin.Part, standin.Nothing, standin.Later}

// anyOrder draws from few calls, so that some are repeated.
func (m *machine) anyOrder(t *rapid.T) apiCall {
	o := apiCall{tool: rapid.SampledFrom([]string{standin.Search, standin.Search, standin.Tracking, standin.Note}).Draw(t, "tool")}
	o.query = "free"
	if price := rapid.Int64Range(0, 10).Draw(t, "price"); price > 0 {
		o.query = fmt.Sprint(price, " ", rapid.SampledFrom(searchEnds).Draw(t, "end"))
	}
	o.query += rapid.SampledFrom([]string{"", ` <b>&amp;"é`}).Draw(t, "words")
	o.key = fmt.Sprint("key ", rapid.IntRange(0, 9).Draw(t, "key"))
	switch o.tool {
	case standin.Tracking:
		o.report = rapid.SampledFrom([]string{"a", "b"}).Draw(t, "report")
	case standin.Note:
		o.key = rapid.SampledFrom([]string{"", o.key}).Draw(t, "idem")
	}
	return o
}

func (m *machine) call(t *rapid.T) {
	team := m.anyTeam(t)
	m.callAndCheck(t, team, rapid.SampledFrom(team.keys).Draw(t, "by"), m.anyOrder(t), m.anyFault(t))
}

// repeat repeats an earlier call.
func (m *machine) repeat(t *rapid.T) {
	team := m.anyTeam(t)
	key, o := m.anyEarlier(t, team)
	m.callAndCheck(t, team, key, o, m.anyFault(t))
}

// reuseKey sends another request with a key that was used.
func (m *machine) reuseKey(t *rapid.T) {
	team := m.anyTeam(t)
	key, o := m.anyEarlier(t, team)
	fresh := m.anyOrder(t)
	if o.key != "" {
		fresh.key = o.key
	}
	m.callAndCheck(t, team, key, fresh, m.anyFault(t))
}

func (m *machine) anyEarlier(t *rapid.T, team *modelTeam) (*modelKey, apiCall) {
	if len(team.calls) == 0 {
		t.Skip("nothing to repeat")
	}
	made := rapid.SampledFrom(team.calls).Draw(t, "earlier")
	return made.key, made.order
}

// callAndCheck makes one call and compares it with the model.
func (m *machine) callAndCheck(t *rapid.T, team *modelTeam, key *modelKey, o apiCall, f fault) {
	i := m.anyNode(t)
	// MCP cannot answer a disconnected caller.
	tool := rapid.IntRange(0, 9).Draw(t, "edge") == 0 && !f.disconnected && f.kind != "cancel"
	if !o.isPaid() && f.point == pricePoint {
		f = fault{} // a free call does not reach this point
	}
	now := m.clock.Now()
	free := m.freeCallsOf(t, i, team)
	ctx, done := f.inject(o)
	got, err := m.nodes[i].call(ctx, key, o, tool)
	done()
	must.NoError(t, err)
	*m.calls++
	m.selectDay(t, team)
	if o.tool == standin.Tracking {
		m.days[team].allowLostRefund(f, o)
	}
	team.calls = append(team.calls, madeCall{key, o})
	first, want := m.expected(team, key, o, f, free)
	switch known := first != nil || strings.HasPrefix(want, "422"); {
	case f.disconnected && !got.isSuccess(): // the caller has disconnected
		want = got.rejection()
	case free == unsure && !m.isCharged(o) && !known && got.rejection() == noFreeCalls:
		want = noFreeCalls
	}
	must.NoError(t, team.compare(now, o, got, want))
	switch {
	case want == noFreeCalls:
		m.exhaustedSince[[2]int64{int64(i), team.id}] = now
	case want != "":
	case first != nil:
		must.NoError(t, checkReplay(first.answer, got))
	default:
		m.accept(t, team, key, o, got)
	}
}

func (m *machine) isCharged(o apiCall) bool { return o.isPaid() && o.scenario().Price > 0 }

// expected returns the expected result of a call: the record that it replays, or a rejection. A success has neither.
func (m *machine) expected(team *modelTeam, key *modelKey, o apiCall, f fault, free freeLeft) (*record, string) {
	now := m.clock.Now()
	if f.disconnected {
		return nil, "500 internal_error"
	}
	first, want := key.lookUp(now, o)
	if first != nil || want != "" {
		return first, want
	}
	if o.isPaid() {
		if want := m.rejectionOf(f, o, pricePoint); want != "" {
			return nil, want
		}
	}
	if !m.isCharged(o) && free == none {
		return nil, noFreeCalls
	}
	if m.isCharged(o) {
		if want := team.rejectionFor(now, key, o.scenario().Price); want != "" {
			return nil, want
		}
	}
	return nil, m.rejectionOf(f, o, workPoints[o.tool])
}

const noFreeCalls = "429 daily_call_limit_reached"

// accept adds an accepted call to the model.
func (m *machine) accept(t *rapid.T, team *modelTeam, key *modelKey, o apiCall, got answer) {
	now := m.clock.Now()
	if got.isReplay {
		t.Fatalf("%+v: the first answer is marked as a replay: %s", o, got.raw)
	}
	if !m.isCharged(o) {
		team.usedFree++
	}
	if !o.isPaid() {
		if o.key != "" {
			key.writes[o.key] = &record{now, o, got}
		}
		return
	}
	team.accept(now, key, o, got)
	if want := team.billing(o); got.Billing.String() != want.String() {
		t.Fatalf("%+v: billing %s, want %s", o, got.Billing, want)
	}
	if (o.tool == standin.Search) != (got.jobID() != "") {
		t.Fatalf("%+v: job ID %q", o, got.jobID())
	}
}

// checkReplay returns an error if got is not a replay of first.
func checkReplay(first, got answer) error {
	switch {
	case !got.isTool && !got.isReplay:
		return fmt.Errorf("a repeat is not marked as a replay: %s", got.raw)
	case !got.sameData(first):
		return fmt.Errorf("a repeat has different data:\n%s\n%s", first.Data, got.Data)
	case got.Billing.String() != first.Billing.String():
		return fmt.Errorf("a repeat has different billing:\n%s\n%s", first.Billing, got.Billing)
	case !got.isTool && !first.isTool && got.location != first.location:
		return fmt.Errorf("a repeat has a different location: %s, %s", first.location, got.location)
	}
	return nil
}

// changeBalance grants or withdraws credits.
func (m *machine) changeBalance(t *rapid.T) {
	team, credits := m.anyTeam(t), rapid.Int64Range(1, 30).Draw(t, "credits")
	m.booked++
	reference := fmt.Sprint("booking ", m.booked)
	if rapid.Bool().Draw(t, "grant") {
		m.grant(t, team, credits, reference)
		return
	}
	_, err := m.nodes[0].Credits.Withdraw(context.Background(), team.id, credits, reference, "")
	if (err == nil) != (credits <= team.balance) {
		t.Fatalf("withdrawing %d of %d: %v", credits, team.balance, err)
	}
	if err == nil {
		team.balance, team.granted = team.balance-credits, team.granted-credits
	}
}

// changeLimit sets the daily limit of a key or of a team.
func (m *machine) changeLimit(t *rapid.T) {
	team := m.anyTeam(t)
	credits := rapid.Int64Range(-1, 30).Draw(t, "credits")
	if rapid.Bool().Draw(t, "of a key") {
		key := rapid.SampledFrom(team.keys).Draw(t, "key")
		key.limit = credits
		must.NoError(t, m.nodes[0].Teams.SetKeyLimit(context.Background(), key.id, credits))
		return
	}
	team.limit = credits
	must.NoError(t, m.nodes[0].Teams.SetDailyCredits(context.Background(), team.id, &credits))
}

// changeTimezone changes a team's time zone.
func (m *machine) changeTimezone(t *rapid.T) {
	team, zone := m.anyTeam(t), rapid.SampledFrom(timezones).Draw(t, "zone")
	team.zone = location(zone)
	must.NoError(t, m.nodes[0].Teams.SetTimezone(context.Background(), team.id, zone))
}

// check compares the team of the last action with the model, and all teams after every eighth action.
func (m *machine) check(t *rapid.T) {
	if m.steps++; m.lastTeam == nil || m.steps%8 == 0 {
		m.checkAll(t)
		return
	}
	m.checkTeam(t, m.lastTeam)
}

func (m *machine) checkAll(t *rapid.T) {
	for _, team := range m.teams {
		m.checkTeam(t, team)
	}
	m.mustPassAudit(t)
}

func (m *machine) checkTeam(t *rapid.T, team *modelTeam) {
	for k, key := range team.keys {
		var got credits
		m.nodes[k%len(m.nodes)].readData(t, key, "/credits", &got)
		want := team.counts(m.clock.Now(), key)
		if got.counts() != want || got.DailyLimits.Key != key.limit || got.DailyLimits.Team != team.limit {
			t.Fatalf("credits = %+v, want %+v: %+v", got, want, team)
		}
	}
	m.checkFree(t, team)
	m.checkRows(t, team)
}

// checkRows compares row counts with the model, to detect rows that a failed call has left.
func (m *machine) checkRows(t *rapid.T, team *modelTeam) {
	var paid, plain, open, working int // expected by the model
	now := m.clock.Now()
	for _, key := range team.keys {
		paid, plain = paid+countValid(key.records, now), plain+countValid(key.writes, now)
	}
	for _, c := range team.charges {
		if c.isOpen {
			open++
		}
	}
	for _, c := range team.searches {
		if !c.ended {
			working++
		}
	}
	want := fmt.Sprint(len(team.charges), open, len(team.searches), working, paid, plain)
	var got [6]int
	must.NoError(t, m.db.QueryRow(context.Background(),
		`SELECT (SELECT COUNT(*) FROM reservations WHERE team_id = ?), (SELECT COUNT(*) FROM reservations
		WHERE team_id = ? AND state = 'open'),
		(SELECT COUNT(*) FROM jobs WHERE team_id = ?), (SELECT COUNT(*) FROM jobs WHERE team_id = ? AND finished_at = 0),
		(SELECT COUNT(*) FROM paid_requests WHERE key_id IN (?, ?) AND answer IS NOT NULL AND expires_at > ?),
		(SELECT COUNT(*) FROM idempotency_records WHERE key_id IN (?, ?) AND answer IS NOT NULL AND expires_at > ?)`,
		team.id, team.id, team.id, team.id, team.keys[0].id, team.keys[1].id, db.Micros(now), team.keys[0].id,
		team.keys[1].id, db.Micros(now)).
		Scan(&got[0], &got[1], &got[2], &got[3], &got[4], &got[5]))
	if text := fmt.Sprint(got[0], got[1], got[2], got[3], got[4], got[5]); text != want {
		t.Fatalf("reservations, open reservations, jobs, unfinished jobs, paid records, plain records = %s, want %s", text, want)
	}
}
