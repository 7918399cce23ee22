// Package datepicker arranges the days of a month as weeks, for the date picker of the composer.
package datepicker

import (
	"time"

	"pressroom.example/pressroom/internal/locale"
)

// DaysPerWeek is the number of days in a week.
const DaysPerWeek = 7

const dateOnly = "2006-01-02"

// Month is a month in the date picker, with the times of the team's posts.
type Month struct {
	Title          string
	Previous, Next string // such as 2026-11; empty at the ends of the range
	Weekdays       []string
	Weeks          [][]Day
}

// Day is a day in the weeks of a month.
type Day struct {
	Date   string // such as 2026-11-29
	Day    int
	Other  bool // whether the day belongs to the previous or next month
	Past   bool
	Today  bool
	Name   string   // date in words
	Times  []string // times of the team's posts, earliest first
	Excess bool     // whether the day has more posts than Times lists
}

// NewMonth returns the month that begins at first, in whole weeks and without posts.
func NewMonth(l *locale.Language, first time.Time, today string) Month {
	out := Month{Title: l.Format(first, locale.Month)}
	day, end := l.StartOfWeek(first), first.AddDate(0, 1, 0)
	for i := range DaysPerWeek {
		out.Weekdays = append(out.Weekdays, l.Format(day.AddDate(0, 0, i), locale.ShortWeekday))
	}
	for day.Before(end) {
		week := make([]Day, DaysPerWeek)
		for i := range week {
			date := day.Format(dateOnly)
			week[i] = Day{
				Date: date, Day: day.Day(), Other: day.Month() != first.Month(), Past: date < today, Today: date == today,
				Name: l.Format(day, locale.LongDate),
			}
			day = day.AddDate(0, 0, 1)
		}
		out.Weeks = append(out.Weeks, week)
	}
	return out
}
