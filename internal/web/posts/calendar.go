package posts

import (
	"net/http"
	"net/url"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/domain/post/calendar"
	"pressroom/internal/domain/post/postlist"
	"pressroom/internal/teamtime"
	"pressroom/internal/web/shell"
)

// How many posts the calendar shows per day, by view.
const (
	ofADayInAMonth = 4
	ofADayInAWeek  = 15
)

// calendarView is a month or a week.
type calendarView struct {
	Week         bool
	Account      string // shows only posts of this account; empty for all
	Choices      []choice
	Day          string // a day within it
	Title        string
	Before, Next string // days in the previous and next month or week
	Zone         string
	Weeks        [][]calendarDay
	Wrong        string
	Empty        bool
}

// calendarDay is a date in the team's time zone.
type calendarDay struct {
	Date    time.Time // midnight UTC of the date
	Beside  bool      // belongs to the previous or next month
	Today   bool
	Past    bool
	Changes string // note if clocks change on this day
	Slots   []daySlot
	More    bool
}

type daySlot struct {
	calendar.Slot
	postlist.Details

	Clock string // time of day, with the zone's abbreviation if clocks change
}

// spanDays returns the first date of a view and its number of days. Weeks begin on Monday.
func spanDays(day time.Time, week bool) (time.Time, int) {
	monday := func(t time.Time) time.Time { return t.AddDate(0, 0, -(int(t.Weekday())+6)%7) }
	if week {
		return monday(day), 7
	}
	first := day.AddDate(0, 0, 1-day.Day())
	last := first.AddDate(0, 1, -1)
	from := monday(first)
	return from, int(monday(last).AddDate(0, 0, 7).Sub(from) / (24 * time.Hour))
}

// lastYear is the last year of the calendar.
const lastYear = 9990

func (p *Handlers) calendar(w http.ResponseWriter, r *http.Request) {
	zone, err := p.zone(r)
	if err != nil {
		p.ServerError(w, r, err)
		return
	}
	now := p.DB.Now().In(zone)
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	view := &calendarView{
		Week: r.URL.Query().Get("view") == "week", Account: r.URL.Query().Get("account"), Zone: zone.String(),
	}
	if view.Choices, err = p.choices(r, view.Account); err != nil {
		p.ShowError(w, r, err)
		return
	}
	status, day := http.StatusOK, today
	if text := r.URL.Query().Get("day"); text != "" {
		if day, err = time.Parse(time.DateOnly, text); err != nil || day.Year() < 2000 || day.Year() > lastYear {
			day, view.Wrong, status = today, "Enter a date from the year 2000 on, such as 2026-03-29.",
				http.StatusUnprocessableEntity
		}
	}
	account, err := accountOf(view.Account)
	if err != nil {
		view.Account, view.Wrong, status = "", apierr.Of(err).Detail, shell.StatusOf(err)
	}
	view.name(day)
	if err := p.fillCalendar(r, view, account, period{day, today, zone}); err != nil {
		p.ShowError(w, r, err)
		return
	}
	p.Show(w, r, status, pages["calendar"], "Calendar: "+view.Title, view)
}

// name sets the title and the links to the previous and next period.
func (v *calendarView) name(day time.Time) {
	v.Day = day.Format(time.DateOnly)
	if v.Week {
		from, _ := spanDays(day, true)
		v.Title = "Week of " + from.Format("2 January 2006")
		v.Before, v.Next = from.AddDate(0, 0, -7).Format(time.DateOnly), from.AddDate(0, 0, 7).Format(time.DateOnly)
		return
	}
	first := day.AddDate(0, 0, 1-day.Day())
	v.Title = first.Format("January 2006")
	v.Before, v.Next = first.AddDate(0, -1, 0).Format(time.DateOnly), first.AddDate(0, 1, 0).Format(time.DateOnly)
}

// Link returns the path of a view and day, with the selected account.
func (v *calendarView) Link(view, day string) string {
	q := url.Values{"view": {view}}
	if day != "" {
		q.Set("day", day)
	}
	if v.Account != "" {
		q.Set("account", v.Account)
	}
	return "/calendar?" + q.Encode()
}

// New returns the path of the editor for a day.
func (v *calendarView) New(day time.Time) string {
	q := url.Values{"date": {day.Format(time.DateOnly)}}
	if v.Account != "" {
		q.Set("account", v.Account)
	}
	return "/posts/new?" + q.Encode()
}

// List returns the path of a day's posts.
func (v *calendarView) List(day time.Time) string {
	f := filters{Account: v.Account, From: day.Format(time.DateOnly), To: day.Format(time.DateOnly)}
	return "/posts?" + f.query().Encode()
}

// period is the range of the calendar: dates as midnights in UTC, and the time zone of the days.
type period struct {
	day, today time.Time
	zone       *time.Location
}

// bounds returns the midnights in the zone that separate the calendar's days.
func (p period) bounds(week bool) (time.Time, []time.Time) {
	from, n := spanDays(p.day, week)
	out := make([]time.Time, n+1)
	for i := range out {
		d := from.AddDate(0, 0, i)
		out[i] = teamtime.StartOfDay(d.Year(), d.Month(), d.Day(), p.zone)
	}
	return from, out
}

func (p *Handlers) fillCalendar(r *http.Request, view *calendarView, account int64, shown period) error {
	from, bounds := shown.bounds(view.Week)
	most := ofADayInAMonth
	if view.Week {
		most = ofADayInAWeek
	}
	team := shell.VisitorOf(r.Context()).Team.ID
	spans, err := calendar.Spans(r.Context(), p.DB, team, account, bounds, most)
	if err != nil {
		return err
	}
	ids := []string{}
	for _, span := range spans {
		for _, slot := range span.Slots {
			ids = append(ids, slot.PostID)
		}
	}
	glances, err := postlist.DetailsOf(r.Context(), p.DB, team, ids)
	if err != nil {
		return err
	}
	day, today, zone := shown.day, shown.today, shown.zone
	view.Empty = true
	for i, span := range spans {
		d := calendarDay{Date: from.AddDate(0, 0, i), More: span.More}
		d.Past = d.Date.Before(today)
		d.Beside, d.Today, d.Changes = !view.Week && d.Date.Month() != day.Month(), d.Date.Equal(today),
			clockChange(span.To.Sub(span.From))
		for _, slot := range span.Slots {
			d.Slots = append(d.Slots, daySlot{slot, glances[slot.PostID], timeOfDay(slot.At.In(zone), d.Changes != "")})
		}
		view.Empty = view.Empty && len(d.Slots) == 0
		if i%7 == 0 {
			view.Weeks = append(view.Weeks, nil)
		}
		week := &view.Weeks[len(view.Weeks)-1]
		*week = append(*week, d)
	}
	return nil
}

// clockChange describes a day's change of clocks by its length.
func clockChange(long time.Duration) string {
	switch {
	case long < 24*time.Hour:
		return "Clocks go forward"
	case long > 24*time.Hour:
		return "Clocks go back"
	}
	return ""
}

// timeOfDay returns the time of day, with the zone's abbreviation on days when it may occur twice.
func timeOfDay(at time.Time, changes bool) string {
	if changes {
		return at.Format("15:04 MST")
	}
	return at.Format("15:04")
}
