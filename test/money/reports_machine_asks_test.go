package money

import (
	"context"
	"fmt"

	"pressroom/internal/testkit/must"

	"pgregory.net/rapid"
)

// subjects are what a team may request: existing profiles and hashtags, then missing ones.
var subjects = []reportCall{
	{kind: "profile", platform: "instagram", subject: "empty.a"},
	{kind: "profile", platform: "instagram", subject: "b"}, {kind: "profile", platform: "tiktok", subject: "empty.a"},
	{kind: "hashtag", platform: "instagram", subject: "c"}, {kind: "hashtag", platform: "instagram", subject: "d"},
	{kind: "profile", platform: "instagram", subject: "missing.e"}, {kind: "profile", platform: "tiktok", subject: "private.f"},
	{kind: "profile", platform: "instagram", subject: "error.g"}, {kind: "hashtag", platform: "instagram", subject: "missingh"},
}

// there is how many of the subjects are there.
const there = 5

// anyCreate draws a report to create. Each team of each round has separate subjects, because the source's answers are
// released by subject.
func (m *reportMachine) anyCreate(d *teamState) reportCall {
	some := subjects
	if index(m.t, 3, "there") > 0 {
		some = subjects[:there]
	}
	return m.completeCall(d, pick(m.t, some, "subject"))
}

// completeCall returns a call for a report on a subject.
func (m *reportMachine) completeCall(d *teamState, w reportCall) reportCall {
	w.verb, w.idem, w.brief = "create", m.anyIdem(), rapid.Bool().Draw(m.t, "brief")
	w.subject = fmt.Sprintf("%s_%d_%d", w.subject, d.id, m.round)
	sign := map[string]string{"profile": "@", "hashtag": "#"}[w.kind]
	w.text = pick(m.t, []string{"", "", sign}, "sign") + w.subject
	return w
}

// anyReport draws a report that the team has, or now and then one that it has not.
func (m *reportMachine) anyReport(d *teamState) (string, string, bool) {
	d.forget(m.clock.Now())
	strange := index(m.t, 12, "strange")
	switch {
	case strange == 0 && len(d.gone) > 0:
		return "profile", pick(m.t, d.gone, "gone"), true
	case len(d.reports) == 0:
		return "", "", false
	}
	p := pick(m.t, d.reports, "report")
	if strange == 1 {
		return map[string]string{"profile": "hashtag", "hashtag": "profile"}[p.kind], p.id, true
	}
	return p.kind, p.id, true
}

func (m *reportMachine) create() {
	d := m.anyTeam()
	m.send(d, m.anyKey(d), m.anyCreate(d))
}

func (m *reportMachine) anyKey(d *teamState) *teamKey { return pick(m.t, d.keys, "by") }

func (m *reportMachine) anyRefresh(d *teamState) (reportCall, bool) {
	kind, id, found := m.anyReport(d)
	return reportCall{verb: "refresh", kind: kind, id: id, idem: m.anyIdem()}, found
}

func (m *reportMachine) refresh() {
	d := m.anyTeam()
	if w, found := m.anyRefresh(d); found {
		m.send(d, m.anyKey(d), w)
	}
}

func (m *reportMachine) anyTrack(d *teamState) (reportCall, bool) {
	kind, id, found := m.anyReport(d)
	w := reportCall{verb: "track", kind: kind, id: id, idem: m.anyIdem(), brief: rapid.Bool().Draw(m.t, "brief")}
	w.enabled, w.days = index(m.t, 4, "on") > 0, pick(m.t, []int{3, 1, 7}, "days")
	return w, found
}

func (m *reportMachine) track() {
	d := m.anyTeam()
	if w, found := m.anyTrack(d); found {
		m.send(d, m.anyKey(d), w)
	}
}

// repeat repeats an earlier request, or sends another one with its key.
func (m *reportMachine) repeat() {
	d := m.anyTeam()
	if len(d.wishes) == 0 {
		return
	}
	earlier := pick(m.t, d.wishes, "earlier")
	if index(m.t, 3, "another") == 0 {
		earlier.call.brief = !earlier.call.brief
		m.send(d, m.anyKey(d), earlier.call)
		return
	}
	m.send(d, earlier.key, earlier.call)
}

// send makes a call and holds it against the model.
func (m *reportMachine) send(d *teamState, key *teamKey, w reportCall) {
	m.before(d, w)
	got := must.Get(m.anyNode().asks(key, w))(m.t)
	m.handleAnswer(d, key, w, got)
	m.after(d)
}

// before makes the result of a call predictable: an expired report that is no longer tracked is not requested while a
// job would renew it.
func (m *reportMachine) before(d *teamState, w reportCall) {
	d.forget(m.clock.Now())
	if p := d.about(w); p != nil && w.verb == "track" && !w.enabled && !m.clock.Now().Before(p.until) {
		m.release(d.openJobs(p), served)
	}
}

func (m *reportMachine) handleAnswer(d *teamState, key *teamKey, w reportCall, got answer) {
	d.wishes = append(d.wishes, sentCall{key, w})
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
	must.NoError(m.t, p.shows(got))
	if p.job != nil && p.job.id == "" {
		must.NoError(m.t, m.db.QueryRow(context.Background(), `SELECT job_id FROM reports WHERE id = ?`, p.id).Scan(&p.job.id))
	}
}

func (m *reportMachine) count(w reportCall, v verdict, got answer) {
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

// twins makes two concurrent calls in either order.
func (m *reportMachine) twins() {
	d := m.anyTeam()
	one := m.anyCreate(d)
	other := one
	switch index(m.t, 4, "verb") {
	case 3:
		one = m.anySearch(d)
		other = one
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
	keys := []*teamKey{m.anyKey(d), m.anyKey(d)}
	if one.verb == "track" { // answers do not show whose key a switch counts against
		keys[1] = keys[0]
	}
	nodes := []reportNode{m.anyNode(), m.anyNode()}
	got := bothAsk(m.t, nodes, keys, []reportCall{one, other})
	fits := func(i int, w reportCall) bool { return d.judge(m.clock.Now(), keys[i], w).against(d, w, got[i]) == nil }
	first := 0
	// If either could have been refused, the refused one is second, because it changed nothing.
	if !fits(0, one) || !got[1].ok() && fits(1, other) {
		first = 1
	}
	wishes := []reportCall{one, other}
	m.handleAnswer(d, keys[first], wishes[first], got[first])
	m.handleAnswer(d, keys[1-first], wishes[1-first], got[1-first])
	m.counts["twins"]++
	m.after(d)
}

// bothAsk makes concurrent calls and repeats one that came while its key was in use.
func bothAsk(t fatal, nodes []reportNode, keys []*teamKey, wishes []reportCall) []answer {
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
		must.NoError(t, s.err)
		out[i] = s.answer
	}
	return out
}
