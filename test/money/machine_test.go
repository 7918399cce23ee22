package money

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pressroom/internal/platform/db"
	"pressroom/internal/testkit"
	"pressroom/internal/testkit/must"
	"pressroom/test/money/standin"
)

// machine runs the program and the model side by side.
type machine struct {
	*inside
	teams     []*modelTeam
	touched   *modelTeam // the one that something was done to
	steps     int
	booked    int
	calls     *int
	disbelief map[[2]int64]time.Time // node and team: since when it believes that no free calls are left
	days      map[*modelTeam]*freeDay
}

// Calls, repeats, aborts, failures and work in random order, at random times and on random nodes: every call ends as the
// model predicts, and so do the credits.
func TestPaidCallsByModel(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		nodes, rounds := 1, 2
		if postgres(url) {
			nodes, rounds = 2, 1
		}
		in := newInside(t, url, nodes, freeCalls)
		in.exec(t, doom)
		calls := 0
		property := func(t *rapid.T) {
			m := &machine{inside: in, calls: &calls, disbelief: map[[2]int64]time.Time{}, days: map[*modelTeam]*freeDay{}}
			m.set(rapid.SampledFrom(starts).Draw(t, "start"))
			for _, zone := range []string{"Europe/Berlin", "Asia/Kathmandu"} {
				team := m.team(t, zone, 2)
				m.grant(t, team, 40, "start")
				m.teams, m.days[team] = append(m.teams, team), &freeDay{others: map[time.Time]int64{}}
			}
			t.Repeat(map[string]func(*rapid.T){
				"": m.check, "call": m.call, "call more": m.call, "call on": m.call, "repeat": m.repeat,
				"repeat on": m.repeat, "other": m.other,
				"remember": m.remember, "work": m.work, "work on": m.work, "work twice": m.workTwice, "book": m.book,
				"limit": m.limit, "move": m.move,
				"pass": m.pass, "look after": m.lookAfter,
			})
			m.checkAll(t)
		}
		for range rounds {
			rapid.Check(t, property)
		}
		t.Logf("%d calls", calls)
	})
}

// freeCalls is how many free calls a team of the machine has a day: few, so that they run out.
const freeCalls = 12

// doom is a table whose rows fail the transaction when it commits.
const doom = `CREATE TABLE stand_in_doom (team_id BIGINT REFERENCES teams (id) DEFERRABLE INITIALLY DEFERRED)`

var (
	starts = []string{"2027-10-30T21:59:00Z", "2028-03-25T22:30:00Z", "2029-01-10T18:14:59Z", "2030-06-01T12:00:00Z"}
	zones  = []string{"UTC", "Europe/Berlin", "Asia/Kathmandu", "Pacific/Kiritimati", "America/Los_Angeles"}
)

func postgres(url string) bool { return url[0] == 'p' }

// set sets the clock, possibly back, because runs are independent.
func (m *machine) set(start string) {
	at, err := time.Parse(time.RFC3339, start)
	if err != nil {
		panic(err)
	}
	m.clock.Advance(at.Sub(m.clock.Now()))
}

func (m *machine) anyTeam(t *rapid.T) *modelTeam {
	m.touched = rapid.SampledFrom(m.teams).Draw(t, "team")
	return m.touched
}

func (m *machine) anyNode(t *rapid.T) int { return rapid.IntRange(0, len(m.nodes)-1).Draw(t, "node") }

var ends = []standin.End{standin.All, standin.All, standin.Part, standin.Nothing, standin.Later}

// anyOrder draws from few orders, so that some repeat.
func (m *machine) anyOrder(t *rapid.T) order {
	o := order{tool: rapid.SampledFrom([]string{standin.Search, standin.Search, standin.Tracking, standin.Note}).Draw(t, "tool")}
	o.query = "free"
	if price := rapid.Int64Range(0, 10).Draw(t, "price"); price > 0 {
		o.query = fmt.Sprint(price, " ", rapid.SampledFrom(ends).Draw(t, "end"))
	}
	o.query += rapid.SampledFrom([]string{"", ` <b>&amp;"é`}).Draw(t, "words")
	o.idem = fmt.Sprint("key ", rapid.IntRange(0, 9).Draw(t, "key"))
	switch o.tool {
	case standin.Tracking:
		o.report = rapid.SampledFrom([]string{"a", "b"}).Draw(t, "report")
	case standin.Note:
		o.idem = rapid.SampledFrom([]string{"", o.idem}).Draw(t, "idem")
	}
	return o
}

func (m *machine) call(t *rapid.T) {
	team := m.anyTeam(t)
	m.make(t, team, rapid.SampledFrom(team.keys).Draw(t, "by"), m.anyOrder(t), m.anyFault(t))
}

// repeat repeats an earlier call.
func (m *machine) repeat(t *rapid.T) {
	team := m.anyTeam(t)
	key, o := m.earlier(t, team)
	m.make(t, team, key, o, m.anyFault(t))
}

// other sends another request with a key that was used.
func (m *machine) other(t *rapid.T) {
	team := m.anyTeam(t)
	key, o := m.earlier(t, team)
	fresh := m.anyOrder(t)
	if o.idem != "" {
		fresh.idem = o.idem
	}
	m.make(t, team, key, fresh, m.anyFault(t))
}

func (m *machine) earlier(t *rapid.T, team *modelTeam) (*modelKey, order) {
	if len(team.made) == 0 {
		t.Skip("nothing to repeat")
	}
	made := rapid.SampledFrom(team.made).Draw(t, "earlier")
	return made.key, made.order
}

