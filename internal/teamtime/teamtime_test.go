package teamtime_test

import (
	"errors"
	"regexp"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/teamtime"
	"pressroom.example/pressroom/internal/testkit/must"
)

func zone(t must.T, name string) *time.Location {
	z := must.Get(time.LoadLocation(name))(t)
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
		{text: "2026-03-29T02:30", err: teamtime.ErrSkipped},          // skipped: the clock is set forward
		{text: "2026-03-29T02:30Z", utc: "2026-03-29T02:30:00Z"},      // with an offset it is an instant
		{text: "2026-03-29T03:00", utc: "2026-03-29T01:00:00Z"},       // the first time after the gap
		{text: "2026-10-25T02:30", utc: "2026-10-25T00:30:00Z"},       // occurs twice: the earlier instant
		{text: "2026-10-25T02:30+01:00", utc: "2026-10-25T01:30:00Z"}, // the later instant, by its offset
		{text: "2026-03-29", err: teamtime.ErrNoTime},
		{text: "2026-02-30T10:00", err: teamtime.ErrMalformed},
		{text: "2026-03-29T25:00", err: teamtime.ErrMalformed},
		{text: "2027-05-04T10", utc: "2027-05-04T08:00:00Z"}, // reduced precision
		{text: "2027-05-04T10Z", utc: "2027-05-04T10:00:00Z"},
		{text: "2027-05-04T10+02", utc: "2027-05-04T08:00:00Z"},
		{text: "20270504T100000Z", utc: "2027-05-04T10:00:00Z"}, // the basic format
		{text: "20270504T1000", utc: "2027-05-04T08:00:00Z"},
		{text: "20270504T10", utc: "2027-05-04T08:00:00Z"},
		{text: "20270504T100000.5+0200", utc: "2027-05-04T08:00:00.5Z"},
		{text: "20270504T100000 0200", utc: "2027-05-04T08:00:00Z"},
		{text: "20270504", err: teamtime.ErrNoTime},
		{text: "2027-05-04T1000", err: teamtime.ErrMalformed}, // mixes the basic and the extended format
		{text: "20270504T10:00", err: teamtime.ErrMalformed},
		{text: "2027-05-04T24:00", utc: "2027-05-04T22:00:00Z"}, // the next day's 00:00
		{text: "2027-12-31T24:00:00Z", utc: "2028-01-01T00:00:00Z"},
		{text: "2027-05-04T24", utc: "2027-05-04T22:00:00Z"},
		{text: "2027-05-04T24:00:00.000Z", utc: "2027-05-05T00:00:00Z"},
		{text: "2027-05-04T24:01", err: teamtime.ErrMalformed},
		{text: "2027-05-04T24:00:00.1", err: teamtime.ErrMalformed},
		{text: "2027-05-04T10:00:00,5Z", utc: "2027-05-04T10:00:00.5Z"},
		{text: "2027-05-04T10:30,5Z", utc: "2027-05-04T10:30:30Z"},
		{text: "2027-05-04T10.25Z", utc: "2027-05-04T10:15:00Z"},
		{text: "2027-05-04T10:00:00.1234567Z", utc: "2027-05-04T10:00:00.123456Z"},
		{text: "2027-05-04T10:00:00.Z", err: teamtime.ErrMalformed},
		{text: "2027-05-04T10:00:00.5x", err: teamtime.ErrMalformed},
		{text: "2026-12-31T23:59:60Z", utc: "2027-01-01T00:00:00Z"}, // a leap second
		{text: "1990-12-31T15:59:60-08:00", utc: "1991-01-01T00:00:00Z"},
		{text: "2026-03-29T10:00:61", err: teamtime.ErrMalformed},
		{text: "2026-03-29T10:60", err: teamtime.ErrMalformed},
		{text: "2026-07-01 10:15:00Z", utc: "2026-07-01T10:15:00Z"}, // RFC 3339, section 5.6
		{text: "2026-07-01 10:15:00 02:00", utc: "2026-07-01T08:15:00Z"},
		{text: "2026-07-01T10:15:00-00:00", utc: "2026-07-01T10:15:00Z"},
		{text: "2027-W18-2T10:00Z", err: teamtime.ErrMalformed},
		{text: "2027-124T10:00Z", err: teamtime.ErrMalformed},
		{text: "2027-05T10:00Z", err: teamtime.ErrMalformed},
		{text: "+002027-05-04T10:00Z", err: teamtime.ErrMalformed},
		{text: "2027-05-04T", err: teamtime.ErrMalformed},
		{text: "2027-05-04TZ", err: teamtime.ErrMalformed},
		{text: "2027-05-04T10:00ZZ", err: teamtime.ErrMalformed},
		{text: "2027-05-04T10:00+", err: teamtime.ErrMalformed},
		{text: "2027-05-04T10:00+02:60", err: teamtime.ErrMalformed},
		{text: "2027-05-04T10:00+02:00:00", err: teamtime.ErrMalformed},
		{text: "9999-12-31T23:59:59Z", utc: "9999-12-31T23:59:59Z"}, // the year 10000 in Berlin
		{text: "0001-01-01T00:00:00Z", utc: "0001-01-01T00:00:00Z"},
		{text: "2026-07-01T10:15:00+24:00", err: teamtime.ErrMalformed},
		{text: "tomorrow", err: teamtime.ErrMalformed},
		{text: "", err: teamtime.ErrMalformed},
		{text: "T", err: teamtime.ErrMalformed},
		{text: "Z", err: teamtime.ErrMalformed},
		{text: "2026-07-01T10:15:00+25:00", err: teamtime.ErrMalformed},
	} {
		got, err := teamtime.Parse(c.text, berlin)
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
	if _, err := teamtime.Parse("2026-10-04T02:15", howe); !errors.Is(err, teamtime.ErrSkipped) {
		t.Errorf("Lord Howe: %v", err)
	}
	day, err := teamtime.ParseBound("2026-04-24", cairo)
	if err != nil || day.In(cairo).Format("2006-01-02T15:04") != "2026-04-24T01:00" {
		t.Errorf("Cairo's day begins at %v (%v)", day.In(cairo), err)
	}
}

