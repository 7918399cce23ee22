package ratelimit

import (
	"time"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/teamtime"
)

// dayCount is the count of a team's free calls on one day. Times are microseconds since 1970.
type dayCount struct {
	since int64 // start of the count, unique among the team's days
	until int64 // end of the day
	used  int64 // calls leased to nodes or counted individually
}

// at returns the count at an instant. A team that changes its zone gets no second allowance. The count restarts at 0
// only if the new day begins after the counted day ended. Otherwise it continues and ends with the new zone's day.
func (d dayCount) at(now time.Time, zone *time.Location) dayCount {
	start, end := teamtime.Day(now, zone)
	switch since := db.Micros(start); {
	case db.Micros(now) < d.since:
		return d // another node's clock is ahead, and its new day has begun
	case since < d.until:
		return dayCount{since: d.since, until: db.Micros(end), used: d.used}
	default:
		return dayCount{since: since, until: db.Micros(end)}
	}
}

const (
	leaseDivisor = 100   // a lease is 1/leaseDivisor of the remaining calls, so that a crashed node loses few
	maxLease     = 1_000 // calls
)

// leaseSize returns the number of calls in a new lease if the team has left calls left.
func leaseSize(remaining int64) int64 {
	if remaining <= 0 {
		return 0
	}
	return min(max(remaining/leaseDivisor, 1), maxLease)
}
