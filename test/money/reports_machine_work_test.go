package money

import (
	"context"
	"slices"
	"time"

	"pressroom/internal/platform/db"
	"pressroom/internal/teamtime"
)

// letGo lets the source answer about one report, in some way.
func (m *pressMachine) letGo() {
	d := m.anyDesk()
	waiting := slices.DeleteFunc(slices.Concat(d.papers, d.hunts), func(p *paper) bool { return len(d.openErrands(p)) == 0 })
	if len(waiting) == 0 {
		return
	}
	p := pick(m.t, waiting, "waiting")
	ends := []ending{served, served, served, served, missing, failing, failing, resting}
	if p.kind == "profile" {
		ends[5] = private
	}
	m.release(d.openErrands(p), pick(m.t, ends, "end"))
}

// letAllGo lets the source answer about everything.
func (m *pressMachine) letAllGo() { m.release(m.openErrands(), served) }

// letSomeGo lets go of what has waited for long in earnest, as nobody waits for a source without end, and of the rest
// where little more can wait: a node asks for a few reports at a time.
func (m *pressMachine) letSomeGo() {
	m.release(m.those(func(e *errand) bool { return time.Since(e.real) > 10*time.Second }), served)
	if len(m.openErrands()) > mayWait {
		m.letAllGo()
	}
}

// openErrands returns the errands of all teams that go on.
func (m *pressMachine) openErrands() []*errand { return m.those(func(*errand) bool { return true }) }

func (m *pressMachine) those(wanted func(*errand) bool) []*errand {
	var out []*errand
	for _, d := range m.desks {
		for _, e := range d.openErrands(nil) {
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
	for _, d := range m.desks {
		d.forget(m.clock.Now()) // rests take time, and more of it where the machine is busy
	}
}

// near reports whether something comes about by itself within some time.
func (m *pressMachine) near(within time.Duration) bool {
	now := m.clock.Now()
	soon := func(at time.Time) bool { return at.After(now) && !at.After(now.Add(within)) }
	return slices.ContainsFunc(m.desks, func(d *desk) bool {
		_, midnight := teamtime.Day(now, d.zone)
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
		left = m.number(m.t, `SELECT COUNT(*) FROM jobs WHERE finished_at = 0 AND id IN (`+db.Placeholders(len(ids))+`)`, ids...)
		if left > 0 && ends[all[0]] == resting {
			m.wakeUp(ids)
		}
		return left == 0
	}) {
		m.t.Fatalf("%d of the jobs %v do not end", left, ids)
	}
	for _, e := range all {
		m.source.shut(e.paper.address())
		m.want(e)
		e.desk.end(m.clock.Now(), e, ends[e])
		m.counts[e.purpose+" "+e.state]++
		m.t.Logf("%s to %s %#v: %s", e.id, e.purpose, e.paper, e.state)
		m.mustHaveEnded(e)
	}
}

// wakeUp sets the clock on a second where some of the work rests for one.
func (m *pressMachine) wakeUp(ids []any) {
	now := m.clock.Now()
	if m.number(m.t,
		`SELECT COUNT(*) FROM jobs WHERE state = 'running' AND owner = '' AND wake_at > ? AND wake_at <= ? AND id IN (`+
			db.Placeholders(len(ids))+`)`,
		append([]any{db.Micros(now), db.Micros(now.Add(time.Second))}, ids...)...) > 0 {
		m.clock.Advance(time.Second)
		m.counts["rests"]++
	}
}

// mustHaveEnded holds a job that has ended against the model.
func (m *pressMachine) mustHaveEnded(e *errand) {
	job := m.jobOf(e)
	e.takes(job)
	if !job.Finished || job.State != e.state || job.Error.Code != e.code || job.Result.Charged != e.cost() ||
		job.Result.Report.ID != e.paper.id {
		m.t.Fatalf("the job of %+v, to %s, ended as %+v instead of %s %s charged %d", e.paper, e.purpose, job, e.state, e.code, e.cost())
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
