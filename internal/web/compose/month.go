package compose

import (
	"net/http"
	"time"

	"pressroom.example/pressroom/internal/domain/post/calendar"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/teamtime"
)

const (
	yearMonth  = "2006-01"
	maxPerDay  = 10 // maximum number of posts that are listed per day
	weekDays   = 7
	monthRange = 120 // number of months before and after the current one that can be shown
)

// month is a month in the date picker, with the times of the team's posts.
type month struct {
	Title          string
	Previous, Next string // such as 2026-11; empty at the ends of the range
	Weekdays       []string
	Weeks          [][]monthDay
}

// monthDay is a day in the weeks of a month.
type monthDay struct {
	Date   string // such as 2026-11-29
	Day    int
	Other  bool // whether the day belongs to the previous or next month
	Past   bool
	Today  bool
	Name   string   // date in words
	Times  []string // times of the team's posts, earliest first
	Excess bool     // whether the day has more posts than Times lists
}

// showMonth serves a month of the date picker to the page's script. Without a valid month in the query, it serves the
// current month.
func (p *Handlers) showMonth(w http.ResponseWriter, r *http.Request) {
	actor, err := p.actor(r)
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	today := p.DB.Now().In(actor.PersonZone)
	first := time.Date(today.Year(), today.Month(), 1, 0, 0, 0, 0, time.UTC)
	earliest, latest := first.AddDate(0, -monthRange, 0), first.AddDate(0, monthRange, 0)
	if asked, err := time.Parse(yearMonth, r.URL.Query().Get("month")); err == nil && !asked.Before(earliest) && !asked.After(latest) {
		first = asked
	}
	l := p.Language(r)
	shown := newMonth(l, first, today.Format(dateOnly))
	if first.After(earliest) {
		shown.Previous = first.AddDate(0, -1, 0).Format(yearMonth)
	}
	if first.Before(latest) {
		shown.Next = first.AddDate(0, 1, 0).Format(yearMonth)
	}
	var bounds []time.Time
	start := l.StartOfWeek(first)
	for i := range len(shown.Weeks)*weekDays + 1 {
		day := start.AddDate(0, 0, i)
		bounds = append(bounds, teamtime.StartOfDay(day.Year(), day.Month(), day.Day(), actor.PersonZone))
	}
	spans, err := calendar.Spans(r.Context(), p.DB, actor.TeamID, calendar.Filter{}, bounds, maxPerDay)
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	for i, span := range spans {
		day := &shown.Weeks[i/weekDays][i%weekDays]
		for _, entry := range span.Entries {
			day.Times = append(day.Times, l.Format(entry.At.In(actor.PersonZone), locale.Clock))
		}
		day.Excess = span.More
	}
	p.ShowPart(w, r, pages["compose"], "month", shown)
}

// newMonth returns the month that begins at first, in whole weeks and without posts.
func newMonth(l *locale.Language, first time.Time, today string) month {
	out := month{Title: l.Format(first, locale.Month)}
	day, end := l.StartOfWeek(first), first.AddDate(0, 1, 0)
	for i := range weekDays {
		out.Weekdays = append(out.Weekdays, l.Format(day.AddDate(0, 0, i), locale.ShortWeekday))
	}
	for day.Before(end) {
		week := make([]monthDay, weekDays)
		for i := range week {
			date := day.Format(dateOnly)
			week[i] = monthDay{
				Date: date, Day: day.Day(), Other: day.Month() != first.Month(), Past: date < today, Today: date == today,
				Name: l.Format(day, locale.LongDate),
			}
			day = day.AddDate(0, 0, 1)
		}
		out.Weeks = append(out.Weeks, week)
	}
	return out
}
