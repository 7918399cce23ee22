package recurrence

import (
	_ "embed"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/testkit/must"
)

// zones have daylight saving time of an hour, of half an hour, and no daylight saving time.
var zones = []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"}

func loadZone(t must.T, name string) *time.Location {
	return must.Get(time.LoadLocation(name))(t)
}

// parseWallClock parses a wall-clock time as if it were in UTC.
func parseWallClock(t must.T, text string) time.Time {
	return must.Get(time.Parse(WallClock, text))(t)
}

// firstOccurrences returns at most n occurrences of a rule after a time, in UTC.
func firstOccurrences(r Rule, last time.Time, n int) []time.Time {
	out := []time.Time{}
	for at := range r.After(last) {
		if out = append(out, at); len(out) == n {
			break
		}
	}
	return out
}

func TestRuleOccurrences(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ rule, start, zone, want string }{
		// daylight saving time begins; the wall-clock time stays 10:15
		{"FREQ=DAILY;COUNT=3", "2026-03-28T10:15:00", "Europe/Berlin", "03-28T09:15 03-29T08:15 03-30T08:15"},
		// a skipped time becomes the end of the gap
		{"FREQ=DAILY;COUNT=3", "2026-03-28T02:30:00", "Europe/Berlin", "03-28T01:30 03-29T01:00 03-30T00:30"},
		// the earlier of two ambiguous times
		{"FREQ=DAILY;COUNT=3", "2026-10-24T02:30:00", "Europe/Berlin", "10-24T00:30 10-25T00:30 10-26T01:30"},
		// a skipped time west of Greenwich
		{"FREQ=DAILY;COUNT=3", "2026-03-07T02:30:00", "America/New_York", "03-07T07:30 03-08T07:00 03-09T06:30"},
		// a gap of half an hour
		{"FREQ=DAILY;COUNT=3", "2026-10-03T02:10:00", "Australia/Lord_Howe", "10-02T15:40 10-03T15:30 10-04T15:10"},
		// half an hour is repeated
		{"FREQ=DAILY;COUNT=2", "2026-04-04T01:45:00", "Australia/Lord_Howe", "04-03T14:45 04-04T14:45"},
		// offset +05:45
		{"FREQ=DAILY;COUNT=2", "2026-06-01T10:00:00", "Asia/Kathmandu", "06-01T04:15 06-02T04:15"},
		// a skipped day occurs once
		{"FREQ=DAILY;COUNT=4", "2011-12-29T00:00:00", "Pacific/Apia", "12-29T10:00 12-30T10:00 12-31T10:00"},
		// the start is between two occurrences
		{"FREQ=WEEKLY;BYDAY=TU,FR;COUNT=3", "2026-11-23T09:00:00", "UTC", "11-24T09:00 11-27T09:00 12-01T09:00"},
		// every second week
		{"FREQ=WEEKLY;INTERVAL=2;COUNT=3", "2026-11-23T09:00:00", "UTC", "11-23T09:00 12-07T09:00 12-21T09:00"},
		// months without the day are skipped
		{"FREQ=MONTHLY;BYMONTHDAY=31;COUNT=3", "2026-01-31T09:00:00", "UTC", "01-31T09:00 03-31T09:00 05-31T09:00"},
		// the last day of the month
		{"FREQ=MONTHLY;BYMONTHDAY=-1;COUNT=3", "2026-01-01T09:00:00", "UTC", "01-31T09:00 02-28T09:00 03-31T09:00"},
		// second Tuesday, last Friday
		{"FREQ=MONTHLY;BYDAY=2TU,-1FR;COUNT=3", "2026-11-01T09:00:00", "UTC", "11-10T09:00 11-27T09:00 12-08T09:00"},
		// every Monday and the second Tuesday
		{"FREQ=MONTHLY;BYDAY=MO,2TU;COUNT=4", "2026-11-01T09:00:00", "UTC",
			"11-02T09:00 11-09T09:00 11-10T09:00 11-16T09:00"},
		// UNTIL as a date includes the whole day
		{"FREQ=DAILY;UNTIL=20260330", "2026-03-29T22:00:00", "Europe/Berlin", "03-29T20:00 03-30T20:00"},
		// UNTIL as a UTC time
		{"FREQ=DAILY;UNTIL=20260330T200000Z", "2026-03-29T22:00:00", "Europe/Berlin", "03-29T20:00 03-30T20:00"},
		// UNTIL as a wall-clock time
		{"FREQ=DAILY;UNTIL=20260330T215959", "2026-03-29T22:00:00", "Europe/Berlin", "03-29T20:00"},
		// weekdays
		{"FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR;COUNT=3", "2026-11-27T09:00:00", "UTC",
			"11-27T09:00 11-30T09:00 12-01T09:00"},
	} {
		r, err := Parse(c.rule, parseWallClock(t, c.start), loadZone(t, c.zone))
		if err != nil {
			t.Errorf("%s: %v", c.rule, err)
			continue
		}
		got := []string{}
		for _, at := range firstOccurrences(r, time.Time{}, 5) {
			got = append(got, at.Format("01-02T15:04"))
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s from %s in %s: %s, want %s", c.rule, c.start, c.zone, text, c.want)
		}
	}
}

