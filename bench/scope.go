package main

import "time"

// scope defines how much is measured and for how long.
type scope struct {
	sizes             map[string][]int // numbers of posts for which calls are compared, by database
	conns             []int            // numbers of connections
	rounds            int              // number of rounds
	warmUp            time.Duration    // warm-up before each round
	roundLength       time.Duration    // length of a round, excluding the warm-up
	starts            int              // number of starts to measure
	idle              time.Duration    // pause before the idle memory is read
	growth            []int            // two numbers of posts, for measureGrowth; nil to skip this measurement
	growthRounds      int              // number of rounds in measureGrowth
	growthRoundLength time.Duration    // length of a round in measureGrowth
	reportRounds      int              // number of rounds in measureReports
}

const (
	thousand = 1_000
	million  = 1_000_000
)

var fullScope = scope{
	sizes:  map[string][]int{"sqlite": {100 * thousand, million}, "postgres": {100 * thousand, million}},
	conns:  []int{8, 64},
	rounds: 5, warmUp: 200 * time.Millisecond, roundLength: 1500 * time.Millisecond,
	starts: 5, idle: 5 * time.Second,
	growth: []int{10 * thousand, million}, growthRounds: 5, growthRoundLength: 3 * time.Second,
	reportRounds: 5,
}

// quickScope is a scope that takes less than a minute. It detects only large regressions.
var quickScope = scope{
	sizes:  map[string][]int{"sqlite": {100 * thousand}, "postgres": {10 * thousand}},
	conns:  []int{8, 64},
	rounds: 3, warmUp: 60 * time.Millisecond, roundLength: 220 * time.Millisecond,
	starts: 3, idle: 2 * time.Second,
	reportRounds: 1,
}

// yearTeams is the number of teams in the largest database with years of data.
var yearTeams = map[string]int{"sqlite": 100, "postgres": fullTeams}

const (
	yearRounds = 21
	yearTimes  = 15
)

const (
	startTarget    = 0.5  // seconds from exec to the first response
	residentTarget = 60   // MiB when idle
	growthTarget   = 1.25 // maximum ratio of the p99 with the larger table to the p99 with the smaller table
)
