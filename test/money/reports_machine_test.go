package money

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pressroom/internal/db"
	"pressroom/internal/moment"
	"pressroom/internal/team"
	"pressroom/internal/testkit"
)

// pressMachine runs the program's reports and their model side by side.
type pressMachine struct {
	*press
	t       *rapid.T
	desks   []*desk
	touched *desk     // the one that something was done to
	begun   time.Time // by the clock
	round   int
	booked  int
	counts  map[string]int
}

// Whatever is asked of reports, in whatever order, at whatever time, by whichever node, and however the source ends it:
// every call and every job ends as the model says, reports refresh themselves when the model does, and the money is
// what the model says.
func TestReportsByModel(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		for i := range reportMachines { // most of a round is waiting
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				if !postgres(url) {
					playReports(t, newPress(t, testkit.SQLite(t), 1))
					return
				}
				playReports(t, newPress(t, testkit.Postgres(t), 2))
			})
		}
	})
}

func playReports(t *testing.T, p *press) {
	t.Helper()
	counts, began, tried, failed := map[string]int{}, time.Now(), 0, false
	rapid.Check(t, func(t *rapid.T) {
		// A round is long, so that few of those that rapid asks for are made; after a failure, all, to find the smallest.
		if tried++; tried > reportRounds && !failed {
			return
		}
		failed = true
		m := &pressMachine{press: p, t: t, round: tried, counts: counts}
		m.run()
		failed = false
	})
	t.Logf("%v: %v", time.Since(began), counts)
}

const (
	reportMachines = 2
	reportRounds   = 5  // of each
	reportSteps    = 80 // in a round, at most
)

// pressZones are those of the two teams. In the second one, clocks change at midnight.
var pressZones = []string{"Europe/Berlin", "America/Santiago"}

// longest is how long a round may last by the clock: reports whose making failed, and jobs, are forgotten after 30 days.
const longest = 28 * 24 * time.Hour

func (m *pressMachine) run() {
	m.begin()
	for _, zone := range pressZones {
		d := m.desk(m.t, zone, 2)
		m.desks = append(m.desks, d)
		defer m.leave(d)
		m.grant(d, rapid.Int64Range(20, 150).Draw(m.t, "credits"))
		m.stock(d)
	}
	m.letAllGo()
	actions := []func(){
		m.create, m.create, m.refresh, m.refresh, m.refresh, m.track, m.track, m.track, m.track, m.track, m.repeat, m.repeat, m.twins, m.letGo, m.letGo, m.letAllGo,
		m.pass, m.pass, m.pass, m.pass, m.pass, m.book, m.book, m.limit, m.pause, m.move, m.look, m.lookAtJob, m.outage,
	}
	for range reportSteps/2 + index(m.t, reportSteps/2, "steps") {
		m.letSomeGo()
		m.resume()
		pick(m.t, actions, "action")()
		m.check()
	}
	m.end()
}

// stock asks for the reports that a team has from the beginning.
func (m *pressMachine) stock(d *desk) {
	for _, w := range rapid.SliceOfNDistinct(rapid.SampledFrom(subjects[:there]), 0, there-1, rapid.ID[wish]).Draw(m.t, "stock") {
		m.send(d, d.keys[0], m.wanted(d, w))
	}
}

