package accounts

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"pressroom.example/pressroom/internal/domain/analytics"
	"pressroom.example/pressroom/internal/locale"
)

const (
	maxPeriod     = 366 // maximum length of a period in days
	defaultPeriod = 30  // length of the default period in days
)

// periods lists the lengths of the offered periods in days.
var periods = []int{7, 30, 90, 365}

// period is the requested period: a number of days that ends today, or a range of days.
type period struct {
	analytics.Period

	Offered  []int
	From, To string // the requested first and last day as YYYY-MM-DD; empty if a number of days is requested
	Invalid  string // why the requested range is invalid; the page then shows the default period
	Today    string
}

// periodOf returns the requested period, or the default period.
func (h *Handlers) periodOf(r *http.Request, zone *time.Location) period {
	q := r.URL.Query()
	out := period{
		Period: h.analytics.LastDays(zone, defaultPeriod), Offered: periods, Today: h.DB.Now().In(zone).Format(time.DateOnly),
	}
	if days, err := strconv.Atoi(q.Get("days")); err == nil && slices.Contains(periods, days) {
		out.Days = days
	}
	out.From, out.To = q.Get("from"), q.Get("to")
	if out.From == "" && out.To == "" {
		return out
	}
	first, err := time.Parse(time.DateOnly, out.From)
	last, lastErr := time.Parse(time.DateOnly, out.To)
	l := h.Language(r)
	switch {
	case err != nil || lastErr != nil:
		out.Invalid = l.T("Choose both days.")
	case last.Before(first):
		out.Invalid = l.T("The last day is before the first.")
	case out.To > out.Today:
		out.Invalid = l.T("The last day is in the future.")
	case last.Sub(first) >= maxPeriod*24*time.Hour:
		out.Invalid = l.T("Choose at most %d days.", maxPeriod)
	case out.To == out.Today:
		out.Period = h.analytics.LastDays(zone, analytics.PeriodOf(first, last, zone).Days)
	default:
		out.Period = analytics.PeriodOf(first, last, zone)
	}
	return out
}

// IsRange reports whether the page shows a requested range of days.
func (p period) IsRange() bool { return p.From+p.To != "" && p.Invalid == "" }

// atLeast returns the period with an earlier start if it would otherwise be shorter than the given number of days.
func (p period) atLeast(days int) period {
	p.Days = max(p.Days, days)
	return p
}

// IsOpen reports whether the form for a range of days is initially expanded, because the requested range is invalid.
func (p period) IsOpen() bool { return p.Invalid != "" }

// First returns the value of the field for the first day.
func (p period) First() string {
	if p.From+p.To != "" {
		return p.From
	}
	return p.Start().Format(time.DateOnly)
}

// Last returns the value of the field for the last day.
func (p period) Last() string {
	if p.From+p.To != "" {
		return p.To
	}
	return p.Until.Format(time.DateOnly)
}

// args returns the query parameters of the period.
func (p period) args() url.Values {
	if p.IsRange() {
		return url.Values{"from": {p.From}, "to": {p.To}}
	}
	return url.Values{"days": {strconv.Itoa(p.Days)}}
}

// Query returns the query string, including "?", that selects this period on another page. It returns "" for the
// default period.
func (p period) Query() string {
	if !p.IsRange() && p.Days == defaultPeriod {
		return ""
	}
	return "?" + p.args().Encode()
}

// fileNamePart returns the period for use in a file name, such as "30-days".
func (p period) fileNamePart() string {
	if p.IsRange() {
		return p.From + "-" + p.To
	}
	return strconv.Itoa(p.Days) + "-days"
}

// format formats the period as a range of days.
func (p period) format(l *locale.Language) string {
	first, last := p.Start(), p.Until
	switch {
	case p.Days == 1:
		return l.Format(last, locale.Day)
	case first.Year() == last.Year():
		return l.T("%s to %s", l.Format(first, locale.ShortDay), l.Format(last, locale.Day))
	}
	return l.T("%s to %s", l.Format(first, locale.Day), l.Format(last, locale.Day))
}
