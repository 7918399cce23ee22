package money

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/domain/idempotency"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/test/money/standin"
)

// makePredictableCalls makes sequential calls on a new day without lost free calls, so that the model can predict
// their results.
func (s *storm) makePredictableCalls(phase int) {
	s.moveTo(s.now().Add(idempotency.Retention + time.Hour))
	must.NoError(s.t, s.controls.Suspend(true))
	for _, m := range s.teams {
		m.usedFree, m.searches = 0, nil
	}
	for i := range 40 {
		m := s.teams[rand.IntN(len(s.teams))]
		s.predict(m, m.keys[rand.IntN(len(m.keys))], fmt.Sprint(predictableKey, phase, " ", i))
	}
	s.checkExpiredKeys()
	for _, m := range s.teams {
		s.checkFigures(m) // including reservations
	}
	must.NoError(s.t, s.controls.Suspend(false))
	s.awaitJobs()
	for _, m := range s.teams {
		for _, c := range m.searches {
			m.end(c)
		}
		s.checkFigures(m)
	}
	for _, p := range s.nodes {
		p.stop() // returns its leased calls
	}
	for _, m := range s.teams {
		if used := s.queryInt(`SELECT used FROM free_calls WHERE team_id = ?`, m.id); used != m.usedFree {
			s.t.Errorf("team %d: %d free calls used, want %d", m.id, used, m.usedFree)
		}
	}
	s.restartAndCheck()
}

// predictableKey is the prefix of the Idempotency-Keys of predictable calls.
const predictableKey = "certainly "

// predict makes a call, compares it with the model, and repeats it.
func (s *storm) predict(m *modelTeam, key *modelKey, idem string) {
	r := &request{team: m, key: key, order: anOrder()}
	for r.order.tool == standin.Faulty {
		r.order = anOrder()
	}
	r.order.query, r.order.key = fmt.Sprint(r.order.query, " certain ", len(s.requests)), idem
	s.requests = append(s.requests, r)
	now := s.now()
	want := ""
	if price := r.order.scenario().Price; price > 0 {
		want = m.rejectionFor(now, r.key, price)
	}
	got := s.attempt(s.t.Context(), r)
	if got == nil {
		s.t.Fatalf("no answer to %+v", r.order)
	}
	if got.rejection() != want || got.isReplay {
		s.t.Fatalf("%+v: rejection %q, want %q: %+v", r.order, got.rejection(), want, got)
	}
	if want != "" {
		return
	}
	if r.order.scenario().Price == 0 {
		m.usedFree++
	}
	m.accept(now, r.key, r.order, *got)
	if want := m.billing(r.order); got.Billing.String() != want.String() {
		s.t.Errorf("%+v: billing %s, want %s", r.order, got.Billing, want)
	}
	again := s.attempt(s.t.Context(), r)
	if again == nil {
		s.t.Fatalf("no answer to a repeat of %+v", r.order)
	}
	must.NoError(s.t, checkReplay(*got, *again))
}

// checkExpiredKeys repeats paid calls with expired keys, which must fail, and uses the same keys for other calls.
func (s *storm) checkExpiredKeys() {
	bought := slices.DeleteFunc(slices.Clone(s.requests), func(r *request) bool {
		return r.order.scenario().Price == 0 || !s.hasSucceeded(r) || strings.HasPrefix(r.order.key, predictableKey)
	})
	for range 12 {
		r := bought[rand.IntN(len(bought))]
		got := s.attempt(s.t.Context(), r)
		if got == nil || got.rejection() != "422 idempotency_key_reused charge_key_spent" {
			s.t.Errorf("%+v: %+v", r.order, got)
		}
		s.predict(r.team, r.key, r.order.key)
	}
}

// hasSucceeded reports whether an attempt of the request succeeded.
func (s *storm) hasSucceeded(r *request) bool {
	return slices.ContainsFunc(r.attempts, func(a attempt) bool { return a.answer != nil && a.answer.isSuccess() })
}
