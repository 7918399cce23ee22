package money

import (
	"testing"

	"pressroom/internal/testkit"
	"pressroom/internal/testkit/must"
	"pressroom/test/money/standin"
)

// A call without a slot for its job rolls back its reservation, and its key can be used again.
func TestJobWithoutSlot(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		in := newInside(t, url, 1, 100)
		in.places = 2
		in.reopen(t, 0)
		m := in.team(t, "UTC", 1)
		in.grant(t, m, 100, "start")
		first := in.mustBuy(t, m, order{tool: standin.Search, query: "5 all", idem: "a"})
		in.mustBuy(t, m, order{tool: standin.Search, query: "5 none", idem: "b"})
		late := order{tool: standin.Search, query: "7 part", idem: "c"}
		for range 2 {
			got, err := in.nodes[0].ask(t.Context(), m.keys[0], late, false)
			if err != nil || got.refusal() != "429 rate_limited jobs_in_flight" || got.after == "" {
				t.Fatalf("%v: %s", err, got.raw)
			}
			in.mustShow(t, m)
		}
		if left := in.nodes[0].left(t, m.keys[0]); left != 100 {
			t.Errorf("%d free calls are left", left)
		}
		in.mustBuy(t, m, order{tool: standin.Tracking, report: "r", query: "3 all", idem: "c"}) // has no job
		must.NoError(t, in.nodes[0].do(t.Context(), first.job()))
		m.end(m.searches[0])
		in.mustShow(t, m)
		in.mustBuy(t, m, late)
	})
}

// mustBuy makes an accepted call and compares the result with the model.
func (in *inside) mustBuy(t *testing.T, m *modelTeam, o order) answer {
	t.Helper()
	a := in.mustAnswer(t.Context(), t, m, o)
	if a.replayed {
		t.Errorf("%+v: %s", o, a.raw)
	}
	m.accept(in.clock.Now(), m.keys[0], o, a)
	in.mustShow(t, m)
	return a
}
