package compose

import (
	"errors"
	"fmt"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/teamtime"
)

// when is a time in the team's zone, as a form has it.
type when struct {
	Date, Time string
	Second     bool // of a time that the clocks show twice, the later
	Told       bool // somebody has said which of the two it is
}

const (
	dateOnly = "2006-01-02"
	timeOnly = "15:04"
)

// whenOf is an instant in a form; nothing of none.
func whenOf(at time.Time, zone *time.Location) when {
	if at.IsZero() {
		return when{}
	}
	local := at.In(zone)
	first, twice := other(local)
	return when{local.Format(dateOnly), local.Format(timeOnly), twice && first.Before(at), twice}
}

// open tells whether nothing is said of the time.
func (w when) open() bool { return w.Date == "" && w.Time == "" }

// instant is the time that is meant; zero where it is open. twice tells that the clocks show it two times.
func (w when) instant(zone *time.Location) (time.Time, bool, error) {
	switch {
	case w.open():
		return time.Time{}, false, nil
	case w.Date == "":
		return time.Time{}, false, apierr.Invalid(apierr.MissingArgument, "date", "Choose the day, too.")
	case w.Time == "":
		return time.Time{}, false, apierr.Invalid(apierr.MissingArgument, "time", "Choose the time of day, too.")
	}
	at, err := teamtime.Parse(w.Date+"T"+w.Time, zone)
	switch {
	case errors.Is(err, teamtime.ErrSkipped):
		return at, false, apierr.Invalid(apierr.TimeDoesNotExist, "time", skipped(w, zone))
	case err != nil:
		return at, false,
			apierr.Invalid(apierr.Malformed, "date",
				"The day and the time cannot be read. Write them as 2026-03-29 and 10:15.").Wrap(err)
	}
	later, twice := other(at.In(zone))
	if twice && w.Second {
		at = later
	}
	return at.UTC(), twice, nil
}

// meant is the time that a form is kept with. One that the clocks show twice is refused until somebody has said which
// it is.
func (w when) meant(zone *time.Location) (time.Time, error) {
	at, twice, err := w.instant(zone)
	if err == nil && twice && !w.Told {
		local := at.In(zone)
		err = apierr.Invalid(apierr.MissingArgument, "second",
			fmt.Sprintf("On %s the clocks in %s show %s twice. Choose which is meant; nothing is saved yet.",
				local.Format("2 January 2006"), zone, local.Format(timeOnly)))
	}
	return at, err
}

// other is the second instant at which the clocks show what they show at an instant, earlier or later; false where
// there is but one.
func other(at time.Time) (time.Time, bool) {
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

// skipped says which times of a day the clocks skip, and what to take in their place.
func skipped(w when, zone *time.Location) string {
	wall, err := time.Parse(dateOnly+"T"+timeOnly, w.Date+"T"+w.Time)
	if err != nil { // with seconds
		return "The team’s clocks skip this time. Choose another."
	}
	_, before := wall.Add(-26 * time.Hour).In(zone).Zone()
	old := time.FixedZone("", before)
	// read by the old offset, it lies behind the gap
	gap, _ := wall.Add(-time.Duration(before) * time.Second).In(zone).ZoneBounds()
	return fmt.Sprintf("On %s the clocks in %s go from %s to %s, so this time does not come. Choose another.",
		gap.In(old).Format("2 January 2006"), zone, gap.In(old).Format(timeOnly), gap.In(zone).Format(timeOnly))
}

// clock tells an instant with the offset of the zone, where the day and the hour alone would not.
func clock(at time.Time) string { return at.Format("15:04 (UTC-07:00)") }

// hour is the time of day of an instant, in the zone that it is given in.
func hour(at time.Time) string { return at.Format(timeOnly) }
