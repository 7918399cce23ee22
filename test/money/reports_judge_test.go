package money

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strings"
	"time"
)

// verdict is how a call should end.
type verdict struct {
	first   *keptAnswer // it repeats the call that was answered so
	refusal string
	wait    int64      // seconds for which a refusal sends away
	price   int64      // credits
	late    bool       // the work itself refuses, once the money does not
	job     *reportJob // the named job; nil: a new one or none
	book    func(a answer, c *modelCharge) *reportState
}

func refuseWith(with string) verdict { return verdict{refusal: with} }

// judge returns how a call should end now.
func (d *teamState) judge(now time.Time, key *teamKey, w reportCall) verdict {
	d.forget(now)
	if d.paused {
		return refuseWith("403 connection_suspended")
	}
	if first := key.kept[w.claim()]; first.isValid(now) {
		return verdict{first: first}
	}
	if key.spent[w.claim()] {
		return refuseWith("422 idempotency_key_reused charge_key_spent")
	}
	var v verdict
	switch w.verb {
	case "create":
		v = d.judgeCreate(now, w)
	case "search":
		v = d.judgeSearch(now, w)
	case "refresh":
		v = d.judgeRefresh(now, w)
	default:
		v = d.judgeTrack(now, key, w)
	}
	if v.refusal != "" && !v.late || v.price == 0 {
		return v
	}
	switch crosses := d.crosses(now, key, v.price); {
	case crosses != "":
		return verdict{refusal: crosses, wait: d.midnight(now)}
	case v.price > d.balance:
		return refuseWith("402 insufficient_credits")
	}
	return v
}

// takePlace returns a verdict on work that takes one of the team's places.
func (d *teamState) takePlace(v verdict) verdict {
	taken := 0
	for _, e := range d.openJobs(nil) {
		if e.place {
			taken++
		}
	}
	if taken >= placesForJobs {
		v.refusal, v.wait, v.late = "429 rate_limited jobs_in_flight", 5, true
	}
	return v
}

func (d *teamState) judgeCreate(now time.Time, w reportCall) verdict {
	p := d.about(w)
	switch {
	case p != nil && p.there(now) && p.made.state == "succeeded":
		return verdict{job: p.made, book: func(answer, *modelCharge) *reportState { return p }}
	case p != nil && p.there(now):
		return verdict{book: func(a answer, _ *modelCharge) *reportState {
			p.made = &reportJob{team: d, id: a.job(), purpose: nothing, report: p, finished: true, state: "succeeded"}
			d.jobs = append(d.jobs, p.made)
			return p
		}}
	case p != nil && p.status == "pending":
		return verdict{job: p.job, book: func(answer, *modelCharge) *reportState { return p }}
	}
	if d.outage {
		return refuseWith("502 provider_unavailable")
	}
	if p == nil {
		p = &reportState{kind: w.kind, platform: w.platform, subject: w.subject, days: 3}
	}
	return d.takePlace(verdict{price: p.makingCosts(), book: func(a answer, c *modelCharge) *reportState {
		if p.id == "" {
			d.reports = append(d.reports, p)
			p.id = a.reportID()
		}
		p.status = "pending"
		p.made = d.begin(p, a.job(), making, c)
		return p
	}})
}

func (d *teamState) judgeRefresh(now time.Time, w reportCall) verdict {
	p := d.about(w)
	switch {
	case p == nil:
		return refuseWith("404 not_found")
	case p.status == "error":
		return refuseWith("422 validation_failed wrong_state")
	case !p.asked.IsZero() && now.Before(p.asked.Add(refreshApart)):
		return verdict{refusal: "429 rate_limited connection", wait: seconds(p.asked.Add(refreshApart).Sub(now))}
	case p.job.running():
		return verdict{job: p.job, book: func(answer, *modelCharge) *reportState { return p }}
	}
	return d.takePlace(verdict{price: p.refreshCosts(), book: func(a answer, c *modelCharge) *reportState {
		p.asked = now
		d.begin(p, a.job(), refreshing, c)
		return p
	}})
}

