// Package teamtime parses and formats the times of the contract. Responses have instants in the team's zone and in UTC.
// A time sent without an offset is in the team's zone (spec, Conventions).
package teamtime

import (
	"errors"
	"strings"
	"time"
)

// Moment is an instant in the format of all API responses. Both strings are valid arguments.
type Moment struct {
	Team string `json:"team" jsonschema:"The instant in the team's time zone, ISO 8601 with its offset."`
	UTC  string `json:"utc" jsonschema:"The same instant in UTC, ISO 8601 ending in Z."`
}

// At returns the Moment of a time, truncated to microseconds.
func At(t time.Time, zone *time.Location) Moment {
	t = t.Truncate(time.Microsecond)
	return Moment{Team: format(t.In(zone)), UTC: format(t.UTC())}
}

// AtOrNil returns the Moment of a time, or nil for the zero time.
func AtOrNil(t time.Time, zone *time.Location) *Moment {
	if t.IsZero() {
		return nil
	}
	m := At(t, zone)
	return &m
}

func format(t time.Time) string {
	buf := make([]byte, 0, 35)
	buf = t.AppendFormat(buf, time.RFC3339Nano)
	return string(buf)
}

// The errors of Parse.
var (
	ErrMalformed = errors.New("not an ISO 8601 time")
	ErrSkipped   = errors.New("this local time does not exist because the clock is set forward")
	ErrNoTime    = errors.New("a date without a time")
)

// Parse parses a time: any time of RFC 3339, and from ISO 8601 the basic format (20270504T100000Z), reduced precision
// (2027-05-04T10), a fraction of the last part (10:30,5) and 24:00, which is 00:00 of the next day. As in POSIX, second
// 60 is the first second of the next minute. It truncates to microseconds.
//
// A time without an offset is in the zone. If the zone's clock skips it, the error is ErrSkipped; if it occurs twice,
// Parse returns the earlier. A date without a time is ErrNoTime. Week dates, ordinal dates and years of more than four
// digits are ErrMalformed. The year of the result is -1 to 10000 in UTC, so that every zone has the last second of
// 9999.
func Parse(text string, zone *time.Location) (time.Time, error) {
	day, rest, err := cutDate(text)
	switch {
	case err != nil:
		return time.Time{}, err
	case rest == "":
		return time.Time{}, ErrNoTime
	}
	isBasic := text[4] != '-'
	clock, offset, found, err := cutOffset(rest[1:])
	if err != nil {
		return time.Time{}, err
	}
	timeOfDay, err := parseClock(clock, isBasic)
	if err != nil {
		return time.Time{}, err
	}
	wall := day.Add(timeOfDay).Truncate(time.Microsecond)
	if found {
		return wall.Add(-offset), nil
	}
	return resolveWallTime(wall, zone)
}

// ParseBound parses a time or a date. A date is the first instant of that day in the zone.
func ParseBound(text string, zone *time.Location) (time.Time, error) {
	t, err := Parse(text, zone)
	if !errors.Is(err, ErrNoTime) {
		return t, err
	}
	day, _, err := cutDate(text)
	if err != nil {
		return time.Time{}, err
	}
	return StartOfDay(day.Year(), day.Month(), day.Day(), zone), nil
}

// StartOfDay returns the first instant of a date in a zone, even if the zone's clock skips midnight.
func StartOfDay(year int, month time.Month, day int, zone *time.Location) time.Time {
	midnight := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	for step := range 49 {
		if t, err := resolveWallTime(midnight.Add(time.Duration(step)*30*time.Minute), zone); err == nil {
			return t
		}
	}
	return time.Date(year, month, day, 0, 0, 0, 0, zone)
}

// Month returns the start of the month of t in the zone, and the start of the next month.
func Month(t time.Time, zone *time.Location) (time.Time, time.Time) {
	local := t.In(zone)
	next := time.Date(local.Year(), local.Month()+1, 1, 0, 0, 0, 0, time.UTC)
	return StartOfDay(local.Year(), local.Month(), 1, zone), StartOfDay(next.Year(), next.Month(), 1, zone)
}

// Day returns the start of the day of t in the zone, and the start of the next day.
func Day(t time.Time, zone *time.Location) (time.Time, time.Time) {
	local := t.In(zone)
	next := time.Date(local.Year(), local.Month(), local.Day()+1, 0, 0, 0, 0, time.UTC)
	return StartOfDay(local.Year(), local.Month(), local.Day(), zone),
		StartOfDay(next.Year(), next.Month(), next.Day(), zone)
}

