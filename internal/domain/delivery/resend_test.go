package delivery

import (
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/testkit"
)

// After a commit without an answer, a lookup precedes every further commit, even with other failures between.
func TestLookupBeforeEachResend(t *testing.T) {
	t.Parallel()
	for name, between := range map[string]step{
		"slowed down": {class: network.Rate, after: 20 * time.Second},
		"failing":     {class: network.Transient},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testkit.EachDatabase(t, func(t *testing.T, url string) {
				clock := testkit.NewClock(noon)
				n := scriptedNetwork{commits: []step{lostNotSent, between}, truthful: true}
				s := newEnv(t, testkit.Open(t, url, clock), clock, &n)
				s.deliver(t, 10*time.Minute)
				if got := s.outcome(t); got != publishedOutcome || n.committed != 3 || n.held != 1 {
					t.Fatalf("%+v after %d commits, %d held", got, n.committed, n.held)
				}
				if strings.Contains(n.order, "CC") {
					t.Errorf("commits and looks: %s", n.order)
				}
			})
		})
	}
}
