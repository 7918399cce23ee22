package delivery

import (
	"testing"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/testkit"
)

// A network that does not answer may still work on what it was sent: the time in which it has to be quiet begins anew
// with each look that it leaves without an answer.
func TestQuietBeginsAfterTheLastSilence(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(noon)
		n := scripted{commits: []step{lostGone}, resolves: []step{
			{says: network.Unknown, class: network.Transient},
			{says: network.Unknown, class: network.Transient},
			{says: network.Unknown, class: network.Processing},
		}, truthful: true}
		s := newStage(t, testkit.Open(t, url, clock), clock, &n)
		s.deliver(t, 10*time.Minute)
		if got := s.outcome(t); got != wellDone || n.committed != 2 || n.held != 1 {
			t.Fatalf("%+v after %d commits, %d held", got, n.committed, n.held)
		}
		for i, tried := range n.tried[1:] {
			if !tried.First.Equal(n.tried[0].First) {
				t.Errorf("look %d: first committed %v, then %v", i+2, n.tried[0].First, tried.First)
			}
		}
		silent, decided := n.tried[2].Last, n.tried[3].Last
		if !silent.After(n.tried[0].Last) || !decided.Equal(silent) {
			t.Errorf("last silence: %v", n.tried)
		}
	})
}
