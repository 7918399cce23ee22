package money

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/idempotency"
	"pressroom.example/pressroom/internal/teamtime"
)

// teamState is the expected state of a team's credits and reports.
type teamState struct {
	id       int64
	zone     *time.Location
	keys     []*teamKey
	limit    int64 // daily limit of all keys; -1 means unlimited
	balance  int64
	plan     string
	paused   bool // spending is paused
	outage   bool // the provider's health check fails
	charges  []*modelCharge
	holds    []*hold
	reports  []*reportState
	keywords []*reportState // searched keywords
	expired  []string       // IDs of expired reports
	jobs     []*reportJob
	usedFree map[string]int64 // used free calls by day
	calls    []sentCall
}

// GoString describes the value in a counterexample of rapid.
func (d *teamState) GoString() string {
	return fmt.Sprint("team ", d.id, " in ", d.zone, " with ", d.balance)
}

type teamKey struct {
	id      int64
	value   string
	limit   int64
	answers map[string]*storedAnswer // stored answers by claim
	spent   map[string]bool          // claims that were charged
}

// GoString describes the value in a counterexample of rapid.
func (k *teamKey) GoString() string { return fmt.Sprint("key ", k.id) }

// storedAnswer is a stored answer, which a repeat replays.
type storedAnswer struct {
	at     time.Time
	answer answer
}

func (k *storedAnswer) isValid(now time.Time) bool {
	return k != nil && now.Before(k.at.Add(idempotency.Retention))
}

// modelCharge is the reservation of one call or automatic refresh, and the amount charged.
type modelCharge struct {
	key     *teamKey // nil for an automatic refresh
	amount  int64
	charged int64
	isOpen  bool
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
	job, creation               *reportJob // the latest job, and the job that created the report
	refreshed, availableUntil   time.Time
	tracked                     bool
	days                        int
	nextRefresh                 time.Time
	refreshRequested            time.Time // time of the last request for a refresh
	paidUntil                   time.Time // only for a keyword: searches are free until then
	hasMetrics                  bool      // only for a keyword: its metrics are stored
}

// GoString describes the value in a counterexample of rapid.
func (p *reportState) GoString() string { return p.address() }

// address returns the path of the request to the provider.
func (p *reportState) address() string {
	if p.kind == keyword {
		return p.platform + "/hashtags/" + p.subject
	}
	return p.platform + "/" + p.kind + "s/" + p.subject
}

// reportJob is a job that creates or refreshes a report, or searches.
type reportJob struct {
	team        *teamState
	id, purpose string
	report      *reportState
	charge      *modelCharge
	takesSlot   bool // counts against the limit of concurrent jobs
	finished    bool
	state, code string
	clockMoves  int       // how often the clock has advanced since the job began
	started     time.Time // start by the real clock
}

const (
	purposeCreate    = "make"
	purposeRefresh   = "refresh"
	purposeAutomatic = "automatic"
	purposeSearch    = "search"
	purposeNone      = "nothing" // a finished job that returns an existing report or stored results
)

func (e *reportJob) isRunning() bool { return e != nil && !e.finished }

// cost returns the credits charged or reserved.
func (e *reportJob) cost() int64 {
	if e.charge == nil {
		return 0
	}
	return e.charge.charged
}

// isReady reports whether the report is ready and has not expired.
func (p *reportState) isReady(now time.Time) bool {
	return p.status == "ready" && (p.tracked || now.Before(p.availableUntil))
}

// isHidden reports whether the report has expired.
func (p *reportState) isHidden(now time.Time) bool {
	return !p.availableUntil.IsZero() && !now.Before(p.availableUntil) && !p.tracked
}

var prices = plan.Default().Prices

func (p *reportState) createPrice() int64 {
	if p.kind == "hashtag" {
		return prices.HashtagReport
	}
	return prices.ProfileReport
}

func (p *reportState) refreshPrice() int64 {
	if p.kind == "hashtag" {
		return prices.HashtagRefresh
	}
	return prices.ProfileRefresh
}

func (d *teamState) day(at time.Time) string { return at.In(d.zone).Format(time.DateOnly) }

// secondsToMidnight returns the seconds until the daily limits reset.
func (d *teamState) secondsToMidnight(now time.Time) int64 {
	_, ends := teamtime.Day(now, d.zone)
	return seconds(ends.Sub(now))
}

