package money

import (
	"fmt"
	"slices"

	"pressroom/internal/domain/idempotency"
	"pressroom/internal/testkit/must"
	"pressroom/test/money/standin"
)

// check holds all that was answered, and all that the database holds, against each other.
func (s *storm) check() {
	known := map[string]bool{}
	for _, m := range s.teams {
		l := must.Get(readLedger(s.t.Context(), s.db, m))(s.t)
		if err := l.lawful(); err != nil {
			s.t.Error(err)
		}
		m.charges, m.balance = nil, m.granted
		for _, r := range s.of(m) {
			claim := claimKey(r.key.id, r.order.idem, r.order.hash())
			known[claim] = true
			if err := s.judge(l, r, l.paid[claim]); err != nil {
				s.t.Error(err)
			}
		}
		for claim, p := range l.paid {
			if !known[claim] {
				s.t.Errorf("reservation %d is of no request", p.id)
			}
		}
		s.checkFigures(m)
	}
	s.checkJobs()
	report := must.Get(s.admin.Credits.Audit(s.t.Context()))(s.t)
	if !report.OK() {
		s.t.Errorf("the audit complains: %+v", report.Complaints)
	}
}

func (s *storm) of(m *modelTeam) []*request {
	return slices.Collect(func(yield func(*request) bool) {
		for _, r := range s.requests {
			if r.team == m && !yield(r) {
				return
			}
		}
	})
}

// judge compares the answers to a request with each other and with its payment, nil for none.
func (s *storm) judge(l *ledger, r *request, p *paid) error {
	words := r.order.words()
	seen := sight{}
	for _, a := range r.attempts {
		if err := seen.add(l, r, a, p); err != nil {
			return err
		}
	}
	switch {
	case words.Price == 0 && p != nil:
		return fmt.Errorf("%+v was charged", r.order)
	case words.Price == 0:
		return nil
	case seen.first != nil && p == nil:
		return fmt.Errorf("%+v was accepted and not charged: %s", r.order, seen.first.raw)
	case seen.first == nil && p != nil && !seen.unanswered:
		return fmt.Errorf("%+v was charged although every answer refused it", r.order)
	case seen.fresh > 1 || seen.fresh == 0 && seen.first != nil && !seen.unanswered && !seen.asTool:
		return fmt.Errorf("%+v has %d first answers", r.order, seen.fresh)
	case p == nil:
		return nil
	case p.amount != words.Price || p.open || p.charged != words.Cost():
		return fmt.Errorf("%+v was charged otherwise: %+v", r.order, p)
	}
	l.team.balance -= p.charged
	l.team.charges = append(l.team.charges, &charge{key: r.key, order: r.order, amount: p.amount, charged: p.charged, at: p.created})
	return nil
}

// sight combines the answers to one request.
type sight struct {
	first      *answer
	fresh      int
	unanswered bool
	asTool     bool // some answer does not show whether it is a repeat
}

func (v *sight) add(l *ledger, r *request, a attempt, p *paid) error {
	v.unanswered = v.unanswered || a.twice || a.answer == nil
	if a.answer == nil {
		return nil
	}
	got := a.answer
	if got.ok() {
		return v.checkSuccess(r, a, p)
	}
	switch got.refusal() {
	case inProgress:
		return nil
	case "500 internal_error", "502 provider_unavailable":
		if r.order.tool != standin.Faulty {
			return fmt.Errorf("%+v: %s", r.order, got.raw)
		}
		return nil
	case "422 idempotency_key_reused charge_key_spent":
		if p == nil || a.done.Before(p.created.Add(idempotency.Retention)) {
			return fmt.Errorf("%+v is spent, at %v: %+v", r.order, a.done, p)
		}
		return nil
	case "402 insufficient_credits", "429 daily_credit_limit_reached connection", "429 daily_credit_limit_reached team":
		if p != nil && p.line <= a.before {
			return fmt.Errorf("%+v was paid for and yet refused: %s", r.order, got.raw)
		}
		return l.checkRefusal(r, a)
	}
	return fmt.Errorf("%+v: %s", r.order, got.raw)
}

// checkSuccess checks a success: all answers are equal until the key expires.
func (v *sight) checkSuccess(r *request, a attempt, p *paid) error {
	switch {
	case a.answer.tool:
		v.asTool = true
	case !a.answer.replayed:
		v.fresh++
	}
	if r.order.words().Price == 0 {
		return nil // it may be repeated after the key has expired
	}
	if p != nil && !a.sent.Before(p.created.Add(idempotency.Retention)) {
		return fmt.Errorf("%+v was answered after its time: %s", r.order, a.answer.raw)
	}
	if v.first == nil {
		v.first = a.answer
		return nil
	}
	if !a.answer.sameData(*v.first) {
		return fmt.Errorf("%+v has two answers:\n%s\n%s", r.order, v.first.raw, a.answer.raw)
	}
	return nil
}

// checkFigures requests the figures of every key from every node.
func (s *storm) checkFigures(m *modelTeam) {
	for _, p := range s.nodes {
		for _, key := range m.keys {
			var got credits
			if !until(s.t.Context(), func() bool {
				answered := must.Get(show(s.t.Context(), p.root(), key, "/credits", &got))(s.t)
				return answered
			}) {
				s.t.Fatalf("no answer: %s", p.logText())
			}
			if want := m.figures(s.now(), key); got.figures() != want {
				s.t.Errorf("team %d: the credits are %+v instead of %+v", m.id, got, want)
			}
		}
	}
}

// checkJobs compares jobs with charges: each has its own, and ended as ordered.
func (s *storm) checkJobs() {
	paid := map[string]string{}
	rows := must.Get(s.db.Query(s.t.Context(),
		`SELECT j.id, j.subject, j.state, j.reservation_id, COALESCE(r.charged, 0), COALESCE(r.idempotency_key, '')
		FROM jobs j LEFT JOIN reservations r ON r.id = j.reservation_id`))(s.t)
	defer rows.Close()
	for rows.Next() {
		var id, query, state, idem string
		var reservation, charged int64
		must.NoError(s.t, rows.Scan(&id, &query, &state, &reservation, &charged, &idem))
		words := standin.Read(query)
		want, _ := words.State()
		if state != string(want) || charged != words.Cost() || (reservation > 0) != (words.Price > 0) {
			s.t.Errorf("job %s of %q ended as %s and charged %d", id, query, state, charged)
		}
		if paid[query] != "" && words.Price > 0 {
			s.t.Errorf("jobs %s and %s are of one request, %q", paid[query], id, query)
		}
		paid[query] = id
	}
	must.NoError(s.t, rows.Err())
	for _, r := range s.requests {
		for _, a := range r.attempts {
			if a.answer != nil && a.answer.ok() && a.answer.job() != "" && r.order.words().Price > 0 &&
				paid[r.order.query] != a.answer.job() {
				s.t.Errorf("%+v was told of job %s and has %s", r.order, a.answer.job(), paid[r.order.query])
			}
		}
	}
}