func (d *teamState) judgeTrack(now time.Time, key *teamKey, w reportCall) verdict {
	p := d.about(w)
	if p == nil {
		return refuseWith("404 not_found")
	}
	same := func(change func()) verdict {
		return verdict{book: func(answer, *modelCharge) *reportState {
			change()
			return p
		}}
	}
	switch {
	case !w.enabled && p.tracked:
		return same(func() {
			p.days = w.days
			d.trackOff(p)
		})
	case !w.enabled || p.tracked && p.days == w.days:
		return same(func() { p.days = w.days })
	case p.tracked:
		return same(func() {
			p.days, p.next = w.days, p.refreshed.AddDate(0, 0, w.days)
			if p.next.Before(now) {
				p.next = now
			}
		})
	case p.status != "ready":
		return refuseWith("422 validation_failed wrong_state")
	case d.countTracked() >= mayBeTracked[d.plan]:
		return refuseWith("403 plan_limit_reached")
	}
	return d.judgeTrackOn(now, key, p, w.days)
}

// judgeTrackOn returns the expected result of switching tracking on: for a profile report it counts against the day; a
// hashtag report is charged and refreshed at once, unless a refresh is running.
func (d *teamState) judgeTrackOn(now time.Time, key *teamKey, p *reportState, days int) verdict {
	on := func() { p.tracked, p.days, p.next = true, days, now.AddDate(0, 0, days) }
	if p.kind == "profile" {
		if crosses := d.crosses(now, key, p.refreshCosts()); crosses != "" {
			return verdict{refusal: crosses, wait: d.midnight(now)}
		}
		return verdict{book: func(answer, *modelCharge) *reportState {
			on()
			d.holds = append(d.holds, &hold{key, p, p.refreshCosts(), now})
			return p
		}}
	}
	return verdict{price: p.refreshCosts(), book: func(_ answer, c *modelCharge) *reportState {
		on()
		if p.job.running() {
			d.settle(now, c, c.amount)
			return p
		}
		d.begin(p, "", automatic, c)
		return p
	}}
}

func (d *teamState) trackOff(p *reportState) {
	p.tracked, p.next = false, time.Time{}
	d.release(p)
}

// against compares an answer with the verdict. What is booked later is checked then.
func (v verdict) against(d *teamState, w reportCall, got answer) error {
	switch {
	case v.first != nil:
		if !got.ok() {
			return fmt.Errorf("a repeat is refused: %s", got.raw)
		}
		return repeats(v.first.answer, got)
	case got.refusal() != v.refusal:
		return fmt.Errorf("%q instead of %q: %s", got.refusal(), v.refusal, got.raw)
	case v.refusal != "" && got.Context.Wait != v.wait:
		return fmt.Errorf("sent away for %d s instead of %d: %s", got.Context.Wait, v.wait, got.raw)
	case v.refusal != "":
		return nil
	}
	return v.bookAccepted(d, w, got)
}

func (v verdict) bookAccepted(d *teamState, w reportCall, got answer) error {
	balance := d.balance - v.price
	want, status := &billing{Charged: v.price, Balance: &balance}, http.StatusAccepted
	if w.verb == "track" {
		status = http.StatusOK
	}
	switch {
	case got.replayed:
		return fmt.Errorf("the first answer says that it is a repeat: %s", got.raw)
	case got.status != status:
		return fmt.Errorf("HTTP %d instead of %d: %s", got.status, status, got.raw)
	case got.Billing.String() != want.String():
		return fmt.Errorf("billing %s instead of %s", got.Billing, want)
	case (got.job() == "") != (w.verb == "track"):
		return fmt.Errorf("the job is %q: %s", got.job(), got.raw)
	case v.job != nil && got.job() != v.job.id:
		return fmt.Errorf("the job is %s instead of %s", got.job(), v.job.id)
	case v.price > 0 && d.jobOf(got.job()) != nil:
		return fmt.Errorf("an old job was paid for: %s", got.raw)
	}
	return nil
}

