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
	wait    int64   // seconds for which a refusal sends away
	price   int64   // credits
	late    bool    // the work itself refuses, once the money does not
	job     *errand // the named job; nil: a new one or none
	book    func(a answer, c *toll) *paper
}

func refuseWith(with string) verdict { return verdict{refusal: with} }

// judge returns how a call should end now.
func (d *desk) judge(now time.Time, key *deskKey, w wish) verdict {
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
func (d *desk) takePlace(v verdict) verdict {
	taken := 0
	for _, e := range d.openErrands(nil) {
		if e.place {
			taken++
		}
	}
	if taken >= placesForJobs {
		v.refusal, v.wait, v.late = "429 rate_limited jobs_in_flight", 5, true
	}
	return v
}

func (d *desk) judgeCreate(now time.Time, w wish) verdict {
	p := d.about(w)
	switch {
	case p != nil && p.there(now) && p.made.state == "succeeded":
		return verdict{job: p.made, book: func(answer, *toll) *paper { return p }}
	case p != nil && p.there(now):
		return verdict{book: func(a answer, _ *toll) *paper {
			p.made = &errand{desk: d, id: a.job(), purpose: nothing, paper: p, finished: true, state: "succeeded"}
			d.errands = append(d.errands, p.made)
			return p
		}}
	case p != nil && p.status == "pending":
		return verdict{job: p.job, book: func(answer, *toll) *paper { return p }}
	}
	if d.outage {
		return refuseWith("502 provider_unavailable")
	}
	if p == nil {
		p = &paper{kind: w.kind, platform: w.platform, subject: w.subject, days: 3}
	}
	return d.takePlace(verdict{price: p.makingCosts(), book: func(a answer, c *toll) *paper {
		if p.id == "" {
			d.papers = append(d.papers, p)
			p.id = a.reportID()
		}
		p.status = "pending"
		p.made = d.begin(p, a.job(), making, c)
		return p
	}})
}

func (d *desk) judgeRefresh(now time.Time, w wish) verdict {
	p := d.about(w)
	switch {
	case p == nil:
		return refuseWith("404 not_found")
	case p.status == "error":
		return refuseWith("422 validation_failed wrong_state")
	case !p.asked.IsZero() && now.Before(p.asked.Add(refreshApart)):
		return verdict{refusal: "429 rate_limited connection", wait: seconds(p.asked.Add(refreshApart).Sub(now))}
	case p.job.running():
		return verdict{job: p.job, book: func(answer, *toll) *paper { return p }}
	}
	return d.takePlace(verdict{price: p.refreshCosts(), book: func(a answer, c *toll) *paper {
		p.asked = now
		d.begin(p, a.job(), refreshing, c)
		return p
	}})
}

func (d *desk) judgeTrack(now time.Time, key *deskKey, w wish) verdict {
	p := d.about(w)
	if p == nil {
		return refuseWith("404 not_found")
	}
	same := func(change func()) verdict {
		return verdict{book: func(answer, *toll) *paper {
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

// judgeTrackOn returns what comes of a switch that switches: a profile report's counts against the day, and a hashtag
// report's is charged and refreshes at once, unless that is being done.
func (d *desk) judgeTrackOn(now time.Time, key *deskKey, p *paper, days int) verdict {
	on := func() { p.tracked, p.days, p.next = true, days, now.AddDate(0, 0, days) }
	if p.kind == "profile" {
		if crosses := d.crosses(now, key, p.refreshCosts()); crosses != "" {
			return verdict{refusal: crosses, wait: d.midnight(now)}
		}
		return verdict{book: func(answer, *toll) *paper {
			on()
			d.holds = append(d.holds, &hold{key, p, p.refreshCosts(), now})
			return p
		}}
	}
	return verdict{price: p.refreshCosts(), book: func(_ answer, c *toll) *paper {
		on()
		if p.job.running() {
			d.settle(now, c, c.amount)
			return p
		}
		d.begin(p, "", automatic, c)
		return p
	}}
}

func (d *desk) trackOff(p *paper) {
	p.tracked, p.next = false, time.Time{}
	d.release(p)
}

// against holds an answer against the verdict; what is booked only after it is looked at then.
func (v verdict) against(d *desk, w wish, got answer) error {
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

func (v verdict) bookAccepted(d *desk, w wish, got answer) error {
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
	case v.price > 0 && d.errandOf(got.job()) != nil:
		return fmt.Errorf("an old job was paid for: %s", got.raw)
	}
	return nil
}

func (d *desk) errandOf(id string) *errand {
	for _, e := range d.errands {
		if e.id == id && id != "" {
			return e
		}
	}
	return nil
}

// accept books a call that was accepted.
func (d *desk) accept(now time.Time, key *deskKey, w wish, v verdict, got answer) *paper {
	var c *toll
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

// trackingShown is the state of tracking as an answer tells it.
type trackingShown struct {
	Enabled bool
	Days    int                   `json:"frequency_days"`
	Next    *struct{ UTC string } `json:"next_refresh_at"`
	Credits int64                 `json:"credits_per_refresh"`
}

// shows holds the answer to a switch against the report as it is then.
func (p *paper) shows(got answer) error {
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

// due is what came of a report whose automatic refresh was due.
type due struct {
	paper *paper
	job   string // of the refresh; empty if none began
	next  time.Time
	ended string // why tracking ended; empty where it goes on
}

// comesOf returns what should come of a due report: whether a refresh begins, when the next one is due, and why tracking
// ends.
func (d *desk) comesOf(now time.Time, p *paper, balance int64, tracked int) (bool, time.Time, string) {
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

// order finds an order in which what came of the due reports is what should: nodes look after them side by side.
func (d *desk) order(now time.Time, came []due, balance int64, tracked int) bool {
	if len(came) == 0 {
		return true
	}
	for i, c := range came {
		begins, next, ended := d.comesOf(now, c.paper, balance, tracked)
		if begins != (c.job != "") || !next.Equal(c.next) || ended != c.ended {
			continue
		}
		rest := append(append([]due{}, came[:i]...), came[i+1:]...)
		cost, fewer := int64(0), 0
		if begins {
			cost = c.paper.refreshCosts()
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

// bookDue books what came of the due reports.
func (d *desk) bookDue(now time.Time, came []due) error {
	if !d.order(now, came, d.balance, d.countTracked()) {
		return fmt.Errorf("with %d credits and %d tracked, of the due reports came %+v", d.balance, d.countTracked(), came)
	}
	for _, c := range came {
		if c.ended != "" {
			d.trackOff(c.paper)
			continue
		}
		c.paper.next = c.next
		if c.job != "" {
			d.begin(c.paper, c.job, automatic, d.pay(now, nil, c.paper.refreshCosts()))
		}
	}
	return nil
}