// cutDate parses the date at the start of a text, in the extended or the basic format. It returns midnight UTC of that
// date and the rest of the text, which is empty or begins with a T or a space (RFC 3339, section 5.6).
func cutDate(text string) (time.Time, string, error) {
	layout := "20060102"
	if len(text) > 4 && text[4] == '-' {
		layout = time.DateOnly
	}
	if len(text) < len(layout) {
		return time.Time{}, "", ErrMalformed
	}
	day, err := time.Parse(layout, text[:len(layout)])
	rest := text[len(layout):]
	if err != nil || rest != "" && !strings.ContainsRune("Tt ", rune(rest[0])) {
		return time.Time{}, "", ErrMalformed
	}
	return day, rest, nil
}

// cutOffset removes Z, ±hh:mm, ±hhmm or ±hh from the end of a time of day and reports whether there was one. A space
// counts as a +, because query strings decode + as a space.
func cutOffset(text string) (string, time.Duration, bool, error) {
	i := strings.IndexAny(text, "Zz+- ")
	if i < 0 {
		return text, 0, false, nil
	}
	clock, sign, offset := text[:i], text[i], text[i+1:]
	if sign == 'Z' || sign == 'z' {
		if offset != "" {
			return "", 0, false, ErrMalformed
		}
		return clock, 0, true, nil
	}
	parts, ok := parsePairs(offset, !strings.Contains(offset, ":"))
	if !ok || len(parts) > 2 || parts[0] > 23 || len(parts) == 2 && parts[1] > 59 {
		return "", 0, false, ErrMalformed
	}
	d := clockDuration(parts)
	if sign == '-' {
		d = -d
	}
	return clock, d, true, nil
}

// units are the units of the parts of a time of day.
var units = [...]time.Duration{time.Hour, time.Minute, time.Second}

// parseClock parses a time of day and returns the time since midnight. The form is hh, hh:mm or hh:mm:ss, without
// colons in the basic format. The last part may have a fraction.
func parseClock(text string, isBasic bool) (time.Duration, error) {
	digits, fraction := text, ""
	if i := strings.IndexAny(text, ".,"); i >= 0 {
		digits, fraction = text[:i], text[i+1:]
		if fraction == "" {
			return 0, ErrMalformed
		}
	}
	parts, ok := parsePairs(digits, isBasic)
	if !ok || len(parts) > len(units) {
		return 0, ErrMalformed
	}
	for i, limit := range [...]int{24, 59, 60} {
		if i < len(parts) && parts[i] > limit {
			return 0, ErrMalformed
		}
	}
	timeOfDay, unit := clockDuration(parts), units[len(parts)-1]
	for _, c := range []byte(fraction) {
		if c < '0' || c > '9' {
			return 0, ErrMalformed
		}
		unit /= 10
		timeOfDay += time.Duration(c-'0') * unit
	}
	if parts[0] == 24 && timeOfDay > 24*time.Hour {
		return 0, ErrMalformed
	}
	return timeOfDay, nil
}

// parsePairs parses two-digit numbers that are separated by colons or, in the basic format, not separated.
func parsePairs(text string, isBasic bool) ([]int, bool) {
	step := 3
	if isBasic {
		step = 2
	}
	var out []int
	for i := 0; ; i += step {
		if len(text) < i+2 || text[i] < '0' || text[i] > '9' || text[i+1] < '0' || text[i+1] > '9' {
			return nil, false
		}
		out = append(out, int(text[i]-'0')*10+int(text[i+1]-'0'))
		switch {
		case len(text) == i+2:
			return out, true
		case !isBasic && text[i+2] != ':':
			return nil, false
		}
	}
}

// clockDuration returns the sum of hours, minutes and seconds.
func clockDuration(parts []int) time.Duration {
	var d time.Duration
	for i, n := range parts {
		d += time.Duration(n) * units[i]
	}
	return d
}

// resolveWallTime returns the first instant at which the zone's clock shows wall. It returns ErrSkipped if there is
// none.
func resolveWallTime(wall time.Time, zone *time.Location) (time.Time, error) {
	var earliest time.Time
	err := ErrSkipped
	for _, shift := range []time.Duration{-26 * time.Hour, 26 * time.Hour} {
		_, offset := wall.Add(shift).In(zone).Zone()
		t := wall.Add(-time.Duration(offset) * time.Second)
		if hasWallTime(t, wall, zone) && (err != nil || t.Before(earliest)) {
			earliest, err = t, nil
		}
	}
	return earliest, err
}

// hasWallTime reports whether the zone's clock shows wall at t.
func hasWallTime(t, wall time.Time, zone *time.Location) bool {
	_, offset := t.In(zone).Zone()
	return t.Add(time.Duration(offset) * time.Second).Equal(wall)
}
