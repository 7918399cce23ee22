package money

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strings"
	"time"
)

// expectation is the expected result of a call.
type expectation struct {
	first     *storedAnswer // the answer that the call replays
	rejection string
	wait      int64                                       // Retry-After of the rejection in seconds
	price     int64                                       // credits
	isLate    bool                                        // the rejection comes after the check of limits and balance
	job       *reportJob                                  // the existing job that is returned; nil for a new job or no job
	apply     func(a answer, c *modelCharge) *reportState // applies a success to the model
}

func rejectWith(rejection string) expectation { return expectation{rejection: rejection} }

// expected returns the expected result of a call at a time.
func (d *teamState) expected(now time.Time, key *teamKey, w reportCall) expectation {
	d.removeExpired(now)
	if d.paused {
		return rejectWith("403 connection_suspended")
	}
	if first := key.answers[w.claim()]; first.isValid(now) {
		return expectation{first: first}
	}
	if key.spent[w.claim()] {
		return rejectWith("422 idempotency_key_reused charge_key_spent")
	}
	var v expectation
	switch w.verb {
	case "create":
		v = d.expectedCreate(now, w)
	case "search":
		v = d.expectedSearch(now, w)
	case "refresh":
		v = d.expectedRefresh(now, w)
	default:
		v = d.expectedTrack(now, key, w)
	}
	if v.rejection != "" && !v.isLate || v.price == 0 {
		return v
	}
	switch exceeded := d.exceededLimit(now, key, v.price); {
	case exceeded != "":
		return expectation{rejection: exceeded, wait: d.secondsToMidnight(now)}
	case v.price > d.balance:
		return rejectWith("402 insufficient_credits")
	}
	return v
}

// limitJobs changes the expectation to a rejection if the team has no slot for another job.
func (d *teamState) limitJobs(v expectation) expectation {
	taken := 0
	for _, e := range d.openJobs(nil) {
		if e.takesSlot {
			taken++
		}
	}
	if taken >= maxJobs {
		v.rejection, v.wait, v.isLate = "429 rate_limited jobs_in_flight", 5, true
	}
	return v
}

func (d *teamState) expectedCreate(now time.Time, w reportCall) expectation {
	p := d.findReport(w)
	switch {
	case p != nil && p.isReady(now) && p.creation.state == "succeeded":
		return expectation{job: p.creation, apply: func(answer, *modelCharge) *reportState { return p }}
	case p != nil && p.isReady(now):
		return expectation{apply: func(a answer, _ *modelCharge) *reportState {
			p.creation = &reportJob{team: d, id: a.jobID(), purpose: purposeNone, report: p, finished: true, state: "succeeded"}
			d.jobs = append(d.jobs, p.creation)
			return p
		}}
	case p != nil && p.status == "pending":
		return expectation{job: p.job, apply: func(answer, *modelCharge) *reportState { return p }}
	}
	if d.outage {
		return rejectWith("502 provider_unavailable")
	}
	if p == nil {
		p = &reportState{kind: w.kind, platform: w.platform, subject: w.subject, days: 3}
	}
	return d.limitJobs(expectation{price: p.createPrice(), apply: func(a answer, c *modelCharge) *reportState {
		if p.id == "" {
			d.reports = append(d.reports, p)
			p.id = a.reportID()
		}
		p.status = "pending"
		p.creation = d.startJob(p, a.jobID(), purposeCreate, c)
		return p
	}})
}

func (d *teamState) expectedRefresh(now time.Time, w reportCall) expectation {
	p := d.findReport(w)
	switch {
	case p == nil:
		return rejectWith("404 not_found")
	case p.status == "error":
		return rejectWith("422 validation_failed wrong_state")
	case !p.refreshRequested.IsZero() && now.Before(p.refreshRequested.Add(refreshInterval)):
		return expectation{rejection: "429 rate_limited connection", wait: seconds(p.refreshRequested.Add(refreshInterval).Sub(now))}
	case p.job.isRunning():
		return expectation{job: p.job, apply: func(answer, *modelCharge) *reportState { return p }}
	}
	return d.limitJobs(expectation{price: p.refreshPrice(), apply: func(a answer, c *modelCharge) *reportState {
		p.refreshRequested = now
		d.startJob(p, a.jobID(), purposeRefresh, c)
		return p
	}})
}

