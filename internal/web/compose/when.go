package compose

import (
	"errors"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/teamtime"
)

// timeInput is a time in the visitor's time zone, as entered in the form.
type timeInput struct {
	Date, Time string
	Second     bool // whether the later of two equal wall-clock times is meant
	Chosen     bool // whether the person has chosen one of two equal wall-clock times
}

const (
	dateOnly = "2006-01-02"
	timeOnly = "15:04"
)

// whenOf converts a time to the form's fields. It returns empty fields for the zero time.
func whenOf(at time.Time, zone *time.Location) timeInput {
	if at.IsZero() {
		return timeInput{}
	}
	local := at.In(zone)
	first, twice := otherInstant(local)
	return timeInput{local.Format(dateOnly), local.Format(timeOnly), twice && first.Before(at), twice}
}

// isDayOnly reports whether a date is entered without a time of day.
func (w timeInput) isDayOnly() bool { return w.Date != "" && w.Time == "" }

// day returns the date if no time of day is entered, or "" otherwise. It returns an error if the date is invalid.
func (w timeInput) day() (string, error) {
	if !w.isDayOnly() {
		return "", nil
	}
	if _, err := time.Parse(dateOnly, w.Date); err != nil {
		return "", apierr.Invalid(apierr.Malformed, "date", "The date is invalid. Enter it as 2026-03-29.").Wrap(err)
	}
	return w.Date, nil
}

// errNoTime is the error for a date that needs a time.
var errNoTime = apierr.Invalid(apierr.MissingArgument, "time", "Choose the time as well.")

// isEmpty reports whether neither a date nor a time of day is entered.
func (w timeInput) isEmpty() bool { return w.Date == "" && w.Time == "" }

// dayFrom returns the entered date in the time zone of now if it is later than now, and now otherwise.
func (w timeInput) dayFrom(now time.Time) time.Time {
	if chosen, err := time.ParseInLocation(dateOnly, w.Date, now.Location()); err == nil && chosen.After(now) {
		return chosen
	}
	return now
}

// instant returns the time, or the zero time if none is entered, and whether the wall-clock time occurs twice.
func (w timeInput) instant(zone *time.Location) (time.Time, bool, error) {
	switch {
	case w.isEmpty():
		return time.Time{}, false, nil
	case w.Date == "":
		return time.Time{}, false, apierr.Invalid(apierr.MissingArgument, "date", "Choose the date as well.")
	case w.Time == "":
		return time.Time{}, false, errNoTime
	}
	at, err := teamtime.Parse(w.Date+"T"+w.Time, zone)
	switch {
	case errors.Is(err, teamtime.ErrSkipped):
		return at, false, gapError(w, zone)
	case err != nil:
		return at, false,
			apierr.Invalid(apierr.Malformed, "date",
				"The date or time is invalid. Enter them as 2026-03-29 and 10:15.").Wrap(err)
	}
	later, twice := otherInstant(at.In(zone))
	if twice && w.Second {
		at = later
	}
	return at.UTC(), twice, nil
}

// resolve returns the time to save. A time that occurs twice is an error until the person has chosen one.
func (w timeInput) resolve(zone *time.Location) (time.Time, error) {
	at, twice, err := w.instant(zone)
	if err == nil && twice && !w.Chosen {
		local := at.In(zone)
		err = apierr.Invalidf(apierr.MissingArgument, "second",
			"On %s in %s, %s occurs twice because clocks go back. Choose which one you mean. Nothing is saved yet.",
			locale.Instant{Time: local, Layout: locale.LongDay}, zone, locale.Instant{Time: local, Layout: locale.Clock})
	}
	return at, err
}

// otherInstant returns the other instant with the same wall-clock time as at, and whether there is one.
func otherInstant(at time.Time) (time.Time, bool) {
	begin, end := at.ZoneBounds()
	_, here := at.Zone()
	for _, bound := range []time.Time{begin, end} {
		if bound.IsZero() {
			continue
		}
		beyond := bound
		if bound.Equal(begin) {
			beyond = bound.Add(-time.Second)
		}
		_, there := beyond.Zone()
		second := at.Add(time.Duration(here-there) * time.Second)
		if _, offset := second.Zone(); offset == there && !second.Equal(at) {
			return second, true
		}
	}
	return time.Time{}, false
}

// gapError returns the error for a wall-clock time that does not exist because clocks go forward.
func gapError(w timeInput, zone *time.Location) error {
	wall, err := time.Parse(dateOnly+"T"+timeOnly, w.Date+"T"+w.Time)
	if err != nil { // not in the format of timeOnly, such as a time with seconds
		return apierr.Invalid(apierr.TimeDoesNotExist, "time",
			"This time does not exist in the team’s time zone because clocks go forward. Choose another.")
	}
	_, before := wall.Add(-26 * time.Hour).In(zone).Zone()
	old := time.FixedZone("", before)
	// With the old offset, the wall-clock time is an instant after the change, so its zone period begins at the change.
	gap, _ := wall.Add(-time.Duration(before) * time.Second).In(zone).ZoneBounds()
	return apierr.Invalidf(apierr.TimeDoesNotExist, "time",
		"On %s, clocks in %s go from %s to %s, so this time does not exist. Choose another.",
		locale.Instant{Time: gap.In(old), Layout: locale.LongDay}, zone,
		locale.Instant{Time: gap.In(old), Layout: locale.Clock}, locale.Instant{Time: gap.In(zone), Layout: locale.Clock})
}
