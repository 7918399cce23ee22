package money

import (
	"context"
	"slices"
	"time"

	"pressroom/internal/platform/db"
	"pressroom/internal/teamtime"
)

// letGo lets the source answer about one report, in some way.
func (m *reportMachine) letGo() {
	d := m.anyTeam()
	waiting := slices.DeleteFunc(slices.Concat(d.reports, d.hunts), func(p *reportState) bool { return len(d.openJobs(p)) == 0 })
	if len(waiting) == 0 {
		return
	}
	p := pick(m.t, waiting, "waiting")
	ends := []ending{served, served, served, served, missing, failing, failing, resting}
	if p.kind == "profile" {
		ends[5] = private
	}
	m.release(d.openJobs(p), pick(m.t, ends, "end"))
}

// letAllGo releases all answers of the source.
func (m *reportMachine) letAllGo() { m.release(m.openJobs(), served) }

// letSomeGo releases requests that have waited for long, because nodes wait for a limited time, and others when few
// more can wait: a node requests a few reports at a time.
func (m *reportMachine) letSomeGo() {
	m.release(m.those(func(e *reportJob) bool { return time.Since(e.real) > 10*time.Second }), served)
	if len(m.openJobs()) > mayWait {
		m.letAllGo()
	}
}

// openJobs returns the unfinished jobs of all teams.
func (m *reportMachine) openJobs() []*reportJob {
	return m.those(func(*reportJob) bool { return true })
}

func (m *reportMachine) those(wanted func(*reportJob) bool) []*reportJob {
	var out []*reportJob
	for _, d := range m.teams {
		for _, e := range d.openJobs(nil) {
			if wanted(e) {
				out = append(out, e)
			}
		}
	}
	return out
}

// release lets the source answer some reportJobs, and the others that wait for the same answer, and waits until they have
// ended.
func (m *reportMachine) release(some []*reportJob, how ending) {
	all := m.those(func(e *reportJob) bool {
		return slices.ContainsFunc(some, func(other *reportJob) bool { return other.report == e.report })
	})
	prompt, restless := map[*reportJob]ending{}, map[*reportJob]ending{}
	for _, e := range all {
		switch end := e.report.natural(how); {
		case end != resting:
			prompt[e] = end
		case how != resting || m.near(10*time.Second):
			prompt[e] = failing // a pause takes time, during which nothing else may happen
		default:
			restless[e] = resting
		}
	}
	m.finish(all, prompt)
	m.finish(all, restless)
	for _, d := range m.teams {
		d.forget(m.clock.Now()) // rests take time, and more of it where the machine is busy
	}
}

// near reports whether something happens automatically within some time.
func (m *reportMachine) near(within time.Duration) bool {
	now := m.clock.Now()
	soon := func(at time.Time) bool { return at.After(now) && !at.After(now.Add(within)) }
	return slices.ContainsFunc(m.teams, func(d *teamState) bool {
		_, midnight := teamtime.Day(now, d.zone)
		return soon(midnight) || slices.ContainsFunc(d.reports, func(p *reportState) bool { return soon(p.next) || soon(p.until) })
	})
}

// finish lets some of all the reportJobs end.
func (m *reportMachine) finish(all []*reportJob, ends map[*reportJob]ending) {
	if len(ends) == 0 {
		return
	}
	all = slices.DeleteFunc(slices.Clone(all), func(e *reportJob) bool { return ends[e] == "" })
	ids := make([]any, len(all))
	for i, e := range all {
		ids[i] = e.id
		m.source.let(e.report.address(), ends[e])
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
		m.source.shut(e.report.address())
		m.want(e)
		e.team.end(m.clock.Now(), e, ends[e])
		m.counts[e.purpose+" "+e.state]++
		m.t.Logf("%s to %s %#v: %s", e.id, e.purpose, e.report, e.state)
		m.mustHaveEnded(e)
	}
}

// wakeUp sets the clock on a second where some of the work rests for one.
func (m *reportMachine) wakeUp(ids []any) {
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
func (m *reportMachine) mustHaveEnded(e *reportJob) {
	job := m.jobOf(e)
	e.takes(job)
	if !job.Finished || job.State != e.state || job.Error.Code != e.code || job.Result.Charged != e.cost() ||
		job.Result.Report.ID != e.report.id {
		m.t.Fatalf("the job of %+v, to %s, ended as %+v instead of %s %s charged %d", e.report, e.purpose, job, e.state, e.code, e.cost())
	}
}

// jobOfReport is the result of get_job for such a job.
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