func (d *teamState) expectedTrack(now time.Time, key *teamKey, w reportCall) expectation {
	p := d.findReport(w)
	if p == nil {
		return rejectWith("404 not_found")
	}
	same := func(change func()) expectation {
		return expectation{apply: func(answer, *modelCharge) *reportState {
			change()
			return p
		}}
	}
	switch {
	case !w.enabled && p.tracked:
		return same(func() {
			p.days = w.days
			d.stopTracking(p)
		})
	case !w.enabled || p.tracked && p.days == w.days:
		return same(func() { p.days = w.days })
	case p.tracked:
		return same(func() {
			p.days, p.nextRefresh = w.days, p.refreshed.AddDate(0, 0, w.days)
			if p.nextRefresh.Before(now) {
				p.nextRefresh = now
			}
		})
	case p.status != "ready":
		return rejectWith("422 validation_failed wrong_state")
	case d.countTracked() >= maxTracked[d.plan]:
		return rejectWith("403 plan_limit_reached")
	}
	return d.expectedTrackOn(now, key, p, w.days)
}

// expectedTrackOn returns the expected result of switching tracking on. For a profile report, the price of a refresh
// counts against the daily limits. A hashtag report is charged and refreshed immediately, unless a refresh is
// running.
func (d *teamState) expectedTrackOn(now time.Time, key *teamKey, p *reportState, days int) expectation {
	enable := func() { p.tracked, p.days, p.nextRefresh = true, days, now.AddDate(0, 0, days) }
	if p.kind == "profile" {
		if exceeded := d.exceededLimit(now, key, p.refreshPrice()); exceeded != "" {
			return expectation{rejection: exceeded, wait: d.secondsToMidnight(now)}
		}
		return expectation{apply: func(answer, *modelCharge) *reportState {
			enable()
			d.holds = append(d.holds, &hold{key, p, p.refreshPrice(), now})
			return p
		}}
	}
	return expectation{price: p.refreshPrice(), apply: func(_ answer, c *modelCharge) *reportState {
		enable()
		if p.job.isRunning() {
			d.settle(now, c, c.amount)
			return p
		}
		d.startJob(p, "", purposeAutomatic, c)
		return p
	}}
}

func (d *teamState) stopTracking(p *reportState) {
	p.tracked, p.nextRefresh = false, time.Time{}
	d.releaseHolds(p)
}

// check returns an error if an answer differs from the expectation.
func (v expectation) check(d *teamState, w reportCall, got answer) error {
	switch {
	case v.first != nil:
		if !got.isSuccess() {
			return fmt.Errorf("a repeat was rejected: %s", got.raw)
		}
		return checkReplay(v.first.answer, got)
	case got.rejection() != v.rejection:
		return fmt.Errorf("rejection %q, want %q: %s", got.rejection(), v.rejection, got.raw)
	case v.rejection != "" && got.Context.Wait != v.wait:
		return fmt.Errorf("retry after %d s, want %d s: %s", got.Context.Wait, v.wait, got.raw)
	case v.rejection != "":
		return nil
	}
	return v.checkSuccess(d, w, got)
}

func (v expectation) checkSuccess(d *teamState, w reportCall, got answer) error {
	balance := d.balance - v.price
	want, status := &billing{Charged: v.price, Balance: &balance}, http.StatusAccepted
	if w.verb == "track" {
		status = http.StatusOK
	}
	switch {
	case got.isReplay:
		return fmt.Errorf("the first answer is marked as a replay: %s", got.raw)
	case got.status != status:
		return fmt.Errorf("status %d, want %d: %s", got.status, status, got.raw)
	case got.Billing.String() != want.String():
		return fmt.Errorf("billing %s, want %s", got.Billing, want)
	case (got.jobID() == "") != (w.verb == "track"):
		return fmt.Errorf("job ID %q: %s", got.jobID(), got.raw)
	case v.job != nil && got.jobID() != v.job.id:
		return fmt.Errorf("job ID %s, want %s", got.jobID(), v.job.id)
	case v.price > 0 && d.findJob(got.jobID()) != nil:
		return fmt.Errorf("an existing job was charged: %s", got.raw)
	}
	return nil
}

func (d *teamState) findJob(id string) *reportJob {
	for _, e := range d.jobs {
		if e.id == id && id != "" {
			return e
		}
	}
	return nil
}

