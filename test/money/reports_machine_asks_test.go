package money

import (
	"context"
	"fmt"

	"pressroom/internal/testkit/must"

	"pgregory.net/rapid"
)

// subjects are what a team may ask for: profiles and hashtags that are there, and then some that are not.
var subjects = []wish{
	{kind: "profile", platform: "instagram", subject: "empty.a"},
	{kind: "profile", platform: "instagram", subject: "b"}, {kind: "profile", platform: "tiktok", subject: "empty.a"},
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
	return m.completeWish(d, pick(m.t, some, "subject"))
}

// completeWish returns a wish for a report on a subject.
func (m *pressMachine) completeWish(d *desk, w wish) wish {
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
	got := must.Get(m.anyNode().asks(key, w))(m.t)
	m.handleAnswer(d, key, w, got)
	m.after(d)
}

// before makes sure that what the call leads to can be told beforehand: a report whose time is over once it is not
// tracked any more is looked at by nobody while a job would bring it back.
func (m *pressMachine) before(d *desk, w wish) {
	d.forget(m.clock.Now())
	if p := d.about(w); p != nil && w.verb == "track" && !w.enabled && !m.clock.Now().Before(p.until) {
		m.release(d.openErrands(p), served)
	}
}

func (m *pressMachine) handleAnswer(d *desk, key *deskKey, w wish, got answer) {
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
	must.NoError(m.t, p.shows(got))
	if p.job != nil && p.job.id == "" {
		must.NoError(m.t, m.db.QueryRow(context.Background(), `SELECT job_id FROM reports WHERE id = ?`, p.id).Scan(&p.job.id))
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
	m.handleAnswer(d, keys[first], wishes[first], got[first])
	m.handleAnswer(d, keys[1-first], wishes[1-first], got[1-first])
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
		must.NoError(t, s.err)
		out[i] = s.answer
	}
	return out
}