func (d *teamState) jobOf(id string) *reportJob {
	for _, e := range d.jobs {
		if e.id == id && id != "" {
			return e
		}
	}
	return nil
}

// accept books a call that was accepted.
func (d *teamState) accept(now time.Time, key *teamKey, w reportCall, v verdict, got answer) *reportState {
	var c *modelCharge
	if v.price > 0 {
		c = d.pay(now, key, v.price)
		key.spent[w.claim()] = true
	} else {
		d.free[d.day(now)]++
	}
	key.kept[w.claim()] = &keptAnswer{now, got}
	return v.book(got, c)
}

// reportID returns the report that an answer is about, by its link into the app.
func (a answer) reportID() string {
	var said struct {
		Meta struct {
			App string `json:"app_url"`
		}
	}
	_ = json.Unmarshal(a.raw, &said)
	at, _, _ := strings.Cut(said.Meta.App, "?") // followed by the team
	return path.Base(at)
}

// trackingShown is the tracking state in an answer.
type trackingShown struct {
	Enabled bool
	Days    int                   `json:"frequency_days"`
	Next    *struct{ UTC string } `json:"next_refresh_at"`
	Credits int64                 `json:"credits_per_refresh"`
}

// shows compares the answer to a switch with the report's current state.
func (p *reportState) shows(got answer) error {
	var said trackingShown
	if err := json.Unmarshal(got.Data, &said); err != nil {
		return err
	}
	next := ""
	if said.Next != nil {
		next = said.Next.UTC
	}
	if said.Enabled != p.tracked || said.Days != p.days || next != stamp(p.next) || said.Credits != p.refreshCosts() {
		return fmt.Errorf("tracking is %+v, next at %s: %s", *p, stamp(p.next), got.raw)
	}
	return nil
}

// stamp returns a time as answers have it, empty for none.
func stamp(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339Nano)
}

// due is the result for a report whose automatic refresh was due.
type due struct {
	report *reportState
	job    string // of the refresh; empty if none began
	next   time.Time
	ended  string // why tracking ended; empty if it continues
}

// comesOf returns the expected result for a due report: whether a refresh begins, when the next one is due, and why
// tracking ends.
func (d *teamState) comesOf(now time.Time, p *reportState, balance int64, tracked int) (bool, time.Time, string) {
	switch {
	case d.paused || p.job.running():
		return false, now.Add(time.Minute), ""
	case tracked > mayBeTracked[d.plan]:
		return false, time.Time{}, "plan"
	case p.refreshCosts() > balance:
		return false, time.Time{}, "credits"
	}
	next := p.next.AddDate(0, 0, p.days)
	if !next.After(now) {
		next = now.AddDate(0, 0, p.days)
	}
	return true, next, ""
}

// order finds an order in which the results of the due reports are as expected, because nodes process them in parallel.
func (d *teamState) order(now time.Time, came []due, balance int64, tracked int) bool {
	if len(came) == 0 {
		return true
	}
	for i, c := range came {
		begins, next, ended := d.comesOf(now, c.report, balance, tracked)
		if begins != (c.job != "") || !next.Equal(c.next) || ended != c.ended {
			continue
		}
		rest := append(append([]due{}, came[:i]...), came[i+1:]...)
		cost, fewer := int64(0), 0
		if begins {
			cost = c.report.refreshCosts()
		}
		if ended != "" {
			fewer = 1
		}
		if d.order(now, rest, balance-cost, tracked-fewer) {
			return true
		}
	}
	return false
}

// bookDue books the results of the due reports.
func (d *teamState) bookDue(now time.Time, came []due) error {
	if !d.order(now, came, d.balance, d.countTracked()) {
		return fmt.Errorf("with %d credits and %d tracked, of the due reports came %+v", d.balance, d.countTracked(), came)
	}
	for _, c := range came {
		if c.ended != "" {
			d.trackOff(c.report)
			continue
		}
		c.report.next = c.next
		if c.job != "" {
			d.begin(c.report, c.job, automatic, d.pay(now, nil, c.report.refreshCosts()))
		}
	}
	return nil
}
