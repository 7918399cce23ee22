// Package moment reads and writes the times of the contract: instants shown in the team's zone and in UTC,
// and times sent without an offset, which are the team's wall clock (spec, Conventions).
package moment

import (
	"errors"
	"strings"
	"time"
)

// Moment is one instant as every answer shows it. Either string may be sent back as an argument.
type Moment struct {
	Team string `json:"team" jsonschema:"The instant in the team's time zone, ISO 8601 with its offset."`
	UTC  string `json:"utc" jsonschema:"The same instant in UTC, ISO 8601 ending in Z."`
}

// At shows an instant in a zone and in UTC, with a fraction of a second only where there is one.
func At(t time.Time, zone *time.Location) Moment {
	t = t.Truncate(time.Microsecond)
	return Moment{Team: stamp(t.In(zone)), UTC: stamp(t.UTC())}
}

// Maybe is At for a time that may not be there (zero).
func Maybe(t time.Time, zone *time.Location) *Moment {
	if t.IsZero() {
		return nil
	}
	m := At(t, zone)
	return &m
}

func stamp(t time.Time) string {
	buf := make([]byte, 0, 35)
	buf = t.AppendFormat(buf, time.RFC3339Nano)
	return string(buf)
}

// What can be wrong with a time that was sent.
var (
	ErrMalformed = errors.New("not an ISO 8601 time")
	ErrSkipped   = errors.New("the clock skips this time")
	ErrNoTime    = errors.New("a date without a time")
)

// Parse reads a time with a time part. Without an offset it is read in the zone: a time that the clock skips
// is ErrSkipped, one that occurs twice is the earlier. A date alone is ErrNoTime.
func Parse(text string, zone *time.Location) (time.Time, error) {
	text = mendPlus(text)
	if _, err := time.Parse(time.DateOnly, text); err == nil {
		return time.Time{}, ErrNoTime
	}
	wall, offset, found := cutOffset(text)
	t, err := parseWall(wall)
	if err != nil {
		return time.Time{}, err
	}
	if found {
		return writable(t.Add(-offset), zone)
	}
	t, err = earliest(t, zone)
	if err != nil {
		return t, err
	}
	return writable(t, zone)
}

// writable refuses an instant whose year has no four digits in the zone or in UTC: no answer could show it.
func writable(t time.Time, zone *time.Location) (time.Time, error) {
	for _, year := range []int{t.UTC().Year(), t.In(zone).Year()} {
		if year < 1 || year > 9999 {
			return time.Time{}, ErrMalformed
		}
	}
	return t, nil
}

// ParseBound reads a time or a date; a date is the first instant of that day in the zone.
func ParseBound(text string, zone *time.Location) (time.Time, error) {
	t, err := Parse(text, zone)
	if !errors.Is(err, ErrNoTime) {
		return t, err
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return time.Time{}, ErrMalformed
	}
	return StartOfDay(day.Year(), day.Month(), day.Day(), zone), nil
}

// StartOfDay is the first instant of a date in a zone, also where the clock skips midnight.
func StartOfDay(year int, month time.Month, day int, zone *time.Location) time.Time {
	midnight := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	for step := range 49 {
		if t, err := earliest(midnight.Add(time.Duration(step)*30*time.Minute), zone); err == nil {
			return t
		}
	}
	return time.Date(year, month, day, 0, 0, 0, 0, zone)
}

// StartOfMonth is the first instant of the month that t falls in, in the zone, and that of the month after.
func StartOfMonth(t time.Time, zone *time.Location) (time.Time, time.Time) {
	local := t.In(zone)
	next := time.Date(local.Year(), local.Month()+1, 1, 0, 0, 0, 0, time.UTC)
	return StartOfDay(local.Year(), local.Month(), 1, zone), StartOfDay(next.Year(), next.Month(), 1, zone)
}

// Day is the first instant of the day that t falls in, in the zone, and that of the day after.
func Day(t time.Time, zone *time.Location) (time.Time, time.Time) {
	local := t.In(zone)
	next := time.Date(local.Year(), local.Month(), local.Day()+1, 0, 0, 0, 0, time.UTC)
	return StartOfDay(local.Year(), local.Month(), local.Day(), zone), StartOfDay(next.Year(), next.Month(), next.Day(), zone)
}

const day = 24 * 60 * 60 // seconds

// mendPlus gives back the + of an offset that a query string turned into a space.
func mendPlus(text string) string {
	if i := strings.LastIndexByte(text, ' '); i > len("2006-01-02") {
		return text[:i] + "+" + text[i+1:]
	}
	return text
}

// cutOffset takes Z, ±hh:mm, ±hhmm or ±hh off the end of a time.
func cutOffset(text string) (string, time.Duration, bool) {
	clock := strings.IndexAny(text, "Tt")
	if clock < 0 {
		return text, 0, false
	}
	if end := len(text) - 1; text[end] == 'Z' || text[end] == 'z' {
		return text[:end], 0, true
	}
	i := strings.LastIndexAny(text, "+-")
	if i < clock {
		return text, 0, false
	}
	for _, layout := range []string{"-07:00", "-0700", "-07"} {
		if t, err := time.Parse(layout, text[i:]); err == nil {
			_, seconds := t.Zone()
			if seconds <= -day || seconds >= day {
				return text, 0, false
			}
			return text[:i], time.Duration(seconds) * time.Second, true
		}
	}
	return text, 0, false
}

// parseWall reads a wall clock as if it were UTC.
func parseWall(text string) (time.Time, error) {
	text = strings.Replace(text, "t", "T", 1)
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04"} {
		t, err := time.Parse(layout, text)
		if err == nil && !strings.Contains(text, ",") && t.Year() >= 1 {
			return t.Truncate(time.Microsecond), nil
		}
	}
	return time.Time{}, ErrMalformed
}

// earliest finds the first instant at which the zone's clocks show this wall clock.
func earliest(wall time.Time, zone *time.Location) (time.Time, error) {
	var found time.Time
	for _, near := range []time.Duration{-26 * time.Hour, 26 * time.Hour} {
		_, offset := wall.Add(near).In(zone).Zone()
		t := wall.Add(-time.Duration(offset) * time.Second)
		if shows(t, wall, zone) && (found.IsZero() || t.Before(found)) {
			found = t
		}
	}
	if found.IsZero() {
		return found, ErrSkipped
	}
	return found, nil
}

func shows(t, wall time.Time, zone *time.Location) bool {
	_, offset := t.In(zone).Zone()
	return t.Add(time.Duration(offset) * time.Second).Equal(wall)
}
