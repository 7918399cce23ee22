package delivery

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/testkit"
)

// Lookups that fail from time to time never make the account unconfirmed, because the network answers the other
// lookups.
func TestIntermittentLookups(t *testing.T) {
	t.Parallel()
	failing := repeatStep(maxLookups-1, unknownAnswer)
	processing := step{verdict: network.Unknown, class: network.Processing}
	for name, answered := range map[string]step{"still processing": processing, "absent": {verdict: network.Absent}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := testkit.NewClock(noon)
			n := scriptedNetwork{commits: []step{lostNotSent, lostNotSent}, resolves: slices.Concat(failing, []step{answered}, failing,
				[]step{{verdict: network.Published}})}
			s := newEnv(t, testkit.Open(t, testkit.SQLite(t), clock), clock, &n)
			s.deliver(t, 5*time.Minute)
			if got := s.outcome(t); got != publishedOutcome || n.resolveCalls != 2*maxLookups {
				t.Errorf("%+v after %d lookups", got, n.resolveCalls)
			}
		})
	}
}

// After a commit without an answer, a lookup precedes every further commit, even if later commits fail otherwise.
func TestLookupBeforeEachResend(t *testing.T) {
	t.Parallel()
	for name, second := range map[string]step{
		"rate limited":    {class: network.RateLimited, after: 20 * time.Second},
		"transient error": {class: network.Transient},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testkit.EachDatabase(t, func(t *testing.T, url string) {
				clock := testkit.NewClock(noon)
				n := scriptedNetwork{commits: []step{lostNotSent, second}, truthful: true}
				s := newEnv(t, testkit.Open(t, url, clock), clock, &n)
				s.deliver(t, 10*time.Minute)
				if got := s.outcome(t); got != publishedOutcome || n.commitCalls != 3 || n.posts != 1 {
					t.Fatalf("%+v after %d commits, %d posts", got, n.commitCalls, n.posts)
				}
				if strings.Contains(n.callOrder, "CC") {
					t.Errorf("commits and lookups: %s", n.callOrder)
				}
			})
		})
	}
}
