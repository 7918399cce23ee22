package money

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pressroom/internal/core/plan"
	"pressroom/internal/domain/idempotency"
	"pressroom/internal/teamtime"
)

// teamState is the expected state of a team's credits and reports.
type teamState struct {
	id      int64
	zone    *time.Location
	keys    []*teamKey
	limit   int64 // of the team's keys, a day; -1 for none
	balance int64
	plan    string
	paused  bool // spending is
	outage  bool // the source is out of order
	tolls   []*modelCharge
	holds   []*hold
	reports []*reportState
	hunts   []*reportState // keywords that hashtags were searched for by
	gone    []string       // IDs of reports whose time is over
	jobs    []*reportJob
	free    map[string]int64 // free calls that were used, by day
	wishes  []sentCall
}

// GoString returns the description for a counterexample.
func (d *teamState) GoString() string {
	return fmt.Sprint("team ", d.id, " in ", d.zone, " with ", d.balance)
}

type teamKey struct {
	id    int64
	value string
	limit int64
	kept  map[string]*keptAnswer // by Idempotency-Key and request
	spent map[string]bool        // what paid, likewise
}

// GoString returns the description for a counterexample.
func (k *teamKey) GoString() string { return fmt.Sprint("key ", k.id) }

type keptAnswer struct {
	at     time.Time
	answer answer
}

func (k *keptAnswer) isValid(now time.Time) bool {
	return k != nil && now.Before(k.at.Add(idempotency.Retention))
}

// modelCharge is the reservation of one call or automatic refresh, and the amount charged.
type modelCharge struct {
	key     *teamKey // nil for an automatic refresh
	amount  int64
	charged int64
	open    bool
	at      time.Time
}

// hold is an amount that tracking counts against the daily limits without charging it.
type hold struct {
	key    *teamKey
	report *reportState
	amount int64
	at     time.Time
}

// reportState is the expected state of a report.
type reportState struct {
	kind, platform, subject, id string
	status                      string
	job, made                   *reportJob // the one that began last, and the one that made it
	refreshed, until            time.Time
	tracked                     bool
	days                        int
	next                        time.Time
	asked                       time.Time // time of the last request for a refresh
	paidUntil                   time.Time // of a keyword: free until then
	known                       bool      // of a keyword: its figures are stored
}

// GoString returns the description for a counterexample.
func (p *reportState) GoString() string { return p.address() }

// address returns the argument of the request to the source.
func (p *reportState) address() string {
	if p.kind == keyword {
		return p.platform + "/hashtags/" + p.subject
	}
	return p.platform + "/" + p.kind + "s/" + p.subject
}

// reportJob is a job of a report, or a search.
type reportJob struct {
	team        *teamState
	id, purpose string
	report      *reportState
	charge      *modelCharge
	place       bool // it takes one of the team's
	finished    bool
	state, code string
	moves       int       // how often the clock moved on since it began
	real        time.Time // when it began, by the real clock
}

const (
	making     = "make"
	refreshing = "refresh"
	automatic  = "automatic"
	searching  = "search"
	nothing    = "nothing" // it returned an existing report or stored results
)

func (e *reportJob) running() bool { return e != nil && !e.finished }

// cost returns the amount charged or reserved.
func (e *reportJob) cost() int64 {
	if e.charge == nil {
		return 0
	}
	return e.charge.charged
}

func (p *reportState) there(now time.Time) bool {
	return p.status == "ready" && (p.tracked || now.Before(p.until))
}

// isHidden reports whether the report has expired.
func (p *reportState) isHidden(now time.Time) bool {
	return !p.until.IsZero() && !now.Before(p.until) && !p.tracked
}

var prices = plan.Default().Prices

func (p *reportState) makingCosts() int64 {
	if p.kind == "hashtag" {
		return prices.HashtagReport
	}
	return prices.ProfileReport
}

func (p *reportState) refreshCosts() int64 {
	if p.kind == "hashtag" {
		return prices.HashtagRefresh
	}
	return prices.ProfileRefresh
}

func (d *teamState) day(at time.Time) string { return at.In(d.zone).Format(time.DateOnly) }

// midnight returns the seconds until the daily limits reset.
func (d *teamState) midnight(now time.Time) int64 {
	_, ends := teamtime.Day(now, d.zone)
	return seconds(ends.Sub(now))
}

func seconds(wait time.Duration) int64 { return int64((wait + time.Second - 1) / time.Second) }

// figures returns the expected get_credits for a key.
func (d *teamState) figures(now time.Time, key *teamKey) figures {
	f := figures{balance: d.balance}
	for _, c := range d.tolls {
		switch {
		case d.day(c.at) != d.day(now):
		case c.open:
			f.reservedTeam += c.charged
			if c.key == key {
				f.reservedKey += c.charged
			}
		default:
			f.usedTeam += c.charged
			if c.key != nil {
				f.usedKeys += c.charged
			}
		}
	}
	for _, h := range d.holds {
		if d.day(h.at) != d.day(now) {
			continue
		}
		f.reservedTeam += h.amount
		if h.key == key {
			f.reservedKey += h.amount
		}
	}
	return f
}

