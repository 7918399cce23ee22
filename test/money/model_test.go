package money

import (
	"fmt"
	"net/http"
	"time"

	"pressroom.example/pressroom/internal/domain/idempotency"
	"pressroom.example/pressroom/internal/teamtime"
	"pressroom.example/pressroom/test/money/standin"
)

// modelTeam is the expected state of a team's credits, computed from its calls.
type modelTeam struct {
	id       int64
	zone     *time.Location
	limit    int64 // daily limit of all keys; -1 means unlimited
	balance  int64
	granted  int64 // net of withdrawals
	keys     []*modelKey
	charges  []*charge
	usedFree int64 // free calls used today
	searches []*charge
	calls    []madeCall // every call
}

// GoString describes the value in a counterexample of rapid.
func (m *modelTeam) GoString() string {
	return fmt.Sprint("team ", m.id, " in ", m.zone, " with ", m.balance)
}

// madeCall is a call and the key that made it.
type madeCall struct {
	key   *modelKey
	order apiCall
}

// GoString describes the value in a counterexample of rapid.
func (m madeCall) GoString() string { return fmt.Sprintf("%+v by key %d", m.order, m.key.id) }

type modelKey struct {
	id      int64
	value   string
	limit   int64
	records map[string]*record // paid calls, by claim
	writes  map[string]*record // writes without a charge, by Idempotency-Key
	spent   map[string]*charge // charges, by claim
}

func newKey(id int64, value string, limit int64) *modelKey {
	return &modelKey{
		id: id, value: value, limit: limit, records: map[string]*record{}, writes: map[string]*record{}, spent: map[string]*charge{},
	}
}

// GoString describes the value in a counterexample of rapid.
func (k *modelKey) GoString() string { return fmt.Sprint("key ", k.id) }

// record is a stored first answer.
type record struct {
	at     time.Time
	order  apiCall
	answer answer
}

// GoString describes the value in a counterexample of rapid.
func (r *record) GoString() string { return fmt.Sprintf("%+v at %v", r.order, r.at) }

func (r *record) isValid(now time.Time) bool {
	return r != nil && now.Before(r.at.Add(idempotency.Retention))
}

// charge is an accepted call of a paid operation.
type charge struct {
	key     *modelKey
	order   apiCall
	amount  int64
	charged int64
	isOpen  bool
	at      time.Time
	job     string
	tried   bool // the first try of a standin.Later job has failed
	ended   bool
}

// GoString describes the value in a counterexample of rapid.
func (c *charge) GoString() string {
	return fmt.Sprintf("%+v at %v, open: %v", c.order, c.at, c.isOpen)
}

// day returns the date of a time in the team's zone.
func (m *modelTeam) day(at time.Time) string { return at.In(m.zone).Format(time.DateOnly) }

// usage returns the day's credits that count against the limit of the key and the limit of the team.
func (m *modelTeam) usage(now time.Time, key *modelKey) (int64, int64) {
	var ofKey, ofTeam int64
	for _, c := range m.charges {
		if m.day(c.at) != m.day(now) {
			continue
		}
		ofTeam += c.charged
		if c.key == key {
			ofKey += c.charged
		}
	}
	return ofKey, ofTeam
}

// counts returns the expected counts of get_credits for a key.
func (m *modelTeam) counts(now time.Time, key *modelKey) creditCounts {
	f := creditCounts{balance: m.balance}
	for _, c := range m.charges {
		switch {
		case m.day(c.at) != m.day(now):
		case !c.isOpen:
			f.usedTeam += c.charged
			f.usedKeys += c.charged
		default:
			f.reservedTeam += c.charged
			if c.key == key {
				f.reservedKey += c.charged
			}
		}
	}
	return f
}

