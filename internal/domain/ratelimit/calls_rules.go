package ratelimit

import (
	"time"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/teamtime"
)

// day is the count of a team's free calls on one day. Times are microseconds since 1970.
type day struct {
	since int64 // start of the count, unique among the team's days
	until int64 // end of the day
	used  int64 // calls leased to nodes or counted individually
}

// at returns the count at an instant. A team that changes its zone gets no second allowance. The count restarts at 0
// only if the new day begins after the counted day ended. Otherwise it continues and ends with the new zone's day.
func (d day) at(now time.Time, zone *time.Location) day {
	begins, ends := teamtime.Day(now, zone)
	switch since := db.Micros(begins); {
	case db.Micros(now) < d.since:
		return d // another node's clock is ahead, and its new day has begun
	case since < d.until:
		return day{since: d.since, until: db.Micros(ends), used: d.used}
	default:
		return day{since: since, until: db.Micros(ends)}
	}
}

const (
	leaseDivisor = 100   // a lease is 1/leaseDivisor of the remaining calls, so that a crashed node loses few
	maxLease     = 1_000 // calls
)

// leaseSize returns the number of calls in a new lease if the team has left calls left.
func leaseSize(left int64) int64 {
	if left <= 0 {
		return 0
	}
	return min(max(left/leaseDivisor, 1), maxLease)
}
