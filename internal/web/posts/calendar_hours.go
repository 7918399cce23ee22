package posts

import (
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/locale"
)

// addHours distributes the posts of days over hours and returns the rows. bounds are the instants between the days.
// Each row is an hour of the clock. If clocks go back, the repeated hour has two rows. If clocks go forward, the
// skipped hour has a row only if another day has that hour.
func (p period) addHours(l *locale.Language, days []calendarDay, bounds []time.Time) []hourRow {
	starts := make([]map[hourRow]time.Time, len(days))
	for i := range days {
		starts[i] = hourStarts(bounds[i], bounds[i+1], p.zone)
	}
	rows := []hourRow{}
	for n := range 2 * 24 {
		row := hourRow{hour: n / 2, second: n%2 == 1}
		if row.Label = row.label(l, starts); row.Label == "" {
			continue
		}
		quiet := row.hour < morning || row.hour >= night
		for i := range days {
			p.addHour(&days[i], starts[i], row)
			quiet = quiet && len(days[i].Hours[len(rows)].Events) == 0
		}
		row.Night = quiet
		rows = append(rows, row)
	}
	for i := range days {
		hours := days[i].Hours
		for n := range hours {
			hours[n].Spills = len(hours[n].Events) == 1 && hours[n].Half() && n+1 < len(hours) && len(hours[n+1].Events) == 0
		}
	}
	return rows
}

// shortHours formats a range of hours without minutes, and with a shared AM or PM only once.
func shortHours(from, until string) string {
	from, until = strings.Replace(from, ":00", "", 1), strings.Replace(until, ":00", "", 1)
	if _, half, ok := strings.Cut(until, " "); ok {
		from = strings.TrimSuffix(from, " "+half)
	}
	return from + "–" + until
}

// foldNights combines each run of two or more hours at night without posts into one row.
func foldNights(l *locale.Language, days []calendarDay, rows []hourRow) []hourRow {
	out, hours := []hourRow{}, make([][]dayHour, len(days))
	for from := 0; from < len(rows); {
		to := from + 1
		for rows[from].Night && to < len(rows) && rows[to].Night {
			to++
		}
		row := rows[from]
		row.Night = to-from > 1
		if row.Night {
			row.Until = l.FormatHour(time.Time{}) // midnight
			if to < len(rows) {
				row.Until = rows[to].Label
			}
			row.Short = shortHours(row.Label, row.Until)
		}
		out = append(out, row)
		for i := range days {
			h := days[i].Hours[from]
			for _, other := range days[i].Hours[from+1 : to] {
				h.Now = max(h.Now, other.Now)
				h.Past = h.Past && other.Past
			}
			h.Night = row.Night
			hours[i] = append(hours[i], h)
		}
		from = to
	}
	for i := range days {
		days[i].Hours = hours[i]
	}
	return out
}

// markQuiet marks the hours in which no day has a post.
func markQuiet(days []calendarDay, rows []hourRow) {
	for n, row := range rows {
		hasPosts := slices.ContainsFunc(days, func(d calendarDay) bool { return len(d.Hours[n].Events) > 0 })
		for i := range days {
			days[i].Hours[n].Quiet = !hasPosts && !row.Night
		}
	}
}

// label returns the time when the row's hour starts, with the time zone's abbreviation if a day has the hour twice. It
// returns "" if no day has the hour.
func (h hourRow) label(l *locale.Language, starts []map[hourRow]time.Time) string {
	out := ""
	for _, day := range starts {
		at, ok := day[h]
		_, twice := day[hourRow{hour: h.hour, second: true}]
		switch {
		case ok && twice:
			return l.FormatHour(at) + at.Format(" MST")
		case ok && out == "":
			out = l.FormatHour(at)
		}
	}
	return out
}

// hourStarts returns when each hour of a day starts. The keys are rows with only the fields hour and second. Zone
// offsets must be multiples of 15 minutes.
func hourStarts(from, to time.Time, zone *time.Location) map[hourRow]time.Time {
	const quarter = 15 * time.Minute
	out, seen := map[hourRow]time.Time{}, map[[2]int]bool{}
	for at := from.In(zone); at.Before(to); at = at.Add(quarter) {
		wall := [2]int{at.Hour(), at.Minute()}
		row := hourRow{hour: at.Hour(), second: seen[wall]}
		seen[wall] = true
		if _, ok := out[row]; !ok {
			out[row] = at
		}
	}
	return out
}

// addHour appends the hour of a row to a day.
func (p period) addHour(day *calendarDay, starts map[hourRow]time.Time, row hourRow) {
	start, ok := starts[hourRow{hour: row.hour, second: row.second}]
	if !ok {
		day.Hours = append(day.Hours, dayHour{})
		return
	}
	var end time.Time // the start of the following hour; zero for the last
	for _, at := range starts {
		if at.After(start) && (end.IsZero() || at.Before(end)) {
			end = at
		}
	}
	within := func(at time.Time) bool { return !at.Before(start) && (end.IsZero() || at.Before(end)) }
	h := dayHour{Start: start, Past: !end.IsZero() && !end.After(p.now) || day.Past}
	if day.Today && within(p.now) {
		h.Now = p.now.Minute()/15 + 1
	}
	for _, e := range day.Events {
		if within(e.At) {
			h.Events = append(h.Events, e)
		}
	}
	day.Hours = append(day.Hours, h)
}
