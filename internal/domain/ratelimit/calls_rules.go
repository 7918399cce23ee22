package ratelimit

import (
	"time"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/teamtime"
)

// dayCount counts a team's free calls on one day. Times are microseconds since 1970.
type dayCount struct {
	dayStart int64 // start of the count, unique among the team's days
	dayEnd   int64 // end of the day
	used     int64 // calls leased to nodes or counted individually
}

// at returns the count at the time now in the team's time zone. A team that changes its zone does not get a second
// allowance: the count restarts at 0 only if the current day began at or after the end of the counted day. Otherwise
// the count continues and ends with the day in the new zone.
func (d dayCount) at(now time.Time, zone *time.Location) dayCount {
	start, end := teamtime.Day(now, zone)
	switch since := db.Micros(start); {
	case db.Micros(now) < d.dayStart:
		return d // another node's clock is ahead, and its new day has begun
	case since < d.dayEnd:
		return dayCount{dayStart: d.dayStart, dayEnd: db.Micros(end), used: d.used}
	default:
		return dayCount{dayStart: since, dayEnd: db.Micros(end)}
	}
}

const (
	leaseDivisor = 100   // a lease is 1/leaseDivisor of the remaining calls, so that a crash loses few calls
	maxLease     = 1_000 // calls
)

// leaseSize returns the number of calls in a new lease if the team has the given number of calls left.
func leaseSize(remaining int64) int64 {
	if remaining <= 0 {
		return 0
	}
	return min(max(remaining/leaseDivisor, 1), maxLease)
}
