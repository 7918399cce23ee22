package ratelimit

import (
	"time"

	"pressroom/internal/platform/db"
	"pressroom/internal/teamtime"
)

// day counts the free calls of a team's day. Times are microseconds since 1970.
type day struct {
	since int64 // since when they are counted; no other day of the team begins there
	until int64 // when the day ends
	used  int64 // calls handed out to nodes, or counted by themselves
}

// at is the count as it stands at an instant. A team that changes its zone gets no second allowance: only a day that
// begins after the counted one has ended begins at 0. Any other has instants in common with it, so it goes on
// with the same count and ends when the zone's day does.
func (d day) at(now time.Time, zone *time.Location) day {
	begins, ends := teamtime.Day(now, zone)
	switch since := db.Micros(begins); {
	case db.Micros(now) < d.since:
		return d // another node's clock is ahead of ours, and its new day has begun
	case since < d.until:
		return day{since: d.since, until: db.Micros(ends), used: d.used}
	default:
		return day{since: since, until: db.Micros(ends)}
	}
}

const (
	leasePart = 100   // a lease is this part of what is left: the fewer are left, the smaller is what a dead node loses
	maxLease  = 1_000 // calls
)

// leaseSize is how many calls a node takes at once where so many are left.
func leaseSize(left int64) int64 {
	if left <= 0 {
		return 0
	}
	return min(max(left/leasePart, 1), maxLease)
}
