package money

import (
	"fmt"
	"net/http"
	"time"

	"pressroom/internal/domain/idempotency"
	"pressroom/internal/teamtime"
	"pressroom/test/money/standin"
)

// modelTeam is the expected state of a team's credits, computed from its calls.
type modelTeam struct {
	id       int64
	zone     *time.Location
	limit    int64 // of the team's keys, a day; -1 for none
	balance  int64
	granted  int64
	keys     []*modelKey
	charges  []*charge
	free     int64 // free calls of the day that were used
	searches []*charge
	made     []made // every call
}

// GoString returns the description for a counterexample.
func (m *modelTeam) GoString() string {
	return fmt.Sprint("team ", m.id, " in ", m.zone, " with ", m.balance)
}

// made is a call with its arguments and result.
type made struct {
	key   *modelKey
	order order
}

// GoString returns the description for a counterexample.
func (m made) GoString() string { return fmt.Sprintf("%+v by key %d", m.order, m.key.id) }

type modelKey struct {
	id      int64
	value   string
	limit   int64
	records map[string]*record // by Idempotency-Key and request: of paid calls
	plain   map[string]*record // by Idempotency-Key: of writes without money
	spent   map[string]*charge // by Idempotency-Key and request: what paid
}

func newKey(id int64, value string, limit int64) *modelKey {
	return &modelKey{
		id: id, value: value, limit: limit, records: map[string]*record{}, plain: map[string]*record{}, spent: map[string]*charge{},
	}
}

// GoString returns the description for a counterexample.
func (k *modelKey) GoString() string { return fmt.Sprint("key ", k.id) }

// record is a kept first answer.
type record struct {
	at     time.Time
	order  order
	answer answer
}

// GoString returns the description for a counterexample.
func (r *record) GoString() string { return fmt.Sprintf("%+v at %v", r.order, r.at) }

func (r *record) isValid(now time.Time) bool {
	return r != nil && now.Before(r.at.Add(idempotency.Retention))
}

// charge is one accepted call that starts work or costs something.
type charge struct {
	key     *modelKey
	order   order
	amount  int64
	charged int64
	open    bool
	at      time.Time
	job     string
	tried   bool
	ended   bool
}

// GoString returns the description for a counterexample.
func (c *charge) GoString() string { return fmt.Sprintf("%+v at %v, open: %v", c.order, c.at, c.open) }

// day returns the date of a time in the team's zone.
func (m *modelTeam) day(at time.Time) string { return at.In(m.zone).Format(time.DateOnly) }

// usage returns what of the day's charges counts against the limits of a key, and of all keys.
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

// figures returns the expected get_credits for a key.
func (m *modelTeam) figures(now time.Time, key *modelKey) figures {
	f := figures{balance: m.balance}
	for _, c := range m.charges {
		switch {
		case m.day(c.at) != m.day(now):
		case !c.open:
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

// refusalFor returns how the money refuses a price; empty if there is none.
func (m *modelTeam) refusalFor(now time.Time, key *modelKey, price int64) string {
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

// accept books an accepted paid call. Work that is done at once ends with it.
func (m *modelTeam) accept(now time.Time, key *modelKey, o order, a answer) {
	price := o.words().Price
	c := &charge{key: key, order: o, amount: price, charged: price, open: price > 0, at: now, job: a.job()}
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
	if !c.open {
		return
	}
	c.open, c.charged = false, c.order.words().Cost()
	m.balance += c.amount - c.charged
	if c.charged == 0 {
		m.free++
	}
}

// billing returns the billing in the answer to an accepted paid call.
func (m *modelTeam) billing(o order) *billing {
	b := &billing{Charged: o.words().Price}
	if o.tool != standin.Search {
		b.Charged = o.words().Cost()
		b.Refunded = o.words().Price - b.Charged
	}
	balance := m.balance
	b.Balance = &balance
	return b
}

func (o order) claim() string { return o.idem + " " + o.request() }

// lookUp returns the effect of the Idempotency-Key on a call: the first answer, or a refusal, or neither if the call
// proceeds.
func (k *modelKey) lookUp(now time.Time, o order) (*record, string) {
	if !o.isPaid() {
		return k.knownPlain(now, o)
	}
	if r := k.records[o.claim()]; r.isValid(now) {
		return r, ""
	}
	if k.spent[o.claim()] != nil {
		return nil, "422 idempotency_key_reused charge_key_spent"
	}
	return nil, ""
}

func (k *modelKey) knownPlain(now time.Time, o order) (*record, string) {
	if o.idem == "" {
		return nil, ""
	}
	if r := k.plain[o.idem]; r.isValid(now) {
		if r.order != o {
			return nil, "422 idempotency_key_reused"
		}
		return r, ""
	}
	for _, r := range k.records {
		if r.order.idem == o.idem && r.isValid(now) {
			return nil, "422 idempotency_key_reused"
		}
	}
	return nil, ""
}

// countValid counts the records whose time is not over.
func countValid(records map[string]*record, now time.Time) int {
	n := 0
	for _, r := range records {
		if r.isValid(now) {
			n++
		}
	}
	return n
}

// wait returns for how long a daily limit sends away: until the team's midnight, in whole seconds.
func (m *modelTeam) wait(now time.Time) int64 {
	_, midnight := teamtime.Day(now, m.zone)
	return int64((midnight.Sub(now) + time.Second - 1) / time.Second)
}

// complain compares an answer with the model and returns the difference.
func (m *modelTeam) complain(now time.Time, o order, got answer, want string) error {
	switch {
	case got.refusal() != want:
		return fmt.Errorf("%+v: %q instead of %q: %s", o, got.refusal(), want, got.raw)
	case got.status == http.StatusTooManyRequests && got.Context.Wait != m.wait(now):
		return fmt.Errorf("%+v: sent away for %d s instead of %d: %s", o, got.Context.Wait, m.wait(now), got.raw)
	case got.ok() && got.Billing != nil && !o.isPaid():
		return fmt.Errorf("%+v: billing for what is not paid: %s", o, got.raw)
	}
	return nil
}
