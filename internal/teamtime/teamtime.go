// Package teamtime reads and writes the times of the contract: instants shown in the team's zone and in UTC,
// and times sent without an offset, which are the team's wall clock (spec, Conventions).
package teamtime

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

// Parse reads a time with a time part: any time of RFC 3339, and of ISO 8601 the basic format (20270504T100000Z),
// reduced precision (2027-05-04T10), a fraction of the last part (10:30,5) and 24:00, which is 00:00 of the next
// day. A second of 60 is the first one of the next minute, as in POSIX. What is finer than a microsecond is cut off.
// Without an offset the time is read in the zone: one that the clock skips is ErrSkipped, and one that occurs twice
// is the earlier. A date alone is ErrNoTime. Week dates, ordinal dates and years of more than four digits are
// ErrMalformed. The year of the instant is -1 to 10000 in UTC, so
// that the last second of 9999 is one in every zone.
func Parse(text string, zone *time.Location) (time.Time, error) {
	day, rest, err := cutDate(text)
	switch {
	case err != nil:
		return time.Time{}, err
	case rest == "":
		return time.Time{}, ErrNoTime
	}
	basic := text[4] != '-'
	clock, offset, found, err := cutOffset(rest[1:])
	if err != nil {
		return time.Time{}, err
	}
	since, err := parseClock(clock, basic)
	if err != nil {
		return time.Time{}, err
	}
	wall := day.Add(since).Truncate(time.Microsecond)
	if found {
		return wall.Add(-offset), nil
	}
	return earliest(wall, zone)
}

// ParseBound reads a time or a date; a date is the first instant of that day in the zone.
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
	return StartOfDay(local.Year(), local.Month(), local.Day(), zone), StartOfDay(next.Year(), next.Month(), next.Day(),
		zone)
}

// cutDate reads the date that a text begins with, in the extended or the basic format, and returns it as midnight in
// UTC with what follows: nothing, or a T or a space (RFC 3339, section 5.6) and more.
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

// cutOffset takes Z, ±hh:mm, ±hhmm or ±hh off the end of a time of day and reports whether there was one. A space
// before the offset is a + that a query string turned into a space.
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
	parts, ok := pairs(offset, !strings.Contains(offset, ":"))
	if !ok || len(parts) > 2 || parts[0] > 23 || len(parts) == 2 && parts[1] > 59 {
		return "", 0, false, ErrMalformed
	}
	d := sum(parts)
	if sign == '-' {
		d = -d
	}
	return clock, d, true, nil
}

// units are those of the parts of a time of day.
var units = [...]time.Duration{time.Hour, time.Minute, time.Second}

// parseClock reads a time of day as the time since midnight: hh, hh:mm or hh:mm:ss, without the colons in the basic
// format, the last part with a fraction perhaps.
func parseClock(text string, basic bool) (time.Duration, error) {
	whole, fraction := text, ""
	if i := strings.IndexAny(text, ".,"); i >= 0 {
		whole, fraction = text[:i], text[i+1:]
		if fraction == "" {
			return 0, ErrMalformed
		}
	}
	parts, ok := pairs(whole, basic)
	if !ok || len(parts) > len(units) {
		return 0, ErrMalformed
	}
	for i, most := range [...]int{24, 59, 60} {
		if i < len(parts) && parts[i] > most {
			return 0, ErrMalformed
		}
	}
	since, unit := sum(parts), units[len(parts)-1]
	for _, c := range []byte(fraction) {
		if c < '0' || c > '9' {
			return 0, ErrMalformed
		}
		unit /= 10
		since += time.Duration(c-'0') * unit
	}
	if parts[0] == 24 && since > 24*time.Hour {
		return 0, ErrMalformed
	}
	return since, nil
}

// pairs splits a text into numbers of two digits, with colons between them or, in the basic format, with nothing.
func pairs(text string, basic bool) ([]int, bool) {
	step := 3
	if basic {
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
		case !basic && text[i+2] != ':':
			return nil, false
		}
	}
}

// sum adds up hours, minutes and seconds.
func sum(parts []int) time.Duration {
	var d time.Duration
	for i, n := range parts {
		d += time.Duration(n) * units[i]
	}
	return d
}

// earliest finds the first instant at which the zone's clocks show this wall clock.
func earliest(wall time.Time, zone *time.Location) (time.Time, error) {
	var found time.Time
	err := ErrSkipped
	for _, near := range []time.Duration{-26 * time.Hour, 26 * time.Hour} {
		_, offset := wall.Add(near).In(zone).Zone()
		t := wall.Add(-time.Duration(offset) * time.Second)
		if shows(t, wall, zone) && (err != nil || t.Before(found)) {
			found, err = t, nil
		}
	}
	return found, err
}

func shows(t, wall time.Time, zone *time.Location) bool {
	_, offset := t.In(zone).Zone()
	return t.Add(time.Duration(offset) * time.Second).Equal(wall)
}
