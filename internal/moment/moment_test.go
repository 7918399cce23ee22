package moment_test

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pressroom/internal/moment"
)

func zone(t interface{ Fatal(...any) }, name string) *time.Location {
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func TestParse(t *testing.T) {
	t.Parallel()
	berlin := zone(t, "Europe/Berlin")
	for _, c := range []struct {
		text, utc string
		err       error
	}{
		{text: "2026-03-27T10:15", utc: "2026-03-27T09:15:00Z"},
		{text: "2026-03-27T10:15:30.25", utc: "2026-03-27T09:15:30.25Z"},
		{text: "2026-07-01t10:15:00z", utc: "2026-07-01T10:15:00Z"},
		{text: "2026-07-01T10:15:00+05:30", utc: "2026-07-01T04:45:00Z"},
		{text: "2026-07-01T10:15:00 05:30", utc: "2026-07-01T04:45:00Z"}, // the + of a query string
		{text: "2026-07-01T10:15:00-0300", utc: "2026-07-01T13:15:00Z"},
		{text: "2026-07-01T10:15:00-03", utc: "2026-07-01T13:15:00Z"},
		{text: "2026-03-29T02:30", err: moment.ErrSkipped},            // the clocks go forward
		{text: "2026-03-29T02:30Z", utc: "2026-03-29T02:30:00Z"},      // with an offset it is an instant
		{text: "2026-03-29T03:00", utc: "2026-03-29T01:00:00Z"},       // the first one after the gap
		{text: "2026-10-25T02:30", utc: "2026-10-25T00:30:00Z"},       // twice: the earlier
		{text: "2026-10-25T02:30+01:00", utc: "2026-10-25T01:30:00Z"}, // the later, by its offset
		{text: "2026-03-29", err: moment.ErrNoTime},
		{text: "2026-02-30T10:00", err: moment.ErrMalformed},
		{text: "2026-03-29T25:00", err: moment.ErrMalformed},
		{text: "2026-03-29T10:00:60", err: moment.ErrMalformed},
		{text: "2026-03-29T10:00:00,5", err: moment.ErrMalformed},
		{text: "9999-12-31T23:30:00-01:00", err: moment.ErrMalformed},
		{text: "9999-12-31T23:30:00Z", err: moment.ErrMalformed}, // the year 10000 in Berlin
		{text: "2026-07-01T10:15:00+24:00", err: moment.ErrMalformed},
		{text: "tomorrow", err: moment.ErrMalformed},
		{text: "", err: moment.ErrMalformed},
		{text: "T", err: moment.ErrMalformed},
		{text: "Z", err: moment.ErrMalformed},
		{text: "2026-07-01T10:15:00+25:00", err: moment.ErrMalformed},
	} {
		got, err := moment.Parse(c.text, berlin)
		if !errors.Is(err, c.err) {
			t.Errorf("%q: error %v, want %v", c.text, err, c.err)
		} else if err == nil && got.UTC().Format(time.RFC3339Nano) != c.utc {
			t.Errorf("%q: %s, want %s", c.text, got.UTC().Format(time.RFC3339Nano), c.utc)
		}
	}
}

// Lord Howe Island moves its clocks by half an hour, Cairo skips midnight itself.
func TestUnusualZones(t *testing.T) {
	t.Parallel()
	howe, cairo := zone(t, "Australia/Lord_Howe"), zone(t, "Africa/Cairo")
	if _, err := moment.Parse("2026-10-04T02:15", howe); !errors.Is(err, moment.ErrSkipped) {
		t.Errorf("Lord Howe: %v", err)
	}
	day, err := moment.ParseBound("2026-04-24", cairo)
	if err != nil || day.In(cairo).Format("2006-01-02T15:04") != "2026-04-24T01:00" {
		t.Errorf("Cairo's day begins at %v (%v)", day.In(cairo), err)
	}
}

// Whatever instant an answer shows, both of its strings are the same instant as an argument.
func TestMomentsAreArguments(t *testing.T) {
	t.Parallel()
	zones := []string{"UTC", "Europe/Berlin", "America/St_Johns", "Asia/Kathmandu", "Australia/Lord_Howe", "Africa/Cairo", "Pacific/Apia", "America/Sao_Paulo"}
	rapid.Check(t, func(t *rapid.T) {
		z := zone(t, rapid.SampledFrom(zones).Draw(t, "zone"))
		at := time.UnixMicro(rapid.Int64Range(0, 4_102_444_800_000_000).Draw(t, "at")).UTC()
		m := moment.At(at, z)
		for _, text := range []string{m.Team, m.UTC} {
			got, err := moment.Parse(text, z)
			if err != nil || !got.Equal(at) {
				t.Fatalf("%s became %v (%v)", text, got, err)
			}
		}
	})
}

// A wall clock without an offset is the earliest instant that shows it, or there is none.
func TestWallClocks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		z := zone(t, rapid.SampledFrom([]string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo"}).Draw(t, "zone"))
		wall := time.Unix(rapid.Int64Range(1_700_000_000, 1_900_000_000).Draw(t, "wall")/60*60, 0).UTC().Format("2006-01-02T15:04")
		got, err := moment.Parse(wall, z)
		if err != nil {
			return
		}
		if got.In(z).Format("2006-01-02T15:04") != wall {
			t.Fatalf("%s became %v", wall, got.In(z))
		}
		for _, back := range []time.Duration{30 * time.Minute, time.Hour} {
			if got.Add(-back).In(z).Format("2006-01-02T15:04") == wall {
				t.Fatalf("%s is not the earliest: %v also shows it", wall, got.Add(-back))
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"2026-03-29T02:30", "2026-10-25T02:30:00.5+01:00", "2026-01-01", "T", "2026-07-01T10:15:00 05:30", "-"} {
		f.Add(text)
	}
	berlin := zone(f, "Europe/Berlin")
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := moment.Parse(text, berlin); err == nil && got.Year() > 10_000 {
			t.Fatalf("%q became %v", text, got)
		}
		_, _ = moment.ParseBound(text, berlin)
	})
}

func TestDay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, at, from, to string }{
		{"UTC", "2026-11-21T12:00:00Z", "2026-11-21T00:00:00Z", "2026-11-22T00:00:00Z"},
		{"Europe/Berlin", "2026-11-21T23:30:00Z", "2026-11-21T23:00:00Z", "2026-11-22T23:00:00Z"},
		{"Europe/Berlin", "2027-03-28T12:00:00Z", "2027-03-27T23:00:00Z", "2027-03-28T22:00:00Z"},       // 23 hours
		{"Europe/Berlin", "2026-10-25T12:00:00Z", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"},       // 25 hours
		{"Africa/Cairo", "2026-04-24T12:00:00Z", "2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z"},        // midnight is skipped
		{"America/Havana", "2026-11-01T12:00:00Z", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"},      // midnight comes twice
		{"Pacific/Apia", "2011-12-29T20:00:00Z", "2011-12-29T10:00:00Z", "2011-12-30T10:00:00Z"},        // the next date does not exist
		{"Australia/Lord_Howe", "2026-10-04T00:00:00Z", "2026-10-03T13:30:00Z", "2026-10-04T13:00:00Z"}, // half an hour
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		at, _ := time.Parse(time.RFC3339, c.at)
		from, to := moment.Day(at, zone)
		if got := from.UTC().Format(time.RFC3339) + " " + to.UTC().Format(time.RFC3339); got != c.from+" "+c.to {
			t.Errorf("%s at %s: %s, want %s %s", c.zone, c.at, got, c.from, c.to)
		}
	}
}

// The days of a zone follow one another without a gap, and each instant lies in its own.
func TestDaysFollowOneAnother(t *testing.T) {
	t.Parallel()
	zones := []string{"UTC", "Europe/Berlin", "America/Havana", "Africa/Cairo", "Asia/Kathmandu", "America/Santiago", "Pacific/Apia", "Australia/Lord_Howe", "Asia/Beirut", "America/Scoresbysund"}
	rapid.Check(t, func(t *rapid.T) {
		zone, err := time.LoadLocation(rapid.SampledFrom(zones).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}
		at := time.Unix(rapid.Int64Range(1_200_000_000, 2_100_000_000).Draw(t, "at"), 0).UTC()
		from, to := moment.Day(at, zone)
		if from.After(at) || !to.After(at) {
			t.Fatalf("%v lies outside of its day %v to %v", at, from, to)
		}
		again, after := moment.Day(to, zone)
		if last, _ := moment.Day(to.Add(-time.Microsecond), zone); !last.Equal(from) || !again.Equal(to) || !after.After(to) {
			t.Fatalf("the day after %v to %v is %v to %v, and its last instant belongs to %v", from, to, again, after, last)
		}
	})
}