// index draws a number below n, each alike: rapid by itself prefers small ones.
func index(t *rapid.T, n int, label string) int {
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

// pick draws one of several, each alike.
func pick[T any](t *rapid.T, of []T, label string) T { return of[index(t, len(of), label)] }

// begin sets the clock on to a day or so before clocks change somewhere, at some time of that day.
func (m *pressMachine) begin() {
	zone := location(pick(m.t, pressZones, "clocks change in"))
	before := time.Duration(rapid.IntRange(0, 26*60).Draw(m.t, "minutes before")) * time.Minute
	at := m.clock.Now().Add(longest)
	for offset(at, zone) == offset(at.Add(time.Hour), zone) {
		at = at.Add(time.Hour)
	}
	m.begun = at.Truncate(time.Hour).Add(time.Hour - before)
	m.clock.Advance(m.begun.Sub(m.clock.Now()))
}

func offset(at time.Time, zone *time.Location) int {
	_, east := at.In(zone).Zone()
	return east
}

// leave stops what a team of a round that failed would go on with.
func (m *pressMachine) leave(d *desk) {
	for _, e := range d.unfinished(nil) {
		m.source.let(e.paper.address(), served)
	}
	m.exec(m.t, `UPDATE reports SET tracked = 0 WHERE team_id = ?`, d.id)
}

func (m *pressMachine) anyDesk() *desk {
	m.touched = pick(m.t, m.desks, "team")
	return m.touched
}

func (m *pressMachine) anyNode() pressNode {
	return pick(m.t, m.nodes, "node")
}

func (m *pressMachine) anyIdem() string {
	return fmt.Sprint("key ", index(m.t, 16, "idem"))
}

// subjects are what a team may ask for: profiles and hashtags that are there, and then some that are not.
var subjects = []wish{
	{kind: "profile", platform: "instagram", subject: "empty.a"}, {kind: "profile", platform: "instagram", subject: "b"}, {kind: "profile", platform: "tiktok", subject: "empty.a"},
	{kind: "hashtag", platform: "instagram", subject: "c"}, {kind: "hashtag", platform: "instagram", subject: "d"},
	{kind: "profile", platform: "instagram", subject: "missing.e"}, {kind: "profile", platform: "tiktok", subject: "private.f"},
	{kind: "profile", platform: "instagram", subject: "error.g"}, {kind: "hashtag", platform: "instagram", subject: "missingh"},
}

// there is how many of the subjects are there.
const there = 5

// anyCreate draws a report to be made. Each team of each round has its own subjects, as they are what the source is
// let answer about.
func (m *pressMachine) anyCreate(d *desk) wish {
	some := subjects
	if index(m.t, 3, "there") > 0 {
		some = subjects[:there]
	}
	return m.wanted(d, pick(m.t, some, "subject"))
}

// wanted is a wish for a report on a subject.
func (m *pressMachine) wanted(d *desk, w wish) wish {
	w.verb, w.idem, w.brief = "create", m.anyIdem(), rapid.Bool().Draw(m.t, "brief")
	w.subject = fmt.Sprintf("%s_%d_%d", w.subject, d.id, m.round)
	sign := map[string]string{"profile": "@", "hashtag": "#"}[w.kind]
	w.text = pick(m.t, []string{"", "", sign}, "sign") + w.subject
	return w
}

// anyPaper draws a report that the team has, or now and then one that it has not.
func (m *pressMachine) anyPaper(d *desk) (string, string, bool) {
	d.forget(m.clock.Now())
	strange := index(m.t, 12, "strange")
	switch {
	case strange == 0 && len(d.gone) > 0:
		return "profile", pick(m.t, d.gone, "gone"), true
	case len(d.papers) == 0:
		return "", "", false
	}
	p := pick(m.t, d.papers, "report")
	if strange == 1 {
		return map[string]string{"profile": "hashtag", "hashtag": "profile"}[p.kind], p.id, true
	}
	return p.kind, p.id, true
}

func (m *pressMachine) create() {
	d := m.anyDesk()
	m.send(d, m.anyKey(d), m.anyCreate(d))
}

func (m *pressMachine) anyKey(d *desk) *deskKey { return pick(m.t, d.keys, "by") }

func (m *pressMachine) anyRefresh(d *desk) (wish, bool) {
	kind, id, found := m.anyPaper(d)
	return wish{verb: "refresh", kind: kind, id: id, idem: m.anyIdem()}, found
}

func (m *pressMachine) refresh() {
	d := m.anyDesk()
	if w, found := m.anyRefresh(d); found {
		m.send(d, m.anyKey(d), w)
	}
}

func (m *pressMachine) anyTrack(d *desk) (wish, bool) {
	kind, id, found := m.anyPaper(d)
	w := wish{verb: "track", kind: kind, id: id, idem: m.anyIdem(), brief: rapid.Bool().Draw(m.t, "brief")}
	w.enabled, w.days = index(m.t, 4, "on") > 0, pick(m.t, []int{3, 1, 7}, "days")
	return w, found
}

func (m *pressMachine) track() {
	d := m.anyDesk()
	if w, found := m.anyTrack(d); found {
		m.send(d, m.anyKey(d), w)
	}
}

// repeat repeats an earlier request, or sends another one with its key.
func (m *pressMachine) repeat() {
	d := m.anyDesk()
	if len(d.wishes) == 0 {
		return
	}
	earlier := pick(m.t, d.wishes, "earlier")
	if index(m.t, 3, "another") == 0 {
		earlier.wish.brief = !earlier.wish.brief
		m.send(d, m.anyKey(d), earlier.wish)
		return
	}
	m.send(d, earlier.key, earlier.wish)
}

// send makes a call and holds it against the model.
func (m *pressMachine) send(d *desk, key *deskKey, w wish) {
	m.before(d, w)
	got, err := m.anyNode().asks(key, w)
	must(m.t, err)
	m.heard(d, key, w, got)
	m.after(d)
}

// before makes sure that what the call leads to can be told beforehand: a report whose time is over once it is not
// tracked any more is looked at by nobody while a job would bring it back.
func (m *pressMachine) before(d *desk, w wish) {
	d.forget(m.clock.Now())
	if p := d.about(w); p != nil && w.verb == "track" && !w.enabled && !m.clock.Now().Before(p.until) {
		m.release(d.unfinished(p), served)
	}
}

func (m *pressMachine) heard(d *desk, key *deskKey, w wish, got answer) {
	d.wishes = append(d.wishes, wished{key, w})
	now := m.clock.Now()
	v := d.judge(now, key, w)
	m.t.Logf("%v: %+v by key %d: %d %s", now, w, key.id, got.status, got.refusal())
	if err := v.against(d, w, got); err != nil {
		m.t.Fatalf("%+v by key %d: %v", w, key.id, err)
	}
	m.count(w, v, got)
	if v.first != nil || v.refusal != "" {
		return
	}
	p := d.accept(now, key, w, v, got)
	if w.verb != "track" {
		return
	}
	must(m.t, p.shows(got))
	if p.job != nil && p.job.id == "" {
		must(m.t, m.db.QueryRow(context.Background(), `SELECT job_id FROM reports WHERE id = ?`, p.id).Scan(&p.job.id))
	}
}

func (m *pressMachine) count(w wish, v verdict, got answer) {
	what := w.verb
	switch {
	case v.first != nil:
		what += " again"
	case v.refusal != "":
		what = got.refusal()
	case v.price > 0:
		what += " paid"
	}
	m.counts[what]++
}

// twins makes two calls at once, of which either may come first.
func (m *pressMachine) twins() {
	d := m.anyDesk()
	one := m.anyCreate(d)
	other := one
	switch index(m.t, 3, "verb") {
	case 0:
		if w, found := m.anyRefresh(d); found {
			one, other = w, w
		}
	case 1:
		if w, found := m.anyTrack(d); found {
			one, other = w, w
		}
	}
	if rapid.Bool().Draw(m.t, "another key") {
		other.idem += " too"
	}
	m.before(d, one)
	keys := []*deskKey{m.anyKey(d), m.anyKey(d)}
	if one.verb == "track" { // whose switch it was, and counts against whose limit, is told nowhere in the answers
		keys[1] = keys[0]
	}
	nodes := []pressNode{m.anyNode(), m.anyNode()}
	got := bothAsk(m.t, nodes, keys, []wish{one, other})
	fits := func(i int, w wish) bool { return d.judge(m.clock.Now(), keys[i], w).against(d, w, got[i]) == nil }
	first := 0
	if !fits(0, one) || !got[1].ok() && fits(1, other) { // where either could have been, a refusal: it changed nothing
		first = 1
	}
	wishes := []wish{one, other}
	m.heard(d, keys[first], wishes[first], got[first])
	m.heard(d, keys[1-first], wishes[1-first], got[1-first])
	m.counts["twins"]++
	m.after(d)
}

// bothAsk makes calls at once; one that came while its key was in use is repeated.
func bothAsk(t fatal, nodes []pressNode, keys []*deskKey, wishes []wish) []answer {
	t.Helper()
	type said struct {
		answer answer
		err    error
	}
	all := make([]chan said, len(wishes))
	for i := range wishes {
		all[i] = make(chan said, 1)
		go func() {
			a, err := nodes[i].asks(keys[i], wishes[i])
			for err == nil && a.refusal() == inProgress {
				a, err = nodes[i].asks(keys[i], wishes[i])
			}
			all[i] <- said{a, err}
		}()
	}
	out := make([]answer, len(wishes))
	for i := range all {
		s := <-all[i]
		must(t, s.err)
		out[i] = s.answer
	}
	return out
}

// letGo lets the source answer about one report, in some way.
func (m *pressMachine) letGo() {
	d := m.anyDesk()
	waiting := slices.DeleteFunc(slices.Clone(d.papers), func(p *paper) bool { return len(d.unfinished(p)) == 0 })
	if len(waiting) == 0 {
		return
	}
	p := pick(m.t, waiting, "waiting")
	ends := []ending{served, served, served, served, missing, failing, failing, resting}
	if p.kind == "profile" {
		ends[5] = private
	}
	m.release(d.unfinished(p), pick(m.t, ends, "end"))
}

// letAllGo lets the source answer about everything.
func (m *pressMachine) letAllGo() { m.release(m.unfinished(), served) }

// letSomeGo lets go of what has waited for long in earnest, as nobody waits for a source without end, and of the rest
// where little more can wait: a node asks for a few reports at a time.
func (m *pressMachine) letSomeGo() {
	m.release(m.those(func(e *errand) bool { return time.Since(e.real) > 10*time.Second }), served)
	if len(m.unfinished()) > mayWait {
		m.letAllGo()
	}
}

// unfinished are the errands of all teams that go on.
func (m *pressMachine) unfinished() []*errand { return m.those(func(*errand) bool { return true }) }

func (m *pressMachine) those(wanted func(*errand) bool) []*errand {
	var out []*errand
	for _, d := range m.desks {
		for _, e := range d.unfinished(nil) {
			if wanted(e) {
				out = append(out, e)
			}
		}
	}
	return out
}

// release lets the source answer some errands, and the others that wait for the same answer, and waits until they have
// ended.
func (m *pressMachine) release(some []*errand, how ending) {
	all := m.those(func(e *errand) bool {
		return slices.ContainsFunc(some, func(other *errand) bool { return other.paper == e.paper })
	})
	prompt, restless := map[*errand]ending{}, map[*errand]ending{}
	for _, e := range all {
		switch end := e.paper.natural(how); {
		case end != resting:
			prompt[e] = end
		case how != resting || m.near(10*time.Second):
			prompt[e] = failing // rests take time, and nothing else has to come about meanwhile
		default:
			restless[e] = resting
		}
	}
	m.finish(all, prompt)
	m.finish(all, restless)
}

// near tells whether something comes about by itself within some time.
func (m *pressMachine) near(within time.Duration) bool {
	now := m.clock.Now()
	soon := func(at time.Time) bool { return at.After(now) && !at.After(now.Add(within)) }
	return slices.ContainsFunc(m.desks, func(d *desk) bool {
		_, midnight := moment.Day(now, d.zone)
		return soon(midnight) || slices.ContainsFunc(d.papers, func(p *paper) bool { return soon(p.next) || soon(p.until) })
	})
}

// finish lets some of all the errands end.
func (m *pressMachine) finish(all []*errand, ends map[*errand]ending) {
	if len(ends) == 0 {
		return
	}
	all = slices.DeleteFunc(slices.Clone(all), func(e *errand) bool { return ends[e] == "" })
	ids := make([]any, len(all))
	for i, e := range all {
		ids[i] = e.id
		m.source.let(e.paper.address(), ends[e])
	}
	left := int64(-1)
	if !until(context.Background(), func() bool {
		left = m.number(m.t, `SELECT COUNT(*) FROM jobs WHERE finished_at = 0 AND id IN (`+db.Marks(len(ids))+`)`, ids...)
		if left > 0 && ends[all[0]] == resting {
			m.wakeUp(ids)
		}
		return left == 0
	}) {
		m.t.Fatalf("%d of the jobs %v do not end", left, ids)
	}
	for _, e := range all {
		m.source.shut(e.paper.address())
		e.desk.end(m.clock.Now(), e, ends[e])
		m.counts[e.purpose+" "+e.state]++
		m.t.Logf("%s to %s %#v: %s", e.id, e.purpose, e.paper, e.state)
		m.mustHaveEnded(e)
	}
}

// wakeUp sets the clock on a second where some of the work rests for one.
func (m *pressMachine) wakeUp(ids []any) {
	now := m.clock.Now()
	if m.number(m.t, `SELECT COUNT(*) FROM jobs WHERE state = 'running' AND owner = '' AND wake_at > ? AND wake_at <= ? AND id IN (`+db.Marks(len(ids))+`)`,
		append([]any{db.Micros(now), db.Micros(now.Add(time.Second))}, ids...)...) > 0 {
		m.clock.Advance(time.Second)
		m.counts["rests"]++
	}
}

// mustHaveEnded holds a job that has ended against the model.
func (m *pressMachine) mustHaveEnded(e *errand) {
	job := m.jobOf(e)
	if !job.Finished || job.State != e.state || job.Error.Code != e.code || job.Result.Charged != e.charged() || job.Result.Report.ID != e.paper.id {
		m.t.Fatalf("the job of %+v, to %s, ended as %+v instead of %s %s charged %d", e.paper, e.purpose, job, e.state, e.code, e.charged())
	}
}

// jobOfReport is what get_job tells of such a job.
type jobOfReport struct {
	JobID    string `json:"job_id"`
	State    string
	Finished bool
	Error    struct{ Code string }
	Result   struct {
		Charged int64 `json:"credits_charged"`
		Report  struct{ ID, Kind, Status string }
	}
}

// pass lets time go by: a little, or to around something that happens then.
func (m *pressMachine) pass() {
	d, now := m.anyDesk(), m.clock.Now()
	to := now
	switch index(m.t, 8, "how") {
	case 0:
		to = now.Add(time.Duration(rapid.Int64Range(0, 700).Draw(m.t, "seconds")) * time.Second)
	case 1, 2:
		_, to = moment.Day(now, d.zone)
	case 3, 4:
		if p := m.anyOf(d, "tracked", func(p *paper) bool { return p.tracked }); p != nil {
			to = p.next
		}
	case 5:
		if p := m.anyOf(d, "asked", func(p *paper) bool { return !p.asked.IsZero() }); p != nil {
			to = p.asked.Add(refreshApart)
		}
	case 6:
		if p := m.anyOf(d, "ready", func(p *paper) bool { return p.there(now) }); p != nil {
			to = p.until
		}
	default:
		to = now.Add(time.Duration(rapid.Int64Range(1, 90).Draw(m.t, "hours")) * time.Hour)
	}
	to = to.Add(time.Duration(rapid.IntRange(-1, 1).Draw(m.t, "microseconds")) * time.Microsecond)
	m.moveTo(minTime(to, m.begun.Add(longest)))
}

func (m *pressMachine) anyOf(d *desk, what string, those func(*paper) bool) *paper {
	found := slices.DeleteFunc(slices.Clone(d.papers), func(p *paper) bool { return !those(p) })
	if len(found) == 0 {
		return nil
	}
	return rapid.SampledFrom(found).Draw(m.t, what)
}

// mayMove is how often the clock may move while a job waits for its source. Each time the program takes it for left
// behind and takes it up anew, and it gives up in the end.
const mayMove = 2

// mayWait is how many reports may wait for their source at once.
const mayWait = 2

// moveTo sets the clock on, once what could not be told beforehand has ended, and sees to what is due then.
func (m *pressMachine) moveTo(to time.Time) {
	if !to.After(m.clock.Now()) {
		return
	}
	if len(m.unfinished()) > mayWait { // whoever takes work up anew waits too, for a moment beside the first
		m.letAllGo()
	}
	m.release(m.those(func(e *errand) bool {
		ends := !e.paper.tracked && !e.paper.until.IsZero() && !to.Before(e.paper.until)
		return ends || e.moves >= mayMove
	}), served)
	m.clock.Advance(max(0, to.Sub(m.clock.Now()))) // what rested may have taken longer
	for _, d := range m.desks {
		for _, e := range d.unfinished(nil) {
			e.moves++
		}
		m.after(d)
	}
}

func minTime(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// after waits until the program has looked after the reports whose automatic refresh is due, and books it.
func (m *pressMachine) after(d *desk) {
	now := m.clock.Now()
	d.forget(now)
	waiting := slices.DeleteFunc(slices.Clone(d.papers), func(p *paper) bool { return !p.tracked || p.next.After(now) })
	if len(waiting) == 0 {
		return
	}
	m.lookAfter(d)
	came := make([]due, len(waiting))
	for i, p := range waiting {
		came[i] = m.cameOf(p)
		m.t.Logf("%v: %#v was due at %v: job %s, next at %v, ended by %q", now, p, p.next, came[i].job, came[i].next, came[i].ended)
		m.counts[fmt.Sprintf("due: begins: %v, ends: %q", came[i].job != "", came[i].ended)]++
	}
	must(m.t, d.passed(now, came))
}

// lookAfter has due refreshes looked after at once, beside the nodes who do so each second.
func (m *pressMachine) lookAfter(d *desk) {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		m.nodes[0].Reports.RunTracking(ctx, func(error) {})
		close(ended)
	}()
	left := int64(-1)
	good := until(ctx, func() bool {
		left = m.number(m.t, `SELECT COUNT(*) FROM reports WHERE team_id = ? AND tracked = 1 AND next_refresh_at <= ?`, d.id, db.Micros(m.clock.Now()))
		return left == 0
	})
	stop()
	<-ended
	if !good {
		m.t.Fatalf("nobody looks after %d due reports", left)
	}
}

func (m *pressMachine) cameOf(p *paper) due {
	came := due{paper: p}
	var job string
	var tracked, next int64
	must(m.t, m.db.QueryRow(context.Background(), `SELECT job_id, tracked, next_refresh_at, tracking_ended FROM reports WHERE id = ?`, p.id).Scan(&job, &tracked, &next, &came.ended))
	came.next = db.Time(next)
	if p.job == nil || p.job.id != job {
		came.job = job
	}
	if tracked == 0 && came.ended == "" {
		m.t.Fatalf("tracking of %+v ended and nobody said why", p)
	}
	return came
}

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
	_, err := m.nodes[0].Credits.Grant(context.Background(), d.id, credits, fmt.Sprint("booking ", m.booked), "")
	must(m.t, err)
	d.balance += credits
}

