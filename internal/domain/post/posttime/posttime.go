// Package posttime checks the times that posts are scheduled for.
package posttime

import (
	"errors"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/teamtime"
)

// Parse parses a time and returns an error unless it is in the future. A time without an offset is in the
// team's time zone.
func Parse(call operation.Call, text string) (time.Time, error) {
	at, err := teamtime.Parse(text, call.Zone)
	if err != nil {
		return at, Invalid("scheduled_at", err)
	}
	return at, CheckFuture(call, at)
}

const (
	maxYearsAhead      = 10 // limit for scheduled posts
	unlikelyYearsAhead = 1  // a note asks to check the year of later times
)

// CheckFuture returns an error for a time in the past or too far ahead.
func CheckFuture(call operation.Call, at time.Time) error {
	switch {
	case !at.After(call.Now):
		return errPastTime
	case TooFar(call.Now, at):
		return errTooFar
	}
	return nil
}

var (
	errPastTime = apierr.Invalid(apierr.InThePast, "scheduled_at",
		"That time has passed. Pick a future time, or publish now.")
	errTooFar = apierr.Invalid(apierr.OutOfRange, "scheduled_at",
		"The time is more than ten years ahead. Check the year.")
)

// TooFar reports whether a time is too far in the future for a scheduled post.
func TooFar(now, at time.Time) bool { return at.After(now.AddDate(maxYearsAhead, 0, 0)) }

// FarAhead reports whether a time is so far in the future that its year may be a mistake.
func FarAhead(now, at time.Time) bool { return at.After(now.AddDate(unlikelyYearsAhead, 0, 0)) }

// DistantNote returns a note that asks the caller to check the year if FarAhead reports true for the time.
func DistantNote(call operation.Call, at time.Time) []string {
	if !FarAhead(call.Now, at) {
		return nil
	}
	return []string{"scheduled_at is more than a year ahead, in " + at.In(call.Zone).Format("2006") +
		". Check the year."}
}

// Invalid returns the API error for an argument that package teamtime rejected with err.
func Invalid(argument string, err error) error {
	switch {
	case errors.Is(err, teamtime.ErrNoTime):
		return apierr.Invalid(apierr.NoTimePart, argument, "A time of day is missing. Add it, as in 2026-03-29T10:15.")
	case errors.Is(err, teamtime.ErrSkipped):
		return apierr.Invalid(apierr.TimeDoesNotExist, argument,
			"The team's clocks skip this time. Choose another, or add an offset.")
	}
	return apierr.Invalid(apierr.Malformed, argument,
		"This is not a time in ISO 8601. Write it like 2026-03-29T10:15 or 2026-03-29T10:15:00+02:00.")
}

// SameMonth reports whether two times are in the same month of a time zone.
func SameMonth(a, b time.Time, zone *time.Location) bool {
	first, next := teamtime.Month(a, zone)
	return !b.Before(first) && b.Before(next)
}