//go:embed testdata/dateutil.tsv
var dateutil string

// The file has random rules and starts. It has the days of their first eight occurrences before 2061 by dateutil 2.9,
// which is the usual implementation of RFC 5545 in Python.
func TestOccurrencesAgreeWithDateutil(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(dateutil) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		want := strings.Fields(f[2])
		got := []string{}
		r := must.Get(Parse(f[0], parseWallClock(t, f[1]), time.UTC))(t)
		for _, at := range firstOccurrences(r, time.Time{}, 8) {
			if at.Year() <= 2060 {
				got = append(got, at.Format(time.DateOnly))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s from %s: %v, want %v", f[0], f[1], got, want)
		}
	}
}

func TestParseInvalidRules(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{
		"", "FREQ", "FREQ=", "FREQ=YEARLY", "FREQ=HOURLY", "FREQ=SECONDLY", "freq=daily", "RRULE:FREQ=DAILY",
		"INTERVAL=2", "FREQ=DAILY;", "FREQ=DAILY;FREQ=DAILY", "FREQ=DAILY\nRDATE:20260101",
		"FREQ=DAILY;INTERVAL=0", "FREQ=DAILY;INTERVAL=-1", "FREQ=DAILY;INTERVAL=1000", "FREQ=DAILY;COUNT=0",
		"FREQ=DAILY;COUNT=99999999999999999999", "FREQ=DAILY;COUNT=2;UNTIL=20270101",
		"FREQ=DAILY;BYHOUR=1,2,3", "FREQ=DAILY;BYSETPOS=1", "FREQ=DAILY;WKST=SU", "FREQ=DAILY;DTSTART=20260101",
		"FREQ=DAILY;BYDAY=1MO", "FREQ=WEEKLY;BYDAY=-1MO", "FREQ=WEEKLY;BYMONTHDAY=1",
		"FREQ=MONTHLY;BYDAY=6MO", "FREQ=MONTHLY;BYDAY=XX", "FREQ=MONTHLY;BYMONTHDAY=32", "FREQ=MONTHLY;BYMONTHDAY=0",
		"FREQ=DAILY;UNTIL=20260230", "FREQ=DAILY;UNTIL=tomorrow", "FREQ=DAILY;UNTIL=20260101T250000Z",
		"FREQ=MONTHLY;BYMONTHDAY=1" + strings.Repeat(",1", 200),
	} {
		_, err := Parse(rule, parseWallClock(t, "2026-11-23T09:00:00"), time.UTC)
		if !apierr.Is(err, apierr.ValidationFailed) || apierr.FromError(err).Context["argument"] != "rule" {
			t.Errorf("%q: %v", rule, err)
		}
	}
}

// First detects rules without occurrences.
func TestRulesWithoutOccurrences(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{"FREQ=DAILY;INTERVAL=7;BYDAY=TU", "FREQ=MONTHLY;INTERVAL=12;BYMONTHDAY=31",
		"FREQ=MONTHLY;BYMONTHDAY=1,2,3;BYDAY=5MO", "FREQ=DAILY;INTERVAL=7;BYDAY=TU;BYMONTHDAY=-1",
		"FREQ=DAILY;UNTIL=20261122", "FREQ=WEEKLY;INTERVAL=999;BYDAY=MO;UNTIL=20261122"} {
		r, err := Parse(rule, parseWallClock(t, "2026-11-23T09:00:00"), time.UTC) // a Monday in a month with 30 days
		must.NoError(t, err)
		if at, ok := r.First(time.Time{}); ok {
			t.Errorf("%s: %v", rule, at)
		}
	}
}

