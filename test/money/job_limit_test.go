package money

import (
	"testing"

	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/test/money/standin"
)

// A call that exceeds the limit of concurrent jobs is not charged. Its Idempotency-Key can be used again.
func TestJobLimitRollsBackCharge(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		in := newInProcess(t, url, 1, 100)
		in.maxJobs = 2
		in.reopen(t, 0)
		m := in.team(t, "UTC", 1)
		in.grant(t, m, 100, "start")
		first := in.mustBuy(t, m, apiCall{tool: standin.Search, query: "5 all", key: "a"})
		in.mustBuy(t, m, apiCall{tool: standin.Search, query: "5 none", key: "b"})
		late := apiCall{tool: standin.Search, query: "7 part", key: "c"}
		for range 2 {
			got, err := in.nodes[0].call(t.Context(), m.keys[0], late, false)
			if err != nil || got.rejection() != "429 rate_limited jobs_in_flight" || got.retryAfter == "" {
				t.Fatalf("%v: %s", err, got.raw)
			}
			in.mustMatch(t, m)
		}
		if left := in.nodes[0].freeCallsLeft(t, m.keys[0]); left != 100 {
			t.Errorf("%d free calls left, want 100", left)
		}
		in.mustBuy(t, m, apiCall{tool: standin.Tracking, report: "r", query: "3 all", key: "c"}) // starts no job
		must.NoError(t, in.nodes[0].runJob(t.Context(), first.jobID()))
		m.end(m.searches[0])
		in.mustMatch(t, m)
		in.mustBuy(t, m, late)
	})
}

// mustBuy makes a call that must succeed and compares the result with the model.
func (in *inProcess) mustBuy(t *testing.T, m *modelTeam, o apiCall) answer {
	t.Helper()
	a := in.mustAnswer(t.Context(), t, m, o)
	if a.isReplay {
		t.Errorf("%+v: %s", o, a.raw)
	}
	m.accept(in.clock.Now(), m.keys[0], o, a)
	in.mustMatch(t, m)
	return a
}