// usage returns the credits that count against the key's limit and the team's limit. Automatic refreshes are excluded.
func (d *teamState) usage(now time.Time, key *teamKey) (int64, int64) {
	var ofKey, ofTeam int64
	count := func(by *teamKey, at time.Time, credits int64) {
		if by == nil || d.day(at) != d.day(now) {
			return
		}
		ofTeam += credits
		if by == key {
			ofKey += credits
		}
	}
	for _, c := range d.tolls {
		count(c.key, c.at, c.charged)
	}
	for _, h := range d.holds {
		count(h.key, h.at, h.amount)
	}
	return ofKey, ofTeam
}

// crosses returns the daily limit that an amount exceeds, or "".
func (d *teamState) crosses(now time.Time, key *teamKey, amount int64) string {
	ofKey, ofTeam := d.usage(now, key)
	switch {
	case key.limit >= 0 && ofKey+amount > key.limit:
		return "429 daily_credit_limit_reached connection"
	case d.limit >= 0 && ofTeam+amount > d.limit:
		return "429 daily_credit_limit_reached team"
	}
	return ""
}

func (d *teamState) countTracked() int {
	n := 0
	for _, p := range d.reports {
		if p.tracked {
			n++
		}
	}
	return n
}

// forget removes expired reports.
func (d *teamState) forget(now time.Time) {
	d.reports = slices.DeleteFunc(d.reports, func(p *reportState) bool {
		if p.isHidden(now) {
			d.gone = append(d.gone, p.id)
		}
		return p.isHidden(now)
	})
}

func (d *teamState) about(w reportCall) *reportState {
	for _, p := range d.reports {
		if w.verb == "create" && p.kind == w.kind && p.platform == w.platform && p.subject == w.subject ||
			w.verb != "create" && p.kind == w.kind && p.id == w.id {
			return p
		}
	}
	return nil
}

// openJobs returns the unfinished jobs of a report.
func (d *teamState) openJobs(p *reportState) []*reportJob {
	var out []*reportJob
	for _, e := range d.jobs {
		if e.running() && (p == nil || e.report == p) {
			out = append(out, e)
		}
	}
	return out
}

func (d *teamState) release(p *reportState) {
	d.holds = slices.DeleteFunc(d.holds, func(h *hold) bool { return h.report == p })
}

func (d *teamState) pay(now time.Time, key *teamKey, amount int64) *modelCharge {
	c := &modelCharge{key: key, amount: amount, charged: amount, open: true, at: now}
	d.balance -= amount
	d.tolls = append(d.tolls, c)
	return c
}

func (d *teamState) begin(p *reportState, id, purpose string, c *modelCharge) *reportJob {
	e := &reportJob{
		team: d, id: id, purpose: purpose, report: p, charge: c,
		place: purpose == making || purpose == refreshing || purpose == searching, state: "pending", real: time.Now(),
	}
	d.jobs = append(d.jobs, e)
	p.job = e
	return e
}

// settle ends a reservation: all of it is charged, or nothing.
func (d *teamState) settle(now time.Time, c *modelCharge, charged int64) {
	c.open, c.charged = false, charged
	d.balance += c.amount - charged
	if charged == 0 && c.key != nil {
		d.free[d.day(now)]++
	}
}

// end updates the model after the source answered a job's request.
func (d *teamState) end(now time.Time, e *reportJob, how ending) {
	p := e.report
	e.finished = true
	if p.kind == keyword {
		d.endSearch(now, e, p.natural(how))
		return
	}
	if how = p.natural(how); how == served {
		e.state, p.status, p.refreshed, p.until = "succeeded", "ready", now, now.Add(reportsKept)
		d.settle(now, e.charge, e.charge.amount)
		return
	}
	e.state, e.code = "failed", p.code(how)
	if e.purpose == making && p.status == "pending" {
		p.status = "error"
	}
	if e.purpose == refreshing {
		p.asked = time.Time{}
	}
	d.settle(now, e.charge, 0)
}

// natural returns how a released request ends. The prefix of a subject's name can override the default ending.
func (p *reportState) natural(how ending) ending {
	for prefix, end := range map[string]ending{"missing": missing, "private.": private, "error": resting} {
		if how == served && strings.HasPrefix(p.subject, prefix) {
			return end
		}
	}
	return how
}

// code returns the error code of a job that failed this way.
func (p *reportState) code(how ending) string {
	switch {
	case how == missing && p.kind == "hashtag":
		return "nothing_found"
	case how == missing:
		return "profile_not_found"
	case how == private:
		return "profile_private"
	}
	return "source_unavailable"
}
