package delivery

import (
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// The next step and its time are always shown.
func TestNextSteps(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		net    scriptedNetwork
		within time.Duration // time worked before the check
		step   Step          // none where empty
		later  bool          // it has a time that is to come
	}{
		"at first":  {step: StepSend},
		"published": {within: time.Minute},
		"failed":    {net: scriptedNetwork{commits: []step{{class: network.Rejected}}}, within: time.Minute},
		"slowed down": {net: scriptedNetwork{commits: repeatStep(3, step{class: network.Rate, after: 20 * time.Second})},
			within: time.Second, step: StepRetry, later: true},
		"made ready": {net: scriptedNetwork{prepares: repeatStep(9, step{wait: 10 * time.Second})}, within: time.Second,
			step: StepPrepare, later: true},
		"worked on": {net: scriptedNetwork{commits: []step{startsProcessing},
			resolves: repeatStep(9, stillProcessing)}, within: time.Second, step: StepResolve, later: true},
		"nobody knows": {net: scriptedNetwork{commits: []step{lostButSent}}, within: 2 * time.Minute,
			step: StepLookUp, later: true},
		"nobody knew":   {net: scriptedNetwork{commits: []step{lostButSent}}, within: 48 * time.Hour},
		"not connected": {net: scriptedNetwork{commits: []step{{class: network.AuthDead}}}, within: time.Minute},
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
				if c.later {
					s.work(t) // and now it waits
				}
				s.checkNext(t, c.step, c.later)
			})
		})
	}
}

// checkNext checks the displayed next step of the post's only account; an empty step means none.
func (s *env) checkNext(t *testing.T, step Step, later bool) {
	t.Helper()
	coming := must.Get(s.NextSteps(t.Context(), s.call.TeamID, s.post))(t)
	if step == "" {
		if len(coming) != 0 {
			t.Errorf("got %+v, want nothing", coming)
		}
		return
	}
	if len(coming) != 1 || coming[0].Step != step || coming[0].At.After(s.clock.Now()) != later ||
		coming[0].AccountID != s.account(t) {
		t.Fatalf("got %+v at %v, want %s", coming, s.clock.Now(), step)
	}
	if got := coming[0].Until; step == StepLookUp && !got.Equal(noon.Add(lookUpFor)) {
		t.Errorf("asked until %v", got)
	}
	if others, err := s.NextSteps(t.Context(), s.call.TeamID+1, s.post); err != nil || len(others) != 0 {
		t.Errorf("another team sees %+v, %v", others, err)
	}
}
