package money

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"pressroom/internal/domain/idempotency"
	"pressroom/internal/testkit/must"
	"pressroom/test/money/standin"
)

// certain makes calls one after the other, on a day without lost free calls, so their results are predictable.
func (s *storm) certain(phase int) {
	s.moveTo(s.now().Add(idempotency.Retention + time.Hour))
	must.NoError(s.t, s.controls.Hold(true))
	for _, m := range s.teams {
		m.free, m.searches = 0, nil
	}
	for i := range 40 {
		m := s.teams[rand.IntN(len(s.teams))]
		s.predict(m, m.keys[rand.IntN(len(m.keys))], fmt.Sprint(certainly, phase, " ", i))
	}
	s.checkForgotten()
	for _, m := range s.teams {
		s.checkFigures(m) // including reservations
	}
	must.NoError(s.t, s.controls.Hold(false))
	s.awaitWork()
	for _, m := range s.teams {
		for _, c := range m.searches {
			m.end(c)
		}
		s.checkFigures(m)
	}
	for _, p := range s.nodes {
		p.stop() // it returns its lease
	}
	for _, m := range s.teams {
		if used := s.number(`SELECT used FROM free_calls WHERE team_id = ?`, m.id); used != m.free {
			s.t.Errorf("team %d: %d free calls are used instead of %d", m.id, used, m.free)
		}
	}
	s.calm()
}

// certainly begins the Idempotency-Keys of such calls.
const certainly = "certainly "

// predict makes a call with a key, and repeats it.
func (s *storm) predict(m *modelTeam, key *modelKey, idem string) {
	r := &request{team: m, key: key, order: anOrder()}
	for r.order.tool == standin.Faulty {
		r.order = anOrder()
	}
	r.order.query, r.order.idem = fmt.Sprint(r.order.query, " certain ", len(s.requests)), idem
	s.requests = append(s.requests, r)
	now := s.now()
	want := ""
	if price := r.order.words().Price; price > 0 {
		want = m.refusalFor(now, r.key, price)
	}
	got := s.attempt(s.t.Context(), r)
	if got == nil {
		s.t.Fatalf("no answer to %+v", r.order)
	}
	if got.refusal() != want || got.replayed {
		s.t.Fatalf("%+v: %q instead of %q: %+v", r.order, got.refusal(), want, got)
	}
	if want != "" {
		return
	}
	if r.order.words().Price == 0 {
		m.free++
	}
	m.accept(now, r.key, r.order, *got)
	if want := m.billing(r.order); got.Billing.String() != want.String() {
		s.t.Errorf("%+v: billing %s instead of %s", r.order, got.Billing, want)
	}
	again := s.attempt(s.t.Context(), r)
	if again == nil {
		s.t.Fatalf("no answer to a repeat of %+v", r.order)
	}
	must.NoError(s.t, repeats(*got, *again))
}

// checkForgotten repeats purchases of the day before: their keys have expired and can be used for other requests.
func (s *storm) checkForgotten() {
	bought := slices.DeleteFunc(slices.Clone(s.requests), func(r *request) bool {
		return r.order.words().Price == 0 || !s.has(r) || strings.HasPrefix(r.order.idem, certainly)
	})
	for range 12 {
		r := bought[rand.IntN(len(bought))]
		got := s.attempt(s.t.Context(), r)
		if got == nil || got.refusal() != "422 idempotency_key_reused charge_key_spent" {
			s.t.Errorf("%+v: %+v", r.order, got)
		}
		s.predict(r.team, r.key, r.order.idem)
	}
}

func (s *storm) has(r *request) bool {
	return slices.ContainsFunc(r.attempts, func(a attempt) bool { return a.answer != nil && a.answer.ok() })
}