// Both strings of a Moment parse to the same instant.
func TestMomentStringsParse(t *testing.T) {
	t.Parallel()
	zones := []string{
		"UTC", "Europe/Berlin", "America/St_Johns", "Asia/Kathmandu", "Australia/Lord_Howe", "Africa/Cairo",
		"Pacific/Apia", "America/Sao_Paulo",
	}
	rapid.Check(t, func(t *rapid.T) {
		z := zone(t, rapid.SampledFrom(zones).Draw(t, "zone"))
		at := time.UnixMicro(rapid.Int64Range(0, 4_102_444_800_000_000).Draw(t, "at")).UTC()
		m := teamtime.At(at, z)
		for _, text := range []string{m.Team, m.UTC} {
			got, err := teamtime.Parse(text, z)
			if err != nil || !got.Equal(at) {
				t.Fatalf("%s became %v (%v)", text, got, err)
			}
		}
	})
}

// A time without an offset is the earliest instant at which the zone's clock shows it.
func TestTimesWithoutOffset(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		z := zone(t,
			rapid.SampledFrom([]string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo"}).Draw(t, "zone"))
		wall := time.Unix(rapid.Int64Range(1_700_000_000, 1_900_000_000).Draw(t, "wall")/60*60, 0).UTC().Format("2006-01-02T15:04")
		got, err := teamtime.Parse(wall, z)
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

// Every RFC 3339 time parses as in the standard library, also in its other ISO 8601 forms.
func TestFormsAgree(t *testing.T) {
	t.Parallel()
	berlin := zone(t, "Europe/Berlin")
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(-62_135_596_800, 253_402_300_799).Draw(t, "at"), rapid.Int64Range(0, 999_999).
			Draw(t, "micros")*1000)
		offset := rapid.IntRange(-23*60-59, 23*60+59).Draw(t, "offset")
		local := at.In(time.FixedZone("", offset*60))
		if local.Year() < 1 || local.Year() > 9999 {
			return
		}
		for _, layout := range []string{
			"2006-01-02T15:04:05.999999Z07:00", "2006-01-02t15:04:05,000000-0700",
			"2006-01-02 15:04:05.999999999Z07:00", "20060102T150405.999999Z0700",
		} {
			text := local.Format(layout)
			got, err := teamtime.Parse(text, berlin)
			if err != nil || !got.Equal(at) {
				t.Fatalf("%s is %v (%v), want %v", text, got.UTC(), err, at.UTC())
			}
			if want, err := time.Parse(time.RFC3339Nano, text); err == nil && !got.Equal(want) {
				t.Fatalf("%s is %v, and %v by time.Parse", text, got, want)
			}
		}
		minute := local.Truncate(time.Minute)
		for _, layout := range []string{"2006-01-02T15:04Z07:00", "20060102T1504Z0700"} {
			if got, err := teamtime.Parse(minute.Format(layout), berlin); err != nil || !got.Equal(minute) {
				t.Fatalf("%s is %v (%v), want %v", minute.Format(layout), got.UTC(), err, minute.UTC())
			}
		}
	})
}

