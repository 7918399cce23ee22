// Package recurrence evaluates the rules of recurring series (RRULE of RFC 5545).
package recurrence

import (
	"errors"
	"fmt"
	"iter"
	"regexp"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/teamtime"
)

// WallClock is the format of a stored time without a zone.
const WallClock = "2006-01-02T15:04:05"

// maxRuleLength is the longest rule, in characters.
const maxRuleLength = 300

// ruleParts are the supported parts of a rule and their values (RFC 5545, section 3.3.10).
var ruleParts = map[string]*regexp.Regexp{
	"FREQ":       regexp.MustCompile(`^(DAILY|WEEKLY|MONTHLY)$`),
	"INTERVAL":   regexp.MustCompile(`^[1-9][0-9]{0,2}$`),
	"BYDAY":      regexp.MustCompile(`^([+-]?[1-5])?(MO|TU|WE|TH|FR|SA|SU)(,([+-]?[1-5])?(MO|TU|WE|TH|FR|SA|SU))*$`),
	"BYMONTHDAY": regexp.MustCompile(`^-?([1-9]|[12][0-9]|3[01])(,-?([1-9]|[12][0-9]|3[01]))*$`),
	"COUNT":      regexp.MustCompile(`^[1-9][0-9]{0,3}$`),
	"UNTIL":      regexp.MustCompile(`^[0-9]{8}(T[0-9]{6}Z?)?$`),
}

var (
	errRule = apierr.Invalid(apierr.NotAllowedValue, "rule",
		"The rule must be an RRULE of RFC 5545 with FREQ=DAILY, WEEKLY or MONTHLY and optionally INTERVAL, BYDAY, "+
			"BYMONTHDAY, and COUNT or UNTIL.")
	errRuleTooLong = apierr.Invalid(apierr.TooLong, "rule",
		"The rule is too long. It may have at most 300 characters.")
	// ErrNoOccurrence is the error for a rule without occurrences.
	ErrNoOccurrence = apierr.Invalid(apierr.OutOfRange, "rule", "The rule has no occurrences.")
)

// Rule generates the times of a series. It uses the wall-clock time of a time zone, so an occurrence at 10:00 stays at
// 10:00 when daylight saving time begins or ends.
type Rule struct {
	start time.Time // wall-clock time, represented in UTC
	days  days
	zone  *time.Location
	until func(wall, at time.Time) bool // reports whether an occurrence is not after UNTIL
}

// Load returns the rule of a stored series. The start is a wall-clock time in the format WallClock.
func Load(text, start, zone string) (Rule, error) {
	location, err := time.LoadLocation(zone)
	if err != nil {
		return Rule{}, fmt.Errorf("loading the zone: %w", err)
	}
	at, err := time.Parse(WallClock, start)
	if err != nil {
		return Rule{}, fmt.Errorf("reading the start: %w", err)
	}
	return Parse(text, at, location)
}

// Parse parses a rule that begins at a wall-clock time. It returns validation_failed for the argument rule if the rule
// is not supported.
func Parse(text string, start time.Time, zone *time.Location) (Rule, error) {
	if len(text) > maxRuleLength {
		return Rule{}, errRuleTooLong
	}
	parts, err := splitRule(text)
	if err != nil {
		return Rule{}, err
	}
	until, err := parseUntil(parts["UNTIL"])
	if err != nil {
		return Rule{}, err
	}
	return Rule{start, newDays(parts, start), zone, until}, nil
}

// splitRule returns the parts of a rule by name. It rejects combinations that RFC 5545 does not allow.
func splitRule(text string) (map[string]string, error) {
	parts := map[string]string{}
	for part := range strings.SplitSeq(text, ";") {
		name, value, _ := strings.Cut(part, "=")
		pattern := ruleParts[name]
		if pattern == nil || parts[name] != "" || !pattern.MatchString(value) {
			return nil, errRule
		}
		parts[name] = value
	}
	monthly := parts["FREQ"] == "MONTHLY"
	switch {
	case parts["FREQ"] == "",
		parts["COUNT"] != "" && parts["UNTIL"] != "",
		parts["FREQ"] == "WEEKLY" && parts["BYMONTHDAY"] != "",
		!monthly && strings.ContainsAny(parts["BYDAY"], "12345"):
		return nil, errRule
	}
	return parts, nil
}

// parseUntil parses the UNTIL part of a rule: a UTC time, a wall-clock time, or a date, which includes the whole day.
// It returns the function for Rule.until.
func parseUntil(text string) (func(wall, at time.Time) bool, error) {
	if text == "" {
		return func(_, _ time.Time) bool { return true }, nil
	}
	for layout, within := range map[string]func(end, wall, at time.Time) bool{
		"20060102T150405Z": func(end, _, at time.Time) bool { return !at.After(end) },
		"20060102T150405":  func(end, wall, _ time.Time) bool { return !wall.After(end) },
		"20060102":         func(end, wall, _ time.Time) bool { return wall.Before(end.AddDate(0, 0, 1)) },
	} {
		if end, err := time.Parse(layout, text); err == nil {
			return func(wall, at time.Time) bool { return within(end, wall, at) }, nil
		}
	}
	return nil, errRule // The day or hour does not exist.
}

// maxZoneOffset is greater than the offset of any time zone from UTC.
const maxZoneOffset = 48 * time.Hour

// After iterates over the occurrences after a time, in order.
func (r Rule) After(last time.Time) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		for wall := range r.days.after(r.start) {
			if wall.Before(last.Add(-maxZoneOffset)) {
				continue
			}
			at, ok := instant(wall, r.zone)
			if !ok || !r.until(wall, at) {
				return
			}
			if at.After(last) {
				if !yield(at) {
					return
				}
				last = at
			}
		}
	}
}

// First returns the first occurrence after a time. It reports false if there is none.
func (r Rule) First(last time.Time) (time.Time, bool) {
	for at := range r.After(last) {
		return at, true
	}
	return time.Time{}, false
}

// instant converts a wall-clock time to an instant. It returns the earlier instant of an ambiguous time, and the end of
// the gap for a skipped time. It reports false for years that cannot be formatted with four digits.
func instant(wall time.Time, zone *time.Location) (time.Time, bool) {
	at, err := teamtime.Parse(wall.Format(WallClock), zone)
	if errors.Is(err, teamtime.ErrSkipped) {
		_, before := wall.Add(-26 * time.Hour).In(zone).Zone()
		// With the offset before the gap, the result is after the gap.
		end, _ := wall.Add(-time.Duration(before) * time.Second).In(zone).ZoneBounds()
		return end.UTC(), true
	}
	return at.UTC(), err == nil && at.UTC().Year() <= 9999
}

// Preview returns the times of the first occurrences of a series that begins at a time. It returns at most limit times.
// It returns the errors of Parse, and ErrNoOccurrence if the series has no occurrences.
func Preview(rule string, begin time.Time, zone *time.Location, limit int) ([]time.Time, error) {
	wall, err := time.Parse(WallClock, begin.In(zone).Format(WallClock))
	if err != nil {
		return nil, fmt.Errorf("parsing a stored time: %w", err)
	}
	recurring, err := Parse(rule, wall, zone)
	if err != nil {
		return nil, err
	}
	out := []time.Time{}
	for at := range recurring.After(begin.Add(-time.Microsecond)) {
		if out = append(out, at); len(out) == limit {
			break
		}
	}
	if len(out) == 0 {
		return nil, ErrNoOccurrence
	}
	return out, nil
}