// accept applies an accepted call to the model.
func (d *teamState) accept(now time.Time, key *teamKey, w reportCall, v expectation, got answer) *reportState {
	var c *modelCharge
	if v.price > 0 {
		c = d.reserve(now, key, v.price)
		key.spent[w.claim()] = true
	} else {
		d.usedFree[d.day(now)]++
	}
	key.answers[w.claim()] = &storedAnswer{now, got}
	return v.apply(got, c)
}

// reportID returns the ID of the report in the answer, taken from its link to the app.
func (a answer) reportID() string {
	var body struct {
		Meta struct {
			App string `json:"app_url"`
		}
	}
	_ = json.Unmarshal(a.raw, &body)
	url, _, _ := strings.Cut(body.Meta.App, "?") // the query names the team
	return path.Base(url)
}

// trackingShown is the tracking state in a response.
type trackingShown struct {
	Enabled bool
	Days    int                   `json:"frequency_days"`
	Next    *struct{ UTC string } `json:"next_refresh_at"`
	Credits int64                 `json:"credits_per_refresh"`
}

// checkTracking returns an error if a tracking response differs from the report's state.
func (p *reportState) checkTracking(got answer) error {
	var shown trackingShown
	if err := json.Unmarshal(got.Data, &shown); err != nil {
		return err
	}
	next := ""
	if shown.Next != nil {
		next = shown.Next.UTC
	}
	if shown.Enabled != p.tracked || shown.Days != p.days || next != formatTime(p.nextRefresh) || shown.Credits != p.refreshPrice() {
		return fmt.Errorf("unexpected tracking state, want %+v, next refresh %s: %s", *p, formatTime(p.nextRefresh), got.raw)
	}
	return nil
}

// formatTime formats a time as the API does. The zero time is "".
func formatTime(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339Nano)
}

// due is the program's handling of a report whose automatic refresh was due.
type due struct {
	report *reportState
	job    string // job ID of the refresh; "" if no refresh began
	next   time.Time
	ended  string // why tracking ended; "" if it continues
}

// expectedDue returns the expected result for a due report: whether a refresh begins, the time of the next refresh,
// and the reason if tracking ends.
func (d *teamState) expectedDue(now time.Time, p *reportState, balance int64, tracked int) (bool, time.Time, string) {
	switch {
	case d.paused || p.job.isRunning():
		return false, now.Add(time.Minute), ""
	case tracked > maxTracked[d.plan]:
		return false, time.Time{}, "plan"
	case p.refreshPrice() > balance:
		return false, time.Time{}, "credits"
	}
	next := p.nextRefresh.AddDate(0, 0, p.days)
	if !next.After(now) {
		next = now.AddDate(0, 0, p.days)
	}
	return true, next, ""
}

// matchesSomeOrder reports whether the results match some processing order. Nodes process due reports in parallel.
func (d *teamState) matchesSomeOrder(now time.Time, came []due, balance int64, tracked int) bool {
	if len(came) == 0 {
		return true
	}
	for i, c := range came {
		begins, next, ended := d.expectedDue(now, c.report, balance, tracked)
		if begins != (c.job != "") || !next.Equal(c.next) || ended != c.ended {
			continue
		}
		rest := append(append([]due{}, came[:i]...), came[i+1:]...)
		cost, fewer := int64(0), 0
		if begins {
			cost = c.report.refreshPrice()
		}
		if ended != "" {
			fewer = 1
		}
		if d.matchesSomeOrder(now, rest, balance-cost, tracked-fewer) {
			return true
		}
	}
	return false
}

// bookDue applies the results for due reports to the model.
func (d *teamState) bookDue(now time.Time, came []due) error {
	if !d.matchesSomeOrder(now, came, d.balance, d.countTracked()) {
		return fmt.Errorf("with %d credits and %d tracked reports, unexpected results of due reports: %+v", d.balance,
			d.countTracked(), came)
	}
	for _, c := range came {
		if c.ended != "" {
			d.stopTracking(c.report)
			continue
		}
		c.report.nextRefresh = c.next
		if c.job != "" {
			d.startJob(c.report, c.job, purposeAutomatic, d.reserve(now, nil, c.report.refreshPrice()))
		}
	}
	return nil
}