// 24:00 is 00:00 of the next day, even if the clock skips or repeats it.
func TestEndOfDay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		z := zone(t, rapid.SampledFrom([]string{"UTC", "Europe/Berlin", "Africa/Cairo", "America/Havana", "Pacific/Apia"}).Draw(t, "zone"))
		day := time.Unix(rapid.Int64Range(1_200_000_000, 2_100_000_000).Draw(t, "day"), 0).UTC()
		end, endErr := teamtime.Parse(day.Format(time.DateOnly)+"T24:00", z)
		next, nextErr := teamtime.Parse(day.AddDate(0, 0, 1).Format(time.DateOnly)+"T00:00", z)
		if !end.Equal(next) || !errors.Is(endErr, nextErr) {
			t.Fatalf("%s: %v (%v) and %v (%v)", day.Format(time.DateOnly), end, endErr, next, nextErr)
		}
	})
}

// The end of the year 9999 is a valid bound in every zone.
func TestEndOfYear9999(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Pacific/Kiritimati", "Europe/Berlin", "UTC", "Pacific/Niue"} {
		for _, text := range []string{"9999-12-31T23:59:59Z", "9999-12-31T24:00", "9999-12-31", "99991231T235959"} {
			if at, err := teamtime.ParseBound(text, zone(t, name)); err != nil || at.UTC().Year() < 9999 {
				t.Errorf("%s in %s: %v (%v)", text, name, at, err)
			}
		}
	}
}

// grammar is the grammar of RFC 3339. Package time accepts more.
var grammar = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"20270504T10,5 02", "2026-12-31T23:59:60Z", "2027-05-04T24:00", "2026-03-29T02:30",
		"2026-10-25T02:30:00.5+01:00", "2026-01-01", "T", "2026-07-01T10:15:00 05:30", "-",
	} {
		f.Add(text)
	}
	berlin := zone(f, "Europe/Berlin")
	f.Fuzz(func(t *testing.T, text string) {
		_, _ = teamtime.ParseBound(text, berlin) // does not panic
		got, err := teamtime.Parse(text, berlin)
		if err == nil && (got.UTC().Year() < -1 || got.UTC().Year() > 10_000) {
			t.Fatalf("%q became %v", text, got)
		}
		if !grammar.MatchString(text) {
			return
		}
		if want, other := time.Parse(time.RFC3339Nano, text); other == nil && (err != nil || !got.Equal(want.Truncate(time.Microsecond))) {
			t.Fatalf("%q is %v (%v), and %v by time.Parse", text, got, err, want)
		}
	})
}

