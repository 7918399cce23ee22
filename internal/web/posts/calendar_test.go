package posts

import (
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/calendar"
	"pressroom.example/pressroom/internal/locale"
)

// date returns midnight UTC of a date.
func date(t *testing.T, text string) time.Time {
	t.Helper()
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		t.Fatal(err)
	}
	return day
}

func TestPeriodDates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		day, view, from string
		rolling         bool
		days            int
		language        *locale.Language
	}{
		{"2026-11-22", weekView, "2026-11-16", false, 7, locale.English},
		{"2026-11-16", weekView, "2026-11-16", false, 7, locale.English},
		{"2026-11-22", dayView, "2026-11-22", false, 1, locale.English},
		{"2026-11-22", monthView, "2026-10-26", false, 42, locale.English},
		{"2027-02-28", monthView, "2027-02-01", false, 28, locale.English}, // from a Monday to a Sunday
		{"2027-03-05", monthView, "2027-03-01", false, 35, locale.English},
		{"2026-11-26", monthView, "2026-11-23", true, 35, locale.English}, // this week and four more
		{"2026-11-22", weekView, "2026-11-22", false, 7, locale.American}, // from a Sunday to a Saturday
		{"2026-11-21", weekView, "2026-11-15", false, 7, locale.American},
		{"2026-08-22", monthView, "2026-07-26", false, 42, locale.American},
	} {
		from, n := period{view: c.view, day: date(t, c.day), rolling: c.rolling, language: c.language}.dates()
		if from.Format(time.DateOnly) != c.from || n != c.days {
			t.Errorf("%s: %d days from %s, want %d from %s", c.day, n, from.Format(time.DateOnly), c.days, c.from)
		}
	}
}

// The months and the weeks from today are one sequence, so that a step back leads to where a step forward began.
func TestMonthSteps(t *testing.T) {
	t.Parallel()
	today, days := date(t, "2026-11-28"), []string{"2026-10-01", "2026-11-01", "", "2026-12-01", "2027-01-01"}
	for i, day := range days {
		shown := period{view: monthView, day: today, today: today, rolling: day == "", language: locale.English}
		if day != "" {
			shown.day = date(t, day)
		}
		v := calendarView{calendarQuery: calendarQuery{View: monthView}}
		v.setTitle(locale.English, shown)
		if i > 0 && v.Before != days[i-1] || i+1 < len(days) && v.Next != days[i+1] {
			t.Errorf("from %q to %q and %q", day, v.Before, v.Next)
		}
	}
}

// The title of a range names the year and the month only where they differ.
func TestRangeTitle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, last, want string }{
		{"2026-11-29", "2027-01-02", "Nov 29, 2026 – Jan 2, 2027"},
		{"2026-11-29", "2026-12-05", "Nov 29 – Dec 5, 2026"},
		{"2026-11-01", "2026-11-28", "November 1 – 28, 2026"},
	} {
		if got := rangeTitle(locale.American, date(t, c.from), date(t, c.last)); got != c.want {
			t.Errorf("%s to %s: %q, want %q", c.from, c.last, got, c.want)
		}
	}
}

// The grid of a day has a row for each hour, even if the clocks change.
func TestAddHours(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		zone, view, day string
		rows, hours     int // rows of the grid, and hours of the day
		holds           string
	}{
		{"Europe/Berlin", dayView, "2027-06-15", 24, 24, "00:00 01:00 02:00 03:00"},
		{"Europe/Berlin", dayView, "2027-03-28", 23, 23, "01:00 03:00"},
		{"Europe/Berlin", weekView, "2027-03-28", 24, 23, "01:00 02:00 03:00"},
		{"Europe/Berlin", dayView, "2027-10-31", 25, 25, "01:00 02:00 CEST 02:00 CET 03:00"},
		{"Europe/Berlin", weekView, "2027-10-31", 25, 25, "02:00 CEST 02:00 CET"},
		{"Australia/Lord_Howe", dayView, "2027-04-04", 25, 25, "01:00 +11 01:30 +1030 02:00"}, // by half an hour
		{"Australia/Lord_Howe", dayView, "2027-10-03", 24, 24, "01:00 02:30 03:00"},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		shown := period{view: c.view, day: date(t, c.day), zone: zone, now: date(t, "2026-11-26"), language: locale.English}
		from, bounds := shown.bounds()
		days, last := []calendarDay{}, len(bounds)-2
		for i := range last + 1 {
			d := shown.newDay(from.AddDate(0, 0, i), calendar.Span{From: bounds[i], To: bounds[i+1]})
			for at := bounds[i]; at.Before(bounds[i+1]); at = at.Add(15 * time.Minute) {
				d.Events = append(d.Events, event{Entry: calendar.Entry{At: at}})
			}
			days = append(days, d)
		}
		labels, hours, posts := []string{}, 0, 0
		for n, row := range shown.addHours(locale.English, days, bounds) {
			labels = append(labels, row.Label)
			hour := days[last].Hours[n]
			if !hour.Start.IsZero() {
				hours++
			}
			posts += len(hour.Events)
			for _, e := range hour.Events {
				if got := e.At.In(zone).Hour(); got != row.hour {
					t.Errorf("%s %s: a post of %s is in the hour %s", c.zone, c.day, e.At.In(zone), row.Label)
				}
			}
		}
		if len(labels) != c.rows || hours != c.hours || posts != len(days[last].Events) ||
			!strings.Contains(strings.Join(labels, " "), c.holds) {
			t.Errorf("%s %s %s: %d rows, %d hours, %d posts of %d: %q", c.zone, c.view, c.day, len(labels), hours, posts,
				len(days[last].Events), labels)
		}
	}
}

// Accounts whose logos do not fit are counted. A narrow day shows only the first logo of three or more accounts.
func TestEventCountsAccountsWithoutLogo(t *testing.T) {
	for accounts, want := range [][3]int{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 2}, {3, 1, 3}, {3, 2, 4}} {
		e := event{}
		e.Accounts = make([]post.PostEntryAccount, accounts)
		if got := [3]int{len(e.Logos()), e.Others(), e.OthersNarrow()}; got != want {
			t.Errorf("%d accounts: logos and others are %v, want %v", accounts, got, want)
		}
	}
}

// Hours without posts on any day are low. The night has its own height.
func TestMarkQuiet(t *testing.T) {
	t.Parallel()
	posts := []event{{}}
	days := []calendarDay{
		{Hours: []dayHour{{}, {Events: posts}, {}}},
		{Hours: []dayHour{{}, {}, {}}},
	}
	markQuiet(days, []hourRow{{Night: true}, {}, {}})
	for i, d := range days {
		if d.Hours[0].Quiet || d.Hours[1].Quiet || !d.Hours[2].Quiet {
			t.Errorf("day %d: %+v, want only the last hour quiet", i, d.Hours)
		}
	}
}

func TestShortHours(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"00:00", "07:00", "00–07"}, {"12 AM", "7 AM", "12–7 AM"}, {"10 PM", "12 AM", "10 PM–12 AM"},
	} {
		if got := shortHours(c[0], c[1]); got != c[2] {
			t.Errorf("%s to %s: %q, want %q", c[0], c[1], got, c[2])
		}
	}
}