func seconds(wait time.Duration) int64 { return int64((wait + time.Second - 1) / time.Second) }

// counts returns the expected counts of get_credits for a key.
func (d *teamState) counts(now time.Time, key *teamKey) creditCounts {
	f := creditCounts{balance: d.balance}
	for _, c := range d.charges {
		switch {
		case d.day(c.at) != d.day(now):
		case c.isOpen:
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

// usage returns the day's credits that count against the limits of the key and of the team. Automatic refreshes do
// not count.
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
	for _, c := range d.charges {
		count(c.key, c.at, c.charged)
	}
	for _, h := range d.holds {
		count(h.key, h.at, h.amount)
	}
	return ofKey, ofTeam
}

// exceededLimit returns the rejection of the daily limit that amount exceeds, or "".
func (d *teamState) exceededLimit(now time.Time, key *teamKey, amount int64) string {
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

// removeExpired removes expired reports.
func (d *teamState) removeExpired(now time.Time) {
	d.reports = slices.DeleteFunc(d.reports, func(p *reportState) bool {
		if p.isHidden(now) {
			d.expired = append(d.expired, p.id)
		}
		return p.isHidden(now)
	})
}

// findReport returns the report that a call refers to, or nil.
func (d *teamState) findReport(w reportCall) *reportState {
	for _, p := range d.reports {
		if w.verb == "create" && p.kind == w.kind && p.platform == w.platform && p.subject == w.subject ||
			w.verb != "create" && p.kind == w.kind && p.id == w.id {
			return p
		}
	}
	return nil
}

// openJobs returns the unfinished jobs of a report, or of all reports if p is nil.
func (d *teamState) openJobs(p *reportState) []*reportJob {
	var out []*reportJob
	for _, e := range d.jobs {
		if e.isRunning() && (p == nil || e.report == p) {
			out = append(out, e)
		}
	}
	return out
}

// releaseHolds removes the holds of a report.
func (d *teamState) releaseHolds(p *reportState) {
	d.holds = slices.DeleteFunc(d.holds, func(h *hold) bool { return h.report == p })
}

func (d *teamState) reserve(now time.Time, key *teamKey, amount int64) *modelCharge {
	c := &modelCharge{key: key, amount: amount, charged: amount, isOpen: true, at: now}
	d.balance -= amount
	d.charges = append(d.charges, c)
	return c
}

func (d *teamState) startJob(p *reportState, id, purpose string, c *modelCharge) *reportJob {
	e := &reportJob{
		team: d, id: id, purpose: purpose, report: p, charge: c,
		takesSlot: purpose == purposeCreate || purpose == purposeRefresh || purpose == purposeSearch, state: "pending", started: time.Now(),
	}
	d.jobs = append(d.jobs, e)
	p.job = e
	return e
}

// settle ends a reservation and charges the given amount of it.
func (d *teamState) settle(now time.Time, c *modelCharge, charged int64) {
	c.isOpen, c.charged = false, charged
	d.balance += c.amount - charged
	if charged == 0 && c.key != nil {
		d.usedFree[d.day(now)]++
	}
}

// finishJob updates the model after the provider has answered a job's request.
func (d *teamState) finishJob(now time.Time, e *reportJob, how ending) {
	p := e.report
	e.finished = true
	if p.kind == keyword {
		d.endSearch(now, e, p.endingOf(how))
		return
	}
	if how = p.endingOf(how); how == served {
		e.state, p.status, p.refreshed, p.availableUntil = "succeeded", "ready", now, now.Add(retention)
		d.settle(now, e.charge, e.charge.amount)
		return
	}
	e.state, e.code = "failed", p.errorCode(how)
	if e.purpose == purposeCreate && p.status == "pending" {
		p.status = "error"
	}
	if e.purpose == purposeRefresh {
		p.refreshRequested = time.Time{}
	}
	d.settle(now, e.charge, 0)
}

// endingOf returns the actual ending of a request. The prefix of the subject overrides the ending "served".
func (p *reportState) endingOf(how ending) ending {
	for prefix, end := range map[string]ending{"missing": missing, "private.": private, "error": resting} {
		if how == served && strings.HasPrefix(p.subject, prefix) {
			return end
		}
	}
	return how
}

// errorCode returns the error code of a job that failed with an ending.
func (p *reportState) errorCode(how ending) string {
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