// rejectionFor returns the rejection of a price, or "" if the price is affordable.
func (m *modelTeam) rejectionFor(now time.Time, key *modelKey, price int64) string {
	ofKey, ofTeam := m.usage(now, key)
	switch {
	case key.limit >= 0 && ofKey+price > key.limit:
		return "429 daily_credit_limit_reached connection"
	case m.limit >= 0 && ofTeam+price > m.limit:
		return "429 daily_credit_limit_reached team"
	case price > m.balance:
		return "402 insufficient_credits"
	}
	return ""
}

// accept adds an accepted paid call. A call that starts no job is settled immediately.
func (m *modelTeam) accept(now time.Time, key *modelKey, o apiCall, a answer) {
	price := o.scenario().Price
	c := &charge{key: key, order: o, amount: price, charged: price, isOpen: price > 0, at: now, job: a.jobID()}
	if price > 0 {
		m.balance -= price
		m.charges = append(m.charges, c)
		key.spent[o.claim()] = c
	}
	key.records[o.claim()] = &record{now, o, a}
	if o.tool == standin.Search {
		m.searches = append(m.searches, c)
		return
	}
	m.end(c)
}

// end settles a charge's reservation.
func (m *modelTeam) end(c *charge) {
	c.ended = true
	if !c.isOpen {
		return
	}
	c.isOpen, c.charged = false, c.order.scenario().Cost()
	m.balance += c.amount - c.charged
	if c.charged == 0 {
		m.usedFree++
	}
}

// billing returns the expected billing in the answer to an accepted paid call.
func (m *modelTeam) billing(o apiCall) *billing {
	b := &billing{Charged: o.scenario().Price}
	if o.tool != standin.Search {
		b.Charged = o.scenario().Cost()
		b.Refunded = o.scenario().Price - b.Charged
	}
	balance := m.balance
	b.Balance = &balance
	return b
}

func (o apiCall) claim() string { return o.key + " " + o.withoutKey() }

// lookUp returns the effect of the Idempotency-Key: the record that the call replays, or a rejection. An unused key
// has neither.
func (k *modelKey) lookUp(now time.Time, o apiCall) (*record, string) {
	if !o.isPaid() {
		return k.lookUpWrite(now, o)
	}
	if r := k.records[o.claim()]; r.isValid(now) {
		return r, ""
	}
	if k.spent[o.claim()] != nil {
		return nil, "422 idempotency_key_reused charge_key_spent"
	}
	return nil, ""
}

func (k *modelKey) lookUpWrite(now time.Time, o apiCall) (*record, string) {
	if o.key == "" {
		return nil, ""
	}
	if r := k.writes[o.key]; r.isValid(now) {
		if r.order != o {
			return nil, "422 idempotency_key_reused"
		}
		return r, ""
	}
	for _, r := range k.records {
		if r.order.key == o.key && r.isValid(now) {
			return nil, "422 idempotency_key_reused"
		}
	}
	return nil, ""
}

// countValid counts the records that have not expired.
func countValid(records map[string]*record, now time.Time) int {
	n := 0
	for _, r := range records {
		if r.isValid(now) {
			n++
		}
	}
	return n
}

// secondsToMidnight returns the Retry-After of a daily limit in seconds: the time until the team's midnight.
func (m *modelTeam) secondsToMidnight(now time.Time) int64 {
	_, midnight := teamtime.Day(now, m.zone)
	return int64((midnight.Sub(now) + time.Second - 1) / time.Second)
}

// compare returns an error if an answer differs from the expected rejection.
func (m *modelTeam) compare(now time.Time, o apiCall, got answer, want string) error {
	switch {
	case got.rejection() != want:
		return fmt.Errorf("%+v: rejection %q, want %q: %s", o, got.rejection(), want, got.raw)
	case got.status == http.StatusTooManyRequests && got.Context.Wait != m.secondsToMidnight(now):
		return fmt.Errorf("%+v: retry after %d s, want %d s: %s", o, got.Context.Wait, m.secondsToMidnight(now), got.raw)
	case got.isSuccess() && got.Billing != nil && !o.isPaid():
		return fmt.Errorf("%+v: an operation without a price has billing: %s", o, got.raw)
	}
	return nil
}