// limit sets the daily limit of a key, or of the team.
func (m *pressMachine) limit() {
	d := m.anyDesk()
	credits := pick(m.t, []int64{-1, -1, -1, 1, 7, 12, 20, 30}, "credits")
	if rapid.Bool().Draw(m.t, "of a key") {
		key := m.anyKey(d)
		key.limit = credits
		must(m.t, m.nodes[0].Teams.SetKeyLimit(context.Background(), key.id, credits))
	} else {
		d.limit = credits
		must(m.t, m.nodes[0].Teams.SetDailyCredits(context.Background(), d.id, &credits))
	}
	m.holds()
}

// holds lets a change of access hold on every node: that takes up to a second.
func (m *pressMachine) holds() { m.moveTo(m.clock.Now().Add(1100 * time.Millisecond)) }

// pause pauses what the team spends.
func (m *pressMachine) pause() {
	d := m.anyDesk()
	if !d.paused {
		must(m.t, m.nodes[0].Teams.Pause(context.Background(), team.Pause{Scope: team.ForTeam, Target: d.id, Action: team.Spending}))
		d.paused = true
		m.holds()
	}
}

// resume resumes it, soon.
func (m *pressMachine) resume() {
	for _, d := range m.desks {
		if d.paused && index(m.t, 5, "resume") == 0 {
			must(m.t, m.nodes[0].Teams.Resume(context.Background(), team.Pause{Scope: team.ForTeam, Target: d.id, Action: team.Spending}))
			d.paused = false
			m.holds()
		}
	}
}

// move moves the team to the other plan.
func (m *pressMachine) move() {
	d := m.anyDesk()
	d.plan = map[string]string{largePlan: smallPlan, smallPlan: largePlan}[d.plan]
	must(m.t, m.nodes[0].Teams.SetPlan(context.Background(), d.id, d.plan, time.Time{}))
	m.holds()
}
