package posts

import (
	"net/http"
	"net/url"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/calendar"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

// The views of the calendar.
const (
	monthView = "month"
	weekView  = "week"
	dayView   = "day"
)

// lastYear is the last year that the calendar shows.
const lastYear = 9990

// calendarView is the calendar's page.
type calendarView struct {
	calendarQuery

	Title        string
	Before, Next string // days in the previous and next period; empty for the weeks from today
	Zone         string
	ZoneCode     string   // abbreviation of the time zone on the first day
	Choices      []choice // accounts to filter by
	Networks     []string // platforms of the team's accounts
	States       []calendar.State
	Days         []calendarDay
	Week         []calendarDay // days of the week that contains the day; only in the day view
	Rows         []hourRow     // hours; only in the week and day views
	Drafts       []event       // drafts without a date
	MoreDrafts   bool
	Error        string
	Moved        *moveResult // the move that was just made; nil if there is none
	Empty        bool        // whether the period has no posts
	Upcoming     bool        // whether the period has occurrences of series that do not exist as posts yet
	Writer       bool        // whether the visitor may write posts
}

// calendarQuery selects the view, the period and the filters of the calendar. Its fields are the parameters of the
// URL's query.
type calendarQuery struct {
	View                    string
	Day                     string // a day within the period; empty for today
	Account, Network, State string
	Night                   string // not empty if night hours are not folded
}

// viewName is a view with its label.
type viewName struct {
	Name  string
	Label locale.Key
}

// Views returns the views of the calendar with their labels.
func (calendarQuery) Views() []viewName {
	return []viewName{{monthView, "Month"}, {weekView, "Week"}, {dayView, "Day"}}
}

// calendarStateName returns the label of a state.
func calendarStateName(s calendar.State) locale.Key {
	if s == calendar.Waiting {
		return "Waiting for approval"
	}
	return stateNames[post.Status(s)]
}

// queryOf parses the query of a URL. An unknown view becomes the month view.
func queryOf(q url.Values) calendarQuery {
	c := calendarQuery{q.Get("view"), q.Get("day"), q.Get("account"), q.Get("network"), q.Get("state"), q.Get("night")}
	if c.View != weekView && c.View != dayView {
		c.View = monthView
	}
	return c
}

// Here returns the encoded query, without a question mark.
func (c calendarQuery) Here() string {
	q := url.Values{"view": {c.View}}
	for name, value := range map[string]string{
		"day": c.Day, "account": c.Account, "network": c.Network, "state": c.State, "night": c.Night,
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return q.Encode()
}

// Link returns the path of another view and day with the same filters.
func (c calendarQuery) Link(view, day string) string {
	c.View, c.Day = view, day
	return "/calendar?" + c.Here()
}

// On returns the path of the same period filtered by the given network, or not filtered by network if network is "".
func (c calendarQuery) On(network string) string {
	c.Network = network
	return "/calendar?" + c.Here()
}

// Nights returns the path of the same period with night hours unfolded if all is true, and folded otherwise.
func (c calendarQuery) Nights(all bool) string {
	c.Night = ""
	if all {
		c.Night = "all"
	}
	return "/calendar?" + c.Here()
}

// All returns the path of the same period without filters.
func (c calendarQuery) All() string {
	return "/calendar?" + calendarQuery{View: c.View, Day: c.Day}.Here()
}

// IsFiltered reports whether the query has a filter.
func (c calendarQuery) IsFiltered() bool { return c.Account+c.Network+c.State != "" }

// New returns the path of the editor for a new post on a day.
func (c calendarQuery) New(day time.Time) string {
	q := url.Values{"date": {day.Format(time.DateOnly)}}
	if c.Account != "" {
		q.Set("account", c.Account)
	}
	return "/posts/new?" + q.Encode()
}

// filter returns the filter for the selected posts, or an error for a value that cannot be selected.
func (c calendarQuery) filter() (calendar.Filter, error) {
	account, err := accountOf(c.Account)
	f := calendar.Filter{Account: account, Network: c.Network, State: calendar.State(c.State)}
	if err == nil && c.State != "" && !slices.Contains(calendar.States(), f.State) {
		err = apierr.Invalid(apierr.NotAllowedValue, "state", "Select one of the statuses.")
	}
	return f, err
}

func (p *Handlers) calendar(w http.ResponseWriter, r *http.Request) {
	p.showCalendar(w, r, queryOf(r.URL.Query()), http.StatusOK, "")
}

// showCalendar writes the calendar page with the given status and, if formErr is not empty, with this error text.
func (p *Handlers) showCalendar(w http.ResponseWriter, r *http.Request, q calendarQuery, status int, formErr string) {
	v := shell.VisitorOf(r.Context())
	zone := v.Zone
	view := &calendarView{
		calendarQuery: q, Zone: zone.String(), States: calendar.States(), Error: formErr, Writer: v.Is(shell.Writers),
	}
	now := p.DB.Now().In(zone)
	shown := period{view: q.View, now: now, zone: zone, language: p.Language(r)}
	shown.today = time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	var err error
	if shown.day, err = dayOf(q.Day, shown.today); err != nil {
		view.Day, view.Error, status = "", p.Detail(r, err), shell.StatusOf(err)
	}
	shown.rolling = view.Day == "" && q.View == monthView
	filter, err := view.filter()
	if err != nil {
		view.Account, view.State, view.Error, status = "", "", p.Detail(r, err), shell.StatusOf(err)
		filter = calendar.Filter{Network: q.Network}
	}
	if err := p.addFilters(r, view); err != nil {
		p.ShowError(w, r, err)
		return
	}
	view.setTitle(p.Language(r), shown)
	if err := p.fillCalendar(r, view, filter, shown); err != nil {
		p.ShowError(w, r, err)
		return
	}
	if view.Error == "" {
		view.Moved = p.popMoved(r)
	}
	p.ShowTitled(w, r, status, pages["calendar"], p.T(r, "Calendar: %s", view.Title), view)
}

// dayOf parses the day of a query and returns its midnight UTC, or today if text is empty. If text is invalid, dayOf
// returns today and an error.
func dayOf(text string, today time.Time) (time.Time, error) {
	if text == "" {
		return today, nil
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil || day.Year() < 2000 || day.Year() > lastYear {
		return today, apierr.Invalid(apierr.Malformed, "day",
			"Enter a date from the year 2000 on, such as 2026-03-29.")
	}
	return day, nil
}

// addFilters sets the accounts and networks to filter by.
func (p *Handlers) addFilters(r *http.Request, view *calendarView) error {
	var err error
	if view.Choices, err = p.choices(r, view.Account); err != nil {
		return err
	}
	for _, c := range view.Choices {
		if c.Platform != "" && !slices.Contains(view.Networks, c.Platform) {
			view.Networks = append(view.Networks, c.Platform)
		}
	}
	slices.Sort(view.Networks)
	if view.Network != "" && !slices.Contains(view.Networks, view.Network) {
		view.Networks = append(view.Networks, view.Network)
	}
	return nil
}

// rangeTitle formats a range of days without repeating a month or year that both days share, such as "Nov 29 – Dec 5,
// 2026".
func rangeTitle(l *locale.Language, from, last time.Time) string {
	switch {
	case from.Year() != last.Year():
		return l.Format(from, locale.Day) + " – " + l.Format(last, locale.Day)
	case from.Month() != last.Month():
		return l.Format(from, locale.ShortDay) + " – " + l.Format(last, locale.Day)
	}
	return l.FormatDayRange(from, last)
}

// setTitle sets the title and the days for the links to the previous and next period.
func (v *calendarView) setTitle(l *locale.Language, shown period) {
	from, n := shown.dates()
	last := from.AddDate(0, 0, n-1)
	previous, next := from.AddDate(0, 0, -n), from.AddDate(0, 0, n)
	switch {
	case v.View == dayView:
		v.Title = l.Format(from, locale.LongDate)
	case v.View == weekView:
		v.Title = rangeTitle(l, from, last)
	case shown.rolling:
		v.Title = rangeTitle(l, from, last)
		this := firstOf(shown.today)
		previous, next = this, this.AddDate(0, 1, 0)
	default:
		first, thisMonth := firstOf(shown.day), firstOf(shown.today)
		v.Title = l.Format(first, locale.Month)
		previous, next = first.AddDate(0, -1, 0), first.AddDate(0, 1, 0)
		switch { // the weeks from today come between the current and the next month
		case first.Equal(thisMonth):
			next = time.Time{}
		case previous.Equal(thisMonth):
			previous = time.Time{}
		}
	}
	v.Before, v.Next = dateOrToday(previous), dateOrToday(next)
}

// firstOf returns the first day of a date's month.
func firstOf(date time.Time) time.Time { return date.AddDate(0, 0, 1-date.Day()) }

// dateOrToday formats a date for a query. The zero time becomes "", which means today.
func dateOrToday(date time.Time) string {
	if date.IsZero() {
		return ""
	}
	return date.Format(time.DateOnly)
}
