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

// desk is what a team's money and reports should be, in memory.
type desk struct {
	id      int64
	zone    *time.Location
	keys    []*deskKey
	limit   int64 // of the team's keys, a day; -1 for none
	balance int64
	plan    string
	paused  bool // spending is
	outage  bool // the source is out of order
	tolls   []*toll
	holds   []*hold
	papers  []*paper
	hunts   []*paper // keywords that hashtags were searched for by
	gone    []string // IDs of reports whose time is over
	errands []*errand
	free    map[string]int64 // free calls that were used, by day
	wishes  []wished
}

// GoString returns the description for a counterexample.
func (d *desk) GoString() string {
	return fmt.Sprint("team ", d.id, " in ", d.zone, " with ", d.balance)
}

type deskKey struct {
	id    int64
	value string
	limit int64
	kept  map[string]*keptAnswer // by Idempotency-Key and request
	spent map[string]bool        // what paid, likewise
}

// GoString returns the description for a counterexample.
func (k *deskKey) GoString() string { return fmt.Sprint("key ", k.id) }

type keptAnswer struct {
	at     time.Time
	answer answer
}

func (k *keptAnswer) isValid(now time.Time) bool {
	return k != nil && now.Before(k.at.Add(idempotency.Retention))
}

// toll is what one call or automatic refresh set aside, and what of it was charged.
type toll struct {
	key     *deskKey // nil of an automatic one
	amount  int64
	charged int64
	open    bool
	at      time.Time
}

// hold is what tracking counts against the day's limits.
type hold struct {
	key    *deskKey
	paper  *paper
	amount int64
	at     time.Time
}

// paper is a report.
type paper struct {
	kind, platform, subject, id string
	status                      string
	job, made                   *errand // the one that began last, and the one that made it
	refreshed, until            time.Time
	tracked                     bool
	days                        int
	next                        time.Time
	asked                       time.Time // when a refresh was asked for last
	paidUntil                   time.Time // of a keyword: until then it costs nothing
	known                       bool      // of a keyword: its figures were told once
}

// GoString returns the description for a counterexample.
func (p *paper) GoString() string { return p.address() }

// address returns what the source is asked for.
func (p *paper) address() string {
	if p.kind == keyword {
		return p.platform + "/hashtags/" + p.subject
	}
	return p.platform + "/" + p.kind + "s/" + p.subject
}

// errand is a job of a report, or a search.
type errand struct {
	desk        *desk
	id, purpose string
	paper       *paper
	toll        *toll
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
	nothing    = "nothing" // it named a report that was there, or gave what was found before
)

func (e *errand) running() bool { return e != nil && !e.finished }

// cost returns what the errand was charged, or has set aside.
func (e *errand) cost() int64 {
	if e.toll == nil {
		return 0
	}
	return e.toll.charged
}

func (p *paper) there(now time.Time) bool {
	return p.status == "ready" && (p.tracked || now.Before(p.until))
}

// isHidden reports whether nobody finds the report any more.
func (p *paper) isHidden(now time.Time) bool {
	return !p.until.IsZero() && !now.Before(p.until) && !p.tracked
}

var prices = plan.Default().Prices

func (p *paper) makingCosts() int64 {
	if p.kind == "hashtag" {
		return prices.HashtagReport
	}
	return prices.ProfileReport
}

func (p *paper) refreshCosts() int64 {
	if p.kind == "hashtag" {
		return prices.HashtagRefresh
	}
	return prices.ProfileRefresh
}

func (d *desk) day(at time.Time) string { return at.In(d.zone).Format(time.DateOnly) }

// midnight returns for how long a limit of the day sends away, in seconds.
func (d *desk) midnight(now time.Time) int64 {
	_, ends := teamtime.Day(now, d.zone)
	return seconds(ends.Sub(now))
}

func seconds(wait time.Duration) int64 { return int64((wait + time.Second - 1) / time.Second) }

