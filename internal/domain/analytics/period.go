package analytics

import (
	"time"

	"pressroom.example/pressroom/internal/teamtime"
)

// Period is a number of whole days in a time zone.
type Period struct {
	Days  int
	Until time.Time // a time on the last day, in the zone; now if that day is today
}

// LastDays returns the period of the given number of days that ends with today, in a time zone.
func (s *Service) LastDays(zone *time.Location, days int) Period {
	return Period{days, s.db.Now().In(zone)}
}

// PeriodOf returns the period from the date first to the date last, including both, in a time zone. The dates are given
// as midnight UTC.
func PeriodOf(first, last time.Time, zone *time.Location) Period {
	end := teamtime.StartOfDay(last.Year(), last.Month(), last.Day()+1, zone)
	return Period{int(last.Sub(first)/(24*time.Hour)) + 1, end.Add(-time.Microsecond).In(zone)}
}

// Start returns the start of the first day.
func (p Period) Start() time.Time { return p.daysBeforeEnd(p.Days) }

// Past returns the start of the previous period of the same length.
func (p Period) Past() time.Time { return p.daysBeforeEnd(2 * p.Days) }

// End returns the end of the last day.
func (p Period) End() time.Time { return p.daysBeforeEnd(0) }

// daysBeforeEnd returns the time that is the given number of days before the end of the last day.
func (p Period) daysBeforeEnd(days int) time.Time {
	return teamtime.StartOfDay(p.Until.Year(), p.Until.Month(), p.Until.Day()+1-days, p.Until.Location()).In(p.Until.Location())
}
