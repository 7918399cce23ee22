package delivery

import (
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// NextSteps returns the next step of each unfinished account and its time.
func TestNextSteps(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		net    scriptedNetwork
		within time.Duration // how long to deliver before the check
		step   Step          // empty if no step is expected
		future bool          // whether the step is in the future
	}{
		"before the first attempt": {step: StepSend},
		"published":                {within: time.Minute},
		"failed":                   {net: scriptedNetwork{commits: []step{{class: network.Rejected}}}, within: time.Minute},
		"rate limited": {net: scriptedNetwork{commits: repeatStep(3, step{class: network.RateLimited,
			after: 20 * time.Second})}, within: time.Second, step: StepRetry, future: true},
		"preparing": {net: scriptedNetwork{prepares: repeatStep(9, step{wait: 10 * time.Second})}, within: time.Second,
			step: StepPrepare, future: true},
		"processing": {net: scriptedNetwork{commits: []step{startsProcessing},
			resolves: repeatStep(9, stillProcessing)}, within: time.Second, step: StepResolve, future: true},
		"unconfirmed": {net: scriptedNetwork{commits: []step{lostButSent}}, within: 2 * time.Minute,
			step: StepLookUp, future: true},
		"unconfirmed, lookups ended": {net: scriptedNetwork{commits: []step{lostButSent}}, within: 48 * time.Hour},
		"token revoked":              {net: scriptedNetwork{commits: []step{{class: network.ReconnectRequired}}}, within: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testkit.EachDatabase(t, func(t *testing.T, url string) {
				clock := testkit.NewClock(noon)
				n := c.net
				s := newEnv(t, testkit.Open(t, url, clock), clock, &n)
				if c.within > 0 {
					s.deliver(t, c.within)
				}
				if c.future {
					s.deliverDue(t) // starts a wait
				}
				s.checkNext(t, c.step, c.future)
			})
		})
	}
}

// checkNext checks the next step of the post's only account. An empty step means that no step is expected.
func (s *env) checkNext(t *testing.T, step Step, future bool) {
	t.Helper()
	steps := must.Get(s.NextSteps(t.Context(), s.call.TeamID, s.post))(t)
	if step == "" {
		if len(steps) != 0 {
			t.Errorf("got %+v, want nothing", steps)
		}
		return
	}
	if len(steps) != 1 || steps[0].Step != step || steps[0].At.After(s.clock.Now()) != future ||
		steps[0].AccountID != s.account(t) {
		t.Fatalf("got %+v at %v, want %s", steps, s.clock.Now(), step)
	}
	if got := steps[0].Until; step == StepLookUp && !got.Equal(noon.Add(unconfirmedLookupPeriod)) {
		t.Errorf("lookups until %v", got)
	}
	if others, err := s.NextSteps(t.Context(), s.call.TeamID+1, s.post); err != nil || len(others) != 0 {
		t.Errorf("another team sees %+v, %v", others, err)
	}
}
