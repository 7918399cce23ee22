package compose

import (
	"net/http"
	"time"

	"pressroom.example/pressroom/internal/domain/post/calendar"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/teamtime"
	"pressroom.example/pressroom/internal/web/datepicker"
)

const (
	yearMonth  = "2006-01"
	maxPerDay  = 10  // maximum number of posts that are listed per day
	monthRange = 120 // number of months before and after the current one that can be shown
)

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
	shown := datepicker.NewMonth(l, first, today.Format(dateOnly))
	if first.After(earliest) {
		shown.Previous = first.AddDate(0, -1, 0).Format(yearMonth)
	}
	if first.Before(latest) {
		shown.Next = first.AddDate(0, 1, 0).Format(yearMonth)
	}
	var bounds []time.Time
	start := l.StartOfWeek(first)
	for i := range len(shown.Weeks)*datepicker.DaysPerWeek + 1 {
		day := start.AddDate(0, 0, i)
		bounds = append(bounds, teamtime.StartOfDay(day.Year(), day.Month(), day.Day(), actor.PersonZone))
	}
	spans, err := calendar.Spans(r.Context(), p.DB, actor.TeamID, calendar.Filter{}, bounds, maxPerDay)
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	for i, span := range spans {
		day := &shown.Weeks[i/datepicker.DaysPerWeek][i%datepicker.DaysPerWeek]
		for _, entry := range span.Entries {
			day.Times = append(day.Times, l.Format(entry.At.In(actor.PersonZone), locale.Clock))
		}
		day.Excess = span.More
	}
	p.ShowPart(w, r, pages["compose"], "month", shown)
}
