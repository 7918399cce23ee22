package posts

import (
	"context"
	"net/http"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/domain/post/calendar"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/teamtime"
	"pressroom.example/pressroom/internal/web/shell"
)

// Maximum numbers of posts per day in each view, and of drafts listed next to the calendar.
const (
	perDayInMonth  = 3
	perDayInWeek   = 12
	perDay         = 60
	maxShownDrafts = 10
)

// Hours before morning, and from night on, are folded if they have no posts.
const (
	morning = 7
	night   = 22
)

// rollingWeeks is the number of weeks in the month view if no day is selected, starting with the current week.
const rollingWeeks = 5

const daysPerWeek = 7

// period is the period that the calendar shows. The dates day and today are midnight UTC.
type period struct {
	view       string
	day, today time.Time
	now        time.Time // in zone
	zone       *time.Location
	rolling    bool // whether the month view shows the weeks from today
	language   *locale.Language
}

// dates returns the first date of the period and the number of dates.
func (p period) dates() (time.Time, int) {
	switch {
	case p.view == dayView:
		return p.day, 1
	case p.view == weekView:
		return p.language.StartOfWeek(p.day), daysPerWeek
	case p.rolling:
		return p.language.StartOfWeek(p.day), rollingWeeks * daysPerWeek
	}
	first := p.day.AddDate(0, 0, 1-p.day.Day())
	last := first.AddDate(0, 1, -1)
	from := p.language.StartOfWeek(first)
	return from, int(p.language.StartOfWeek(last).AddDate(0, 0, daysPerWeek).Sub(from) / (24 * time.Hour))
}

// bounds returns the first date of the period, and the instants at which its days begin in the time zone. The last
// instant is the end of the last day.
func (p period) bounds() (time.Time, []time.Time) {
	from, n := p.dates()
	out := make([]time.Time, n+1)
	for i := range out {
		d := from.AddDate(0, 0, i)
		out[i] = teamtime.StartOfDay(d.Year(), d.Month(), d.Day(), p.zone)
	}
	return from, out
}

// maxPostsPerDay returns the maximum number of posts that a day shows.
func (p period) maxPostsPerDay() int {
	switch p.view {
	case dayView:
		return perDay
	case weekView:
		return perDayInWeek
	}
	return perDayInMonth
}

type (
	// calendarDay is a date in the visitor's time zone.
	calendarDay struct {
		Date       time.Time // midnight UTC of the date
		OtherMonth bool      // whether the date belongs to the previous or next month
		Today      bool
		Past       bool
		Changes    locale.Key // note that clocks change on this day; empty if they do not
		AnyTime    []event    // posts planned for the date without a time
		Events     []event    // posts with a time, earliest first
		More       bool       // whether the day has more posts than are shown
		Hours      []dayHour  // one per row; only in the week and day views
	}
	// dayHour is an hour of a day. Its start is zero if clocks skip the hour.
	dayHour struct {
		Start  time.Time
		Past   bool
		Now    int  // current quarter of the hour, from 1; 0 if the hour is not the current one
		Night  bool // whether the row represents folded hours
		Quiet  bool // whether no day has posts in this hour, so that its row is small
		Spills bool // whether its only post is in the second half and may extend into the next hour, which has no posts
		Events []event
	}
	// hourRow is a row of the week and day views.
	hourRow struct {
		Label string
		Night bool   // whether the hour can be folded or, after foldNights, whether the row represents folded hours
		Until string // end of folded hours, such as 07:00; empty for a single hour
		Short string // the folded hours, such as 00–07 or 12–7 AM

		hour   int
		second bool // whether the row repeats an hour because clocks go back
	}
)

// Count returns the number of posts on the day.
func (d calendarDay) Count() int { return len(d.AnyTime) + len(d.Events) }

// Dots returns the first three posts on the day, which a narrow layout shows as dots.
func (d calendarDay) Dots() []event {
	all := slices.Concat(d.AnyTime, d.Events)
	return all[:min(len(all), 3)]
}

// Half reports whether the first post is in the second half of the hour.
func (h dayHour) Half() bool { return len(h.Events) > 0 && h.Events[0].Local.Minute() >= 30 }