func drawRule(t *rapid.T) string {
	parts := []string{"FREQ=" + rapid.SampledFrom([]string{"DAILY", "WEEKLY", "MONTHLY"}).Draw(t, "freq")}
	if rapid.Bool().Draw(t, "interval") {
		parts = append(parts, "INTERVAL="+rapid.SampledFrom([]string{"1", "2", "3", "14"}).Draw(t, "every"))
	}
	days := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"MO", "TU", "WE", "TH", "FR", "SA", "SU"}), 0, 7,
		func(d string) string { return d }).Draw(t, "days")
	if len(days) > 0 {
		parts = append(parts, "BYDAY="+strings.Join(days, ","))
	} else if !strings.HasSuffix(parts[0], "WEEKLY") && rapid.Bool().Draw(t, "by month day") {
		parts = append(parts, "BYMONTHDAY="+rapid.SampledFrom([]string{"1", "15", "31", "-1", "1,-1,28"}).Draw(t,
			"month days"))
	}
	return strings.Join(parts, ";")
}

// Occurrences are in strictly increasing order. They have the same wall-clock time unless that time is skipped.
func TestOccurrencesKeepWallClockTime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		zone := loadZone(t, rapid.SampledFrom(zones).Draw(t, "zone"))
		start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(rapid.IntRange(0, 366*24*60).Draw(t,
			"minutes")) * time.Minute)
		r := must.Get(Parse(drawRule(t), start, zone))(t)
		all := firstOccurrences(r, time.Time{}, 60)
		for i, at := range all {
			if i > 0 && !at.After(all[i-1]) {
				t.Fatalf("%v after %v", at, all[i-1])
			}
			if local := at.In(zone); local.Format("15:04") != start.Format("15:04") {
				if before, _ := local.ZoneBounds(); !before.Equal(at) {
					t.Fatalf("%v, but the series began at %v", local, start)
				}
			}
		}
		if len(all) < 2 {
			return
		}
		// Starting in the middle of a series results in the same occurrences.
		from := rapid.IntRange(0, len(all)-2).Draw(t, "from")
		if rest := firstOccurrences(r, all[from], len(all)-from-1); !slices.EqualFunc(rest, all[from+1:], time.Time.Equal) {
			t.Fatalf("after %v: %v, want %v", all[from], rest, all[from+1:])
		}
	})
}

// Parse and After handle random rules quickly.
func TestParseRandomRules(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"FREQ=DAILY", "FREQ=MONTHLY", "BYDAY=", "MO", "5FR", "-5SU", ";", ";", ",",
			"COUNT=", "9999", "INTERVAL=", "999", "BYMONTHDAY=", "-31", "UNTIL=", "99991231", "T235959Z", "=", "\x00"})
		text := strings.Join(rapid.SliceOfN(part, 0, 8).Draw(t, "parts"), "")
		r, err := Parse(text, time.Date(9998, 12, 31, 23, 0, 0, 0, time.UTC), time.UTC)
		if err == nil {
			firstOccurrences(r, time.Time{}, 100)
		} else if !apierr.Is(err, apierr.ValidationFailed) {
			t.Fatalf("%q: %v", text, err)
		}
	})
}

// The first occurrences of series around a change to daylight saving time.
func TestPreview(t *testing.T) {
	t.Parallel()
	berlin := loadZone(t, "Europe/Berlin")
	begin := time.Date(2026, 3, 28, 10, 0, 0, 0, berlin)
	for rule, want := range map[string]string{
		"FREQ=DAILY":                "28T10+01 29T10+02 30T10+02",
		"FREQ=DAILY;COUNT=2":        "28T10+01 29T10+02",
		"FREQ=MONTHLY;BYDAY=-1SA":   "28T10+01 25T10+02 30T10+02",
		"FREQ=WEEKLY;BYDAY=MO,WE":   "30T10+02 01T10+02 06T10+02",
		"FREQ=DAILY;UNTIL=20260327": "",
		"FREQ=HOURLY":               "",
	} {
		got, err := Preview(rule, begin, berlin, 3)
		texts := []string{}
		for _, at := range got {
			texts = append(texts, at.In(berlin).Format("02T15-07"))
		}
		if text := strings.Join(texts, " "); text != want || (want == "") != (err != nil) {
			t.Errorf("%s: %q (%v), want %q", rule, text, err, want)
		}
	}
}