// figures returns what get_credits should tell a key.
func (d *desk) figures(now time.Time, key *deskKey) figures {
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

// usage returns what counts against the limits of a key, and of all keys: what automatic refreshes cost does not.
func (d *desk) usage(now time.Time, key *deskKey) (int64, int64) {
	var ofKey, ofTeam int64
	count := func(by *deskKey, at time.Time, credits int64) {
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

// crosses returns how the limits of the day refuse an amount; empty where they do not.
func (d *desk) crosses(now time.Time, key *deskKey, amount int64) string {
	ofKey, ofTeam := d.usage(now, key)
	switch {
	case key.limit >= 0 && ofKey+amount > key.limit:
		return "429 daily_credit_limit_reached connection"
	case d.limit >= 0 && ofTeam+amount > d.limit:
		return "429 daily_credit_limit_reached team"
	}
	return ""
}

func (d *desk) countTracked() int {
	n := 0
	for _, p := range d.papers {
		if p.tracked {
			n++
		}
	}
	return n
}

// forget lets go of reports whose time is over.
func (d *desk) forget(now time.Time) {
	d.papers = slices.DeleteFunc(d.papers, func(p *paper) bool {
		if p.isHidden(now) {
			d.gone = append(d.gone, p.id)
		}
		return p.isHidden(now)
	})
}

func (d *desk) about(w wish) *paper {
	for _, p := range d.papers {
		if w.verb == "create" && p.kind == w.kind && p.platform == w.platform && p.subject == w.subject ||
			w.verb != "create" && p.kind == w.kind && p.id == w.id {
			return p
		}
	}
	return nil
}

// openErrands returns the errands of a report that go on.
func (d *desk) openErrands(p *paper) []*errand {
	var out []*errand
	for _, e := range d.errands {
		if e.running() && (p == nil || e.paper == p) {
			out = append(out, e)
		}
	}
	return out
}

func (d *desk) release(p *paper) {
	d.holds = slices.DeleteFunc(d.holds, func(h *hold) bool { return h.paper == p })
}

func (d *desk) pay(now time.Time, key *deskKey, amount int64) *toll {
	c := &toll{key: key, amount: amount, charged: amount, open: true, at: now}
	d.balance -= amount
	d.tolls = append(d.tolls, c)
	return c
}

func (d *desk) begin(p *paper, id, purpose string, c *toll) *errand {
	e := &errand{
		desk: d, id: id, purpose: purpose, paper: p, toll: c,
		place: purpose == making || purpose == refreshing || purpose == searching, state: "pending", real: time.Now(),
	}
	d.errands = append(d.errands, e)
	p.job = e
	return e
}

// settle ends a toll: all of it is charged, or nothing.
func (d *desk) settle(now time.Time, c *toll, charged int64) {
	c.open, c.charged = false, charged
	d.balance += c.amount - charged
	if charged == 0 && c.key != nil {
		d.free[d.day(now)]++
	}
}

// end ends an errand as the source ended it.
func (d *desk) end(now time.Time, e *errand, how ending) {
	p := e.paper
	e.finished = true
	if p.kind == keyword {
		d.endSearch(now, e, p.natural(how))
		return
	}
	if how = p.natural(how); how == served {
		e.state, p.status, p.refreshed, p.until = "succeeded", "ready", now, now.Add(reportsKept)
		d.settle(now, e.toll, e.toll.amount)
		return
	}
	e.state, e.code = "failed", p.code(how)
	if e.purpose == making && p.status == "pending" {
		p.status = "error"
	}
	if e.purpose == refreshing {
		p.asked = time.Time{}
	}
	d.settle(now, e.toll, 0)
}

// natural returns how a question ends that is served: some names ask for their end.
func (p *paper) natural(how ending) ending {
	for prefix, end := range map[string]ending{"missing": missing, "private.": private, "error": resting} {
		if how == served && strings.HasPrefix(p.subject, prefix) {
			return end
		}
	}
	return how
}

// code returns what a job says that failed so.
func (p *paper) code(how ending) string {
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
