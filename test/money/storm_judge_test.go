package money

import (
	"fmt"
	"slices"

	"pressroom.example/pressroom/internal/domain/idempotency"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/test/money/standin"
)

// check compares all answers with the database.
func (s *storm) check() {
	known := map[string]bool{}
	for _, m := range s.teams {
		l := must.Get(readLedger(s.t.Context(), s.db, m))(s.t)
		if err := l.checkCharges(); err != nil {
			s.t.Error(err)
		}
		m.charges, m.balance = nil, m.granted
		for _, r := range s.requestsOf(m) {
			claim := claimKey(r.key.id, r.order.key, r.order.hash())
			known[claim] = true
			if err := s.checkRequest(l, r, l.reservations[claim]); err != nil {
				s.t.Error(err)
			}
		}
		for claim, p := range l.reservations {
			if !known[claim] {
				s.t.Errorf("reservation %d belongs to no request", p.id)
			}
		}
		s.checkFigures(m)
	}
	s.checkJobs()
	report := must.Get(s.admin.Credits.Audit(s.t.Context()))(s.t)
	if !report.OK() {
		s.t.Errorf("audit violations: %+v", report.Violations)
	}
}

// requestsOf returns the requests of a team.
func (s *storm) requestsOf(m *modelTeam) []*request {
	return slices.Collect(func(yield func(*request) bool) {
		for _, r := range s.requests {
			if r.team == m && !yield(r) {
				return
			}
		}
	})
}

// checkRequest compares the answers to a request with each other and with the reservation p, which may be nil.
func (s *storm) checkRequest(l *ledger, r *request, p *reservation) error {
	words := r.order.scenario()
	seen := answerSummary{}
	for _, a := range r.attempts {
		if err := seen.add(l, r, a, p); err != nil {
			return err
		}
	}
	switch {
	case words.Price == 0 && p != nil:
		return fmt.Errorf("a free call was charged: %+v", r.order)
	case words.Price == 0:
		return nil
	case seen.first != nil && p == nil:
		return fmt.Errorf("%+v was accepted but not charged: %s", r.order, seen.first.raw)
	case seen.first == nil && p != nil && !seen.unanswered:
		return fmt.Errorf("%+v was charged although every answer rejected it", r.order)
	case seen.fresh > 1 || seen.fresh == 0 && seen.first != nil && !seen.unanswered && !seen.asTool:
		return fmt.Errorf("%+v has %d answers that are not replays", r.order, seen.fresh)
	case p == nil:
		return nil
	case p.amount != words.Price || p.isOpen || p.charged != words.Cost():
		return fmt.Errorf("%+v: unexpected charge %+v", r.order, p)
	}
	l.team.balance -= p.charged
	l.team.charges = append(l.team.charges, &charge{key: r.key, order: r.order, amount: p.amount, charged: p.charged, at: p.created})
	return nil
}

// answerSummary summarizes the answers to one request.
type answerSummary struct {
	first      *answer
	fresh      int  // answers that are not replays
	unanswered bool // some attempt may have arrived without an answer
	asTool     bool // some answer came over MCP, which does not mark replays
}

// add checks an attempt and adds it to the summary.
func (v *answerSummary) add(l *ledger, r *request, a attempt, p *reservation) error {
	v.unanswered = v.unanswered || a.maybeSentTwice || a.answer == nil
	if a.answer == nil {
		return nil
	}
	got := a.answer
	if got.isSuccess() {
		return v.checkSuccess(r, a, p)
	}
	switch got.rejection() {
	case keyInProgress:
		return nil
	case "500 internal_error", "502 provider_unavailable":
		if r.order.tool != standin.Faulty {
			return fmt.Errorf("%+v: %s", r.order, got.raw)
		}
		return nil
	case "422 idempotency_key_reused charge_key_spent":
		if p == nil || a.done.Before(p.created.Add(idempotency.Retention)) {
			return fmt.Errorf("%+v: key reported as spent at %v, reservation %+v", r.order, a.done, p)
		}
		return nil
	case "402 insufficient_credits", "429 daily_credit_limit_reached connection", "429 daily_credit_limit_reached team":
		if p != nil && p.transfer <= a.before {
			return fmt.Errorf("%+v was rejected after it was charged: %s", r.order, got.raw)
		}
		return l.checkRejection(r, a)
	}
	return fmt.Errorf("%+v: %s", r.order, got.raw)
}

// checkSuccess checks a success. All answers must be equal until the key expires.
func (v *answerSummary) checkSuccess(r *request, a attempt, p *reservation) error {
	switch {
	case a.answer.isTool:
		v.asTool = true
	case !a.answer.isReplay:
		v.fresh++
	}
	if r.order.scenario().Price == 0 {
		return nil // a free call can be repeated after the key has expired
	}
	if p != nil && !a.sent.Before(p.created.Add(idempotency.Retention)) {
		return fmt.Errorf("%+v was replayed after its key had expired: %s", r.order, a.answer.raw)
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

// checkFigures compares the credits of every key on every node with the model.
func (s *storm) checkFigures(m *modelTeam) {
	for _, p := range s.nodes {
		for _, key := range m.keys {
			var got credits
			if !poll(s.t.Context(), func() bool {
				answered := must.Get(readData(s.t.Context(), p.baseURL(), key, "/credits", &got))(s.t)
				return answered
			}) {
				s.t.Fatalf("no answer: %s", p.logText())
			}
			if want := m.counts(s.now(), key); got.counts() != want {
				s.t.Errorf("team %d: credits = %+v, want %+v", m.id, got, want)
			}
		}
	}
}

// checkJobs compares every job with its charge and its expected state.
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
		words := standin.ParseQuery(query)
		want, _ := words.State()
		if state != string(want) || charged != words.Cost() || (reservation > 0) != (words.Price > 0) {
			s.t.Errorf("job %s of %q: state %s, charged %d", id, query, state, charged)
		}
		if paid[query] != "" && words.Price > 0 {
			s.t.Errorf("request %[3]q has two jobs, %[1]s and %[2]s", paid[query], id, query)
		}
		paid[query] = id
	}
	must.NoError(s.t, rows.Err())
	for _, r := range s.requests {
		for _, a := range r.attempts {
			if a.answer != nil && a.answer.isSuccess() && a.answer.jobID() != "" && r.order.scenario().Price > 0 &&
				paid[r.order.query] != a.answer.jobID() {
				s.t.Errorf("%+v: the answer names job %s, the database has %s", r.order, a.answer.jobID(), paid[r.order.query])
			}
		}
	}
}