// fillCalendar reads the posts of the period and adds them to the view.
func (p *Handlers) fillCalendar(r *http.Request, view *calendarView, filter calendar.Filter, shown period) error {
	ctx, team := r.Context(), shell.VisitorOf(r.Context()).Team.ID
	entries, err := p.read(ctx, team, filter, shown)
	if err != nil {
		return err
	}
	var drafts []calendar.Entry
	if view.Writer {
		if drafts, err = calendar.ListUnplanned(ctx, p.DB, team, filter, maxShownDrafts+1); err != nil {
			return err
		}
	}
	events, err := p.eventMaker(r, slices.Concat(entries.entries(), drafts), shown.zone)
	if err != nil {
		return err
	}
	if view.MoreDrafts = len(drafts) > maxShownDrafts; view.MoreDrafts {
		drafts = drafts[:maxShownDrafts]
	}
	view.Drafts = events(drafts, false)
	view.Days, view.Empty = shown.days(entries, events), true
	for _, d := range view.Days {
		view.Empty = view.Empty && d.Count() == 0
		view.Upcoming = view.Upcoming || slices.ContainsFunc(d.Events, func(e event) bool { return e.IsOccurrence })
	}
	if view.View == dayView {
		if view.Week, err = p.week(r, team, filter, shown); err != nil {
			return err
		}
	}
	_, bounds := shown.bounds()
	view.ZoneCode = bounds[0].In(shown.zone).Format("MST")
	if view.View != monthView {
		view.Rows = shown.addHours(p.Language(r), view.Days, bounds)
		if view.Night == "" {
			view.Rows = foldNights(p.Language(r), view.Days, view.Rows)
		}
		markQuiet(view.Days, view.Rows)
	}
	return nil
}

// periodEntries holds the posts of a period.
type periodEntries struct {
	spans   []calendar.Span  // posts with a time, by day
	planned []calendar.Entry // posts planned for a date without a time
}

// entries returns all posts of the period.
func (s periodEntries) entries() []calendar.Entry {
	out := slices.Clone(s.planned)
	for _, span := range s.spans {
		out = append(out, span.Entries...)
	}
	return out
}

// read returns the posts of a period.
func (p *Handlers) read(ctx context.Context, team int64, filter calendar.Filter, shown period) (periodEntries, error) {
	from, bounds := shown.bounds()
	spans, err := calendar.Spans(ctx, p.DB, team, filter, bounds, shown.maxPostsPerDay())
	if err != nil {
		return periodEntries{}, err
	}
	planned, err := calendar.ListPlanned(ctx, p.DB, team, filter, from.Format(time.DateOnly),
		from.AddDate(0, 0, len(spans)).Format(time.DateOnly), shown.maxPostsPerDay()*len(spans))
	return periodEntries{spans, planned}, err
}

// days returns the days of the period with their posts.
func (p period) days(entries periodEntries, events func([]calendar.Entry, bool) []event) []calendarDay {
	from, _ := p.dates()
	out := make([]calendarDay, len(entries.spans))
	for i, span := range entries.spans {
		d := p.newDay(from.AddDate(0, 0, i), span)
		d.Events = events(span.Entries, d.Changes != "")
		d.AnyTime = events(entriesOn(entries.planned, d.Date), false)
		out[i] = d.limit(p.maxPostsPerDay())
	}
	return out
}

// week returns the days of the week that contains the period's day.
func (p *Handlers) week(r *http.Request, team int64, filter calendar.Filter, shown period) ([]calendarDay, error) {
	shown.view = weekView
	entries, err := p.read(r.Context(), team, filter, shown)
	if err != nil {
		return nil, err
	}
	events, err := p.eventMaker(r, entries.entries(), shown.zone)
	if err != nil {
		return nil, err
	}
	return shown.days(entries, events), nil
}

// newDay returns a day of the period, without posts. span is the time range of the day.
func (p period) newDay(date time.Time, span calendar.Span) calendarDay {
	return calendarDay{Date: date, More: span.More, Past: date.Before(p.today), Today: date.Equal(p.today),
		OtherMonth: p.view == monthView && !p.rolling && date.Month() != p.day.Month(),
		Changes:    clockChange(span.To.Sub(span.From))}
}

// limit returns the day with at most the given number of posts.
func (d calendarDay) limit(maxEvents int) calendarDay {
	d.More = d.More || d.Count() > maxEvents
	d.AnyTime = d.AnyTime[:min(len(d.AnyTime), maxEvents)]
	d.Events = d.Events[:min(len(d.Events), maxEvents-len(d.AnyTime))]
	return d
}

// entriesOn returns the entries planned for a date.
func entriesOn(planned []calendar.Entry, date time.Time) []calendar.Entry {
	out, day := []calendar.Entry{}, date.Format(time.DateOnly)
	for _, entry := range planned {
		if entry.Day == day {
			out = append(out, entry)
		}
	}
	return out
}

// clockChange returns the note for a day of the given length, or "" if clocks do not change on it.
func clockChange(dayLength time.Duration) locale.Key {
	switch {
	case dayLength < 24*time.Hour:
		return "Clocks go forward"
	case dayLength > 24*time.Hour:
		return "Clocks go back"
	}
	return ""
}

// timeOfDay formats a time of day. It adds the time zone's abbreviation if clocks change on the day.
func timeOfDay(l *locale.Language, at time.Time, changes bool) string {
	if changes {
		return l.Format(at, locale.Clock) + at.Format(" MST")
	}
	return l.Format(at, locale.Clock)
}
