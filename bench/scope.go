package main

import "time"

// scope says how much is measured and for how long.
type scope struct {
	sizes                 map[string][]int // by database: how many posts there are while calls are compared
	conns                 []int
	rounds                int
	warm                  time.Duration // before each round; not counted
	round                 time.Duration
	starts                int            // how often the start is timed
	idle                  time.Duration  // how long the program rests before its memory is read
	growth                []int          // the two sizes between which a page must not grow dearer; none: not measured
	ratios                int            // how many ratios of such a pair are taken
	growFor               time.Duration  // one round of such a pair
	years                 map[string]int // by database: how many teams' three years the largest service holds, where years are measured
	yearRounds, yearTimes int            // how many rounds, and how often each asks
	crowds                int            // how often reads are held against a hundred reports
}

const (
	thousand = 1_000
	million  = 1_000_000
)

var fullScope = scope{
	sizes:  map[string][]int{"sqlite": {100 * thousand, million}, "postgres": {100 * thousand, million}},
	conns:  []int{8, 64},
	rounds: 5, warm: 200 * time.Millisecond, round: 1500 * time.Millisecond,
	starts: 5, idle: 5 * time.Second,
	growth: []int{10 * thousand, million}, ratios: 5, growFor: 3 * time.Second,
	crowds: 5,
	years:  map[string]int{"sqlite": 100, "postgres": fullTeams}, yearRounds: 21, yearTimes: 15,
}

// quickScope ends within a minute. It shows where something went wrong, not what exactly it costs.
var quickScope = scope{
	sizes:  map[string][]int{"sqlite": {100 * thousand}, "postgres": {10 * thousand}},
	conns:  []int{8, 64},
	rounds: 3, warm: 60 * time.Millisecond, round: 220 * time.Millisecond,
	starts: 3, idle: 2 * time.Second,
	crowds: 1,
	years:  map[string]int{"sqlite": 50, "postgres": 50}, yearRounds: 3, yearTimes: 5,
}

const (
	startTarget    = 0.5  // seconds from exec to the first answer
	residentTarget = 60   // MiB when idle
	growthTarget   = 1.25 // p99 at the larger size over p99 at the smaller
)
