package money

import (
	"context"
	"fmt"

	"pressroom.example/pressroom/internal/testkit/must"

	"pgregory.net/rapid"
)

// subjects are the subjects of requested reports: first existing profiles and hashtags, then missing ones.
var subjects = []reportCall{
	{kind: "profile", platform: "instagram", subject: "empty.a"},
	{kind: "profile", platform: "instagram", subject: "b"}, {kind: "profile", platform: "tiktok", subject: "empty.a"},
	{kind: "hashtag", platform: "instagram", subject: "c"}, {kind: "hashtag", platform: "instagram", subject: "d"},
	{kind: "profile", platform: "instagram", subject: "missing.e"}, {kind: "profile", platform: "tiktok", subject: "private.f"},
	{kind: "profile", platform: "instagram", subject: "error.g"}, {kind: "hashtag", platform: "instagram", subject: "missingh"},
}

// existingSubjects is the number of existing subjects, which come first.
const existingSubjects = 5

// anyCreate draws a call that creates a report. Each team of each round has its own subjects, because the test releases
// the provider's answers by subject.
func (m *reportMachine) anyCreate(d *teamState) reportCall {
	choices := subjects
	if uniform(m.t, 3, "there") > 0 {
		choices = subjects[:existingSubjects]
	}
	return m.completeCall(d, pick(m.t, choices, "subject"))
}

// completeCall fills in the remaining arguments of a call that creates a report.
func (m *reportMachine) completeCall(d *teamState, w reportCall) reportCall {
	w.verb, w.idem, w.brief = "create", m.anyIdem(), rapid.Bool().Draw(m.t, "brief")
	w.subject = fmt.Sprintf("%s_%d_%d", w.subject, d.id, m.round)
	sign := map[string]string{"profile": "@", "hashtag": "#"}[w.kind]
	w.text = pick(m.t, []string{"", "", sign}, "sign") + w.subject
	return w
}

// anyReport draws the kind and ID of a report. Sometimes the report has expired or has another kind.
func (m *reportMachine) anyReport(d *teamState) (string, string, bool) {
	d.removeExpired(m.clock.Now())
	strange := uniform(m.t, 12, "strange")
	switch {
	case strange == 0 && len(d.expired) > 0:
		return "profile", pick(m.t, d.expired, "gone"), true
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
	w.enabled, w.days = uniform(m.t, 4, "on") > 0, pick(m.t, []int{3, 1, 7}, "days")
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
	if len(d.calls) == 0 {
		return
	}
	earlier := pick(m.t, d.calls, "earlier")
	if uniform(m.t, 3, "another") == 0 {
		earlier.call.brief = !earlier.call.brief
		m.send(d, m.anyKey(d), earlier.call)
		return
	}
	m.send(d, earlier.key, earlier.call)
}

// send makes a call and compares the answer with the model.
func (m *reportMachine) send(d *teamState, key *teamKey, w reportCall) {
	m.prepareCall(d, w)
	got := must.Get(m.anyNode().call(key, w))(m.t)
	m.handleAnswer(d, key, w, got)
	m.processDue(d)
}

// prepareCall makes the result of a call predictable. Jobs of an expired report would extend it, so they must finish
// before a call ends the report's tracking.
func (m *reportMachine) prepareCall(d *teamState, w reportCall) {
	d.removeExpired(m.clock.Now())
	if p := d.findReport(w); p != nil && w.verb == "track" && !w.enabled && !m.clock.Now().Before(p.availableUntil) {
		m.release(d.openJobs(p), served)
	}
}

func (m *reportMachine) handleAnswer(d *teamState, key *teamKey, w reportCall, got answer) {
	d.calls = append(d.calls, sentCall{key, w})
	now := m.clock.Now()
	v := d.expected(now, key, w)
	m.t.Logf("%v: %+v by key %d: %d %s", now, w, key.id, got.status, got.rejection())
	if err := v.check(d, w, got); err != nil {
		m.t.Fatalf("%+v by key %d: %v", w, key.id, err)
	}
	m.count(w, v, got)
	if v.first != nil || v.rejection != "" {
		return
	}
	p := d.accept(now, key, w, v, got)
	if w.verb != "track" {
		return
	}
	must.NoError(m.t, p.checkTracking(got))
	if p.job != nil && p.job.id == "" {
		must.NoError(m.t, m.db.QueryRow(context.Background(), `SELECT job_id FROM reports WHERE id = ?`, p.id).Scan(&p.job.id))
	}
}

func (m *reportMachine) count(w reportCall, v expectation, got answer) {
	what := w.verb
	switch {
	case v.first != nil:
		what += " again"
	case v.rejection != "":
		what = got.rejection()
	case v.price > 0:
		what += " paid"
	}
	m.counts[what]++
}

// callTwice makes two concurrent calls, which may take effect in either order.
func (m *reportMachine) callTwice() {
	d := m.anyTeam()
	one := m.anyCreate(d)
	other := one
	switch uniform(m.t, 4, "verb") {
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
	m.prepareCall(d, one)
	keys := []*teamKey{m.anyKey(d), m.anyKey(d)}
	if one.verb == "track" { // the answer does not show which key's limit includes the hold
		keys[1] = keys[0]
	}
	nodes := []reportNode{m.anyNode(), m.anyNode()}
	got := callBoth(m.t, nodes, keys, []reportCall{one, other})
	fits := func(i int, w reportCall) bool {
		return d.expected(m.clock.Now(), keys[i], w).check(d, w, got[i]) == nil
	}
	first := 0
	// If one call may be rejected, it is second, because a rejected call changes nothing.
	if !fits(0, one) || !got[1].isSuccess() && fits(1, other) {
		first = 1
	}
	calls := []reportCall{one, other}
	m.handleAnswer(d, keys[first], calls[first], got[first])
	m.handleAnswer(d, keys[1-first], calls[1-first], got[1-first])
	m.counts["twins"]++
	m.processDue(d)
}

// callBoth makes concurrent calls. It repeats a call while its Idempotency-Key is in use.
func callBoth(t fatal, nodes []reportNode, keys []*teamKey, calls []reportCall) []answer {
	t.Helper()
	type response struct {
		answer answer
		err    error
	}
	all := make([]chan response, len(calls))
	for i := range calls {
		all[i] = make(chan response, 1)
		go func() {
			a, err := nodes[i].call(keys[i], calls[i])
			for err == nil && a.rejection() == keyInProgress {
				a, err = nodes[i].call(keys[i], calls[i])
			}
			all[i] <- response{a, err}
		}()
	}
	out := make([]answer, len(calls))
	for i := range all {
		s := <-all[i]
		must.NoError(t, s.err)
		out[i] = s.answer
	}
	return out
}