func TestDay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, at, from, to string }{
		{"UTC", "2026-11-21T12:00:00Z", "2026-11-21T00:00:00Z", "2026-11-22T00:00:00Z"},
		{"Europe/Berlin", "2026-11-21T23:30:00Z", "2026-11-21T23:00:00Z", "2026-11-22T23:00:00Z"},
		{"Europe/Berlin", "2027-03-28T12:00:00Z", "2027-03-27T23:00:00Z", "2027-03-28T22:00:00Z"},       // 23 hours
		{"Europe/Berlin", "2026-10-25T12:00:00Z", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"},       // 25 hours
		{"Africa/Cairo", "2026-04-24T12:00:00Z", "2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z"},        // the clock skips midnight
		{"America/Havana", "2026-11-01T12:00:00Z", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"},      // midnight occurs twice
		{"Pacific/Apia", "2011-12-29T20:00:00Z", "2011-12-29T10:00:00Z", "2011-12-30T10:00:00Z"},        // the next date does not exist
		{"Australia/Lord_Howe", "2026-10-04T00:00:00Z", "2026-10-03T13:30:00Z", "2026-10-04T13:00:00Z"}, // the clock moves by half an hour
	} {
		zone := must.Get(time.LoadLocation(c.zone))(t)
		at, _ := time.Parse(time.RFC3339, c.at)
		from, to := teamtime.Day(at, zone)
		if got := from.UTC().Format(time.RFC3339) + " " + to.UTC().Format(time.RFC3339); got != c.from+" "+c.to {
			t.Errorf("%s at %s: %s, want %s %s", c.zone, c.at, got, c.from, c.to)
		}
	}
}

// Days in a zone have no gaps, and each instant belongs to its own day.
func TestDaysContiguous(t *testing.T) {
	t.Parallel()
	zones := []string{
		"UTC", "Europe/Berlin", "America/Havana", "Africa/Cairo", "Asia/Kathmandu", "America/Santiago", "Pacific/Apia",
		"Australia/Lord_Howe", "Asia/Beirut", "America/Scoresbysund",
	}
	rapid.Check(t, func(t *rapid.T) {
		zone := must.Get(time.LoadLocation(rapid.SampledFrom(zones).Draw(t, "zone")))(t)
		at := time.Unix(rapid.Int64Range(1_200_000_000, 2_100_000_000).Draw(t, "at"), 0).UTC()
		from, to := teamtime.Day(at, zone)
		if from.After(at) || !to.After(at) {
			t.Fatalf("%v lies outside of its day %v to %v", at, from, to)
		}
		again, after := teamtime.Day(to, zone)
		if last, _ := teamtime.Day(to.Add(-time.Microsecond), zone); !last.Equal(from) || !again.Equal(to) || !after.After(to) {
			t.Fatalf("the day after %v to %v is %v to %v, and its last instant belongs to %v", from, to, again, after, last)
		}
	})
}

// Choices name a zone's place and its current offset, also for half-hour zones and zones west of Greenwich.
func TestChoices(t *testing.T) {
	t.Parallel()
	labels := map[string]string{}
	for _, one := range teamtime.ZoneOptions(time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)) {
		labels[one.Name] = one.Label
	}
	for name, want := range map[string]string{
		"Europe/Berlin": "Berlin (UTC+1)", "Asia/Kolkata": "Kolkata (UTC+5:30)", "America/New_York": "New York (UTC-5)",
		"America/St_Johns": "St Johns (UTC-3:30)", "UTC": "UTC", "Africa/Abidjan": "Abidjan (UTC)",
	} {
		if labels[name] != want {
			t.Errorf("%s is %q, want %q", name, labels[name], want)
		}
	}
}
