package storm

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit/must"
)

// Environment variables that set the duration of a storm and reproduce an earlier storm.
const (
	stormVariable = "PRESSROOM_STORM"      // duration on each database, such as 15m
	seedVariable  = "PRESSROOM_STORM_SEED" // seed of the faults and the clients' choices
)

const (
	usualStorm = 30 * time.Second
	stuckAfter = 3 * time.Minute // maximum time without progress
	lastAnswer = time.Minute     // how long clients wait for responses after the faults
)

// TestStorm runs clients of all kinds while faults are injected, and then verifies the result.
func TestStorm(t *testing.T) {
	if testing.Short() {
		t.Skip("a storm takes its time")
	}
	lasts, seed, together := usualStorm, rand.Uint64(), true
	if text := os.Getenv(stormVariable); text != "" {
		lasts = must.Get(time.ParseDuration(text))(t)
		together = false // A long storm runs alone, to make more calls.
	}
	if text := os.Getenv(seedVariable); text != "" {
		seed = must.Get(strconv.ParseUint(text, 10, 64))(t)
	}
	if together {
		t.Parallel() // A short storm mostly waits.
	}
	for _, database := range []string{"sqlite", "postgres"} {
		t.Run(database, func(t *testing.T) {
			s := newSite(t, database == "postgres", seed) // Not parallel, because child processes use the environment.
			if together {
				t.Parallel()
			}
			s.runStorm(lasts, seed, true)
		})
	}
}

// runStorm runs one storm, from the first client to the verification.
func (s *site) runStorm(lasts time.Duration, seed uint64, withFaults bool) {
	s.t.Helper()
	s.t.Logf("the seed is %d; reproduce with %s=%d", seed, seedVariable, seed)
	s.start()
	s.addContent()
	s.use(lasts, seed, withFaults)
	s.waitIdle(stuckAfter)
	found := s.verify()
	s.logStatistics()
	for n, c := range found {
		if n == 50 {
			s.t.Errorf("and %d more complaints", len(found)-n)
			break
		}
		s.t.Errorf("%v", c)
	}
	if s.t.Failed() {
		s.logNodes()
	}
}

// use runs the clients for a while, with or without faults.
func (s *site) use(lasts time.Duration, seed uint64, withFaults bool) {
	wanting, stop := context.WithTimeout(context.Background(), lasts)
	defer stop()
	calls, end := context.WithCancel(context.Background())
	defer end()
	var clients, helpers, blowing sync.WaitGroup
	for n, work := range s.clients() {
		c := s.client(calls, work.team, seed+uint64(n))
		clients.Go(func() { work.do(c, wanting) })
	}
	for _, team := range s.teams[:2] {
		c := s.client(calls, team, seed)
		helpers.Go(func() { c.reconnectAll(wanting) })
	}
	if withFaults {
		blowing.Go(func() { s.injectFaults(wanting) })
	}
	blowing.Wait()
	<-wanting.Done()
	late := time.AfterFunc(lastAnswer, end)
	defer late.Stop()
	clients.Wait()
	helpers.Wait()
}

type work struct {
	team *crew
	do   func(*client, context.Context)
}

// clients returns the clients of all teams.
func (s *site) clients() []work {
	var out []work
	for _, team := range s.teams[:2] {
		for _, do := range []func(*client, context.Context){
			(*client).createPosts, (*client).createPosts, (*client).createPosts, (*client).createPosts, (*client).spend,
			(*client).sendFiles, (*client).readRandomly,
		} {
			out = append(out, work{team, do})
		}
	}
	return append(out, work{s.teams[0], (*client).browse}, work{s.teams[1], (*client).browse},
		work{s.teams[2], (*client).spend}, work{s.teams[2], (*client).readRandomly})
}

// logStatistics logs statistics.
func (s *site) logStatistics() {
	b := s.book
	b.mu.Lock()
	defer b.mu.Unlock()
	kept := map[postState]int{}
	for _, p := range b.posts {
		kept[p.state]++
	}
	s.t.Logf("%d posts %v, %d paid calls, %d files, %d keys", len(b.posts), kept, len(b.paid), len(b.sent), len(b.keys))
	s.t.Logf("faults:\n%s", formatCounts(b.faults))
	s.transport.mu.Lock()
	s.t.Logf("requests to networks: %v, connections cut: %d", s.transport.counts, s.gate.count.Load())
	s.transport.mu.Unlock()
	s.t.Logf("answers:\n%s", formatCounts(b.answers))
	var lines []string
	for _, what := range slices.Sorted(maps.Keys(b.waits)) {
		w := b.waits[what]
		if !strings.HasPrefix(what, "outcome") {
			lines = append(lines,
				fmt.Sprintf("  %-34s %6d at once of %6d, half under %v, 99 of 100 under %v, all under %v", what, len(w),
					b.asked[what], percentile(w, 500), percentile(w, 990), percentile(w, 1000)))
		}
	}
	s.t.Logf("answered at once:\n%s", strings.Join(lines, "\n"))
}

func formatCounts(counts map[string]int) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, fmt.Sprintf("  %6d %s", counts[name], name))
	}
	return strings.Join(out, "\n")
}