// make makes one call and holds it against the model.
func (m *machine) make(t *rapid.T, team *modelTeam, key *modelKey, o order, f fault) {
	i := m.anyNode(t)
	// The tools' edge cannot answer a disconnected caller.
	tool := rapid.IntRange(0, 9).Draw(t, "edge") == 0 && !f.gone && f.kind != "cancel"
	if !o.isPaid() && f.at == atPrice {
		f = fault{} // it has no price
	}
	now := m.clock.Now()
	free := m.freeOf(t, i, team)
	ctx, done := f.into(o)
	got, err := m.nodes[i].ask(ctx, key, o, tool)
	done()
	must.NoError(t, err)
	*m.calls++
	m.today(t, team)
	if o.tool == standin.Tracking {
		m.days[team].losing(f, o)
	}
	team.made = append(team.made, made{key, o})
	first, want := m.expect(team, key, o, f, free)
	switch known := first != nil || strings.HasPrefix(want, "422"); {
	case f.gone && !got.ok(): // the caller has disconnected
		want = got.refusal()
	case free == unsure && !m.paidFor(o) && !known && got.refusal() == noFreeCalls:
		want = noFreeCalls
	}
	must.NoError(t, team.complain(now, o, got, want))
	switch {
	case want == noFreeCalls:
		m.disbelief[[2]int64{int64(i), team.id}] = now
	case want != "":
	case first != nil:
		must.NoError(t, repeats(first.answer, got))
	default:
		m.bookAccepted(t, team, key, o, got)
	}
}

func (m *machine) paidFor(o order) bool { return o.isPaid() && o.words().Price > 0 }

// expect returns how a call should end: with the first answer of an earlier one, a refusal, or a success.
func (m *machine) expect(team *modelTeam, key *modelKey, o order, f fault, free freeLeft) (*record, string) {
	now := m.clock.Now()
	if f.gone {
		return nil, "500 internal_error"
	}
	first, want := key.lookUp(now, o)
	if first != nil || want != "" {
		return first, want
	}
	if o.isPaid() {
		if want := m.failing(f, o, atPrice); want != "" {
			return nil, want
		}
	}
	if !m.paidFor(o) && free == none {
		return nil, noFreeCalls
	}
	if m.paidFor(o) {
		if want := team.refusalFor(now, key, o.words().Price); want != "" {
			return nil, want
		}
	}
	return nil, m.failing(f, o, workPoint[o.tool])
}

const noFreeCalls = "429 daily_call_limit_reached"

// bookAccepted books a call that was accepted.
func (m *machine) bookAccepted(t *rapid.T, team *modelTeam, key *modelKey, o order, got answer) {
	now := m.clock.Now()
	if got.replayed {
		t.Fatalf("%+v: the first answer says that it is a repeat: %s", o, got.raw)
	}
	if !m.paidFor(o) {
		team.free++
	}
	if !o.isPaid() {
		if o.idem != "" {
			key.plain[o.idem] = &record{now, o, got}
		}
		return
	}
	team.accept(now, key, o, got)
	if want := team.billing(o); got.Billing.String() != want.String() {
		t.Fatalf("%+v: billing %s instead of %s", o, got.Billing, want)
	}
	if (o.tool == standin.Search) != (got.job() != "") {
		t.Fatalf("%+v: the job is %q", o, got.job())
	}
}

// repeats holds the answer to a repeat against the first one.
func repeats(first, got answer) error {
	switch {
	case !got.tool && !got.replayed:
		return fmt.Errorf("a repeat does not say so: %s", got.raw)
	case !got.sameData(first):
		return fmt.Errorf("a repeat has other data:\n%s\n%s", first.Data, got.Data)
	case got.Billing.String() != first.Billing.String():
		return fmt.Errorf("a repeat has another billing:\n%s\n%s", first.Billing, got.Billing)
	case !got.tool && !first.tool && got.location != first.location:
		return fmt.Errorf("a repeat has another location: %s, %s", first.location, got.location)
	}
	return nil
}

// book tops a team up, or takes credits away.
func (m *machine) book(t *rapid.T) {
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

func (m *machine) limit(t *rapid.T) {
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

func (m *machine) move(t *rapid.T) {
	team, zone := m.anyTeam(t), rapid.SampledFrom(zones).Draw(t, "zone")
	team.zone = location(zone)
	must.NoError(t, m.nodes[0].Teams.SetTimezone(context.Background(), team.id, zone))
}

// check compares every figure of the affected team with the model, and now and then everything.
func (m *machine) check(t *rapid.T) {
	if m.steps++; m.touched == nil || m.steps%8 == 0 {
		m.checkAll(t)
		return
	}
	m.checkTeam(t, m.touched)
}

func (m *machine) checkAll(t *rapid.T) {
	for _, team := range m.teams {
		m.checkTeam(t, team)
	}
	m.sound(t)
}

func (m *machine) checkTeam(t *rapid.T, team *modelTeam) {
	for k, key := range team.keys {
		var got credits
		m.nodes[k%len(m.nodes)].show(t, key, "/credits", &got)
		want := team.figures(m.clock.Now(), key)
		if got.figures() != want || got.DailyLimits.Key != key.limit || got.DailyLimits.Team != team.limit {
			t.Fatalf("the credits are %+v instead of %+v of %+v", got, want, team)
		}
	}
	m.checkFree(t, team)
	m.checkRows(t, team)
}

// checkRows counts what there is, so that a refusal shows that left something behind.
func (m *machine) checkRows(t *rapid.T, team *modelTeam) {
	var paid, plain, open, working int // as the model has them
	now := m.clock.Now()
	for _, key := range team.keys {
		paid, plain = paid+countValid(key.records, now), plain+countValid(key.plain, now)
	}
	for _, c := range team.charges {
		if c.open {
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
		t.Fatalf("reservations, open ones, jobs, unfinished ones, paid records, plain records: %s instead of %s", text, want)
	}
}
