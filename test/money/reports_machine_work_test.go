package money

import (
	"context"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/teamtime"
)

// releaseOne releases the provider's response about one report, with a random ending.
func (m *reportMachine) releaseOne() {
	d := m.anyTeam()
	waiting := slices.DeleteFunc(slices.Concat(d.reports, d.keywords), func(p *reportState) bool { return len(d.openJobs(p)) == 0 })
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

// releaseAll releases all of the provider's responses.
func (m *reportMachine) releaseAll() { m.release(m.openJobs(), served) }

// releaseOverdue releases requests that have waited for ten seconds, because servers time out. If too many wait, it
// releases all, because a server makes only a few requests at a time.
func (m *reportMachine) releaseOverdue() {
	m.release(m.unfinishedJobs(func(e *reportJob) bool { return time.Since(e.started) > 10*time.Second }), served)
	if len(m.openJobs()) > maxWaiting {
		m.releaseAll()
	}
}

// openJobs returns the unfinished jobs of all teams.
func (m *reportMachine) openJobs() []*reportJob {
	return m.unfinishedJobs(func(*reportJob) bool { return true })
}

// unfinishedJobs returns the unfinished jobs that match.
func (m *reportMachine) unfinishedJobs(matches func(*reportJob) bool) []*reportJob {
	var out []*reportJob
	for _, d := range m.teams {
		for _, e := range d.openJobs(nil) {
			if matches(e) {
				out = append(out, e)
			}
		}
	}
	return out
}

// release makes the provider answer some jobs and all other jobs of their reports, and waits until these jobs have
// finished.
func (m *reportMachine) release(some []*reportJob, how ending) {
	all := m.unfinishedJobs(func(e *reportJob) bool {
		return slices.ContainsFunc(some, func(other *reportJob) bool { return other.report == e.report })
	})
	prompt, retried := map[*reportJob]ending{}, map[*reportJob]ending{}
	for _, e := range all {
		switch end := e.report.endingOf(how); {
		case end != resting:
			prompt[e] = end
		case how != resting || m.isNear(10*time.Second):
			prompt[e] = failing // nothing may become due during a retry
		default:
			retried[e] = resting
		}
	}
	m.finish(all, prompt)
	m.finish(all, retried)
	for _, d := range m.teams {
		d.removeExpired(m.clock.Now()) // retries have advanced the clock
	}
}

// isNear reports whether a midnight, a refresh or an expiry falls within the given time.
func (m *reportMachine) isNear(within time.Duration) bool {
	now := m.clock.Now()
	soon := func(at time.Time) bool { return at.After(now) && !at.After(now.Add(within)) }
	return slices.ContainsFunc(m.teams, func(d *teamState) bool {
		_, midnight := teamtime.Day(now, d.zone)
		return soon(midnight) || slices.ContainsFunc(d.reports, func(p *reportState) bool {
			return soon(p.nextRefresh) || soon(p.availableUntil)
		})
	})
}

// finish makes the provider answer the jobs in ends, and waits until they have finished.
func (m *reportMachine) finish(all []*reportJob, ends map[*reportJob]ending) {
	if len(ends) == 0 {
		return
	}
	all = slices.DeleteFunc(slices.Clone(all), func(e *reportJob) bool { return ends[e] == "" })
	ids := make([]any, len(all))
	for i, e := range all {
		ids[i] = e.id
		m.gate.answer(e.report.address(), ends[e])
	}
	left := int64(-1)
	if !poll(context.Background(), func() bool {
		left = m.queryInt(m.t, `SELECT COUNT(*) FROM jobs WHERE finished_at = 0 AND id IN (`+db.Placeholders(len(ids))+`)`, ids...)
		if left > 0 && ends[all[0]] == resting {
			m.wakeUp(ids)
		}
		return left == 0
	}) {
		m.t.Fatalf("%d of the jobs %v did not finish", left, ids)
	}
	for _, e := range all {
		m.gate.withhold(e.report.address())
		m.cancelMeasurements(e)
		e.team.finishJob(m.clock.Now(), e, ends[e])
		m.counts[e.purpose+" "+e.state]++
		m.t.Logf("%s to %s %#v: %s", e.id, e.purpose, e.report, e.state)
		m.mustHaveEnded(e)
	}
}

// wakeUp advances the clock by a second if one of the jobs waits for its retry.
func (m *reportMachine) wakeUp(ids []any) {
	now := m.clock.Now()
	if m.queryInt(m.t,
		`SELECT COUNT(*) FROM jobs WHERE state = 'running' AND owner = '' AND wake_at > ? AND wake_at <= ? AND id IN (`+
			db.Placeholders(len(ids))+`)`,
		append([]any{db.Micros(now), db.Micros(now.Add(time.Second))}, ids...)...) > 0 {
		m.clock.Advance(time.Second)
		m.counts["rests"]++
	}
}

// mustHaveEnded compares a finished job with the model.
func (m *reportMachine) mustHaveEnded(e *reportJob) {
	job := m.readJob(e)
	e.acceptUnpredictable(job)
	if !job.Finished || job.State != e.state || job.Error.Code != e.code || job.Result.Charged != e.cost() ||
		job.Result.Report.ID != e.report.id {
		m.t.Fatalf("job of %+v, purpose %s: %+v, want %s %s, charged %d", e.report, e.purpose, job, e.state, e.code, e.cost())
	}
}

// jobOfReport is the data of get_job for a job of a report or a search.
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
