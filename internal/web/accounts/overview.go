package accounts

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"pressroom.example/pressroom/internal/domain/analytics"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/plot"
	"pressroom.example/pressroom/internal/web/shell"
)

// overviewPeriods are the offered periods in days.
var overviewPeriods = []int{7, 28, 90, 365}

// overviewView compares the period of all accounts with the preceding period of equal length.
type overviewView struct {
	Accounts []analytics.AccountWeeks
	ZoneName string
	Manages  bool
	Days     int
	Periods  []int

	Followers, Change *int64 // sums over all accounts with known values; nil if no value is known
	Now, Past         analytics.Week
}

// overview shows the metrics of all accounts.
func (p *Handlers) overview(w http.ResponseWriter, r *http.Request) {
	v := shell.VisitorOf(r.Context())
	zone, err := time.LoadLocation(v.Team.Timezone)
	if err != nil {
		p.ServerError(w, r, err)
		return
	}
	out := overviewView{
		ZoneName: v.Team.Timezone, Manages: v.Is(shell.Managers), Days: overviewPeriods[0], Periods: overviewPeriods,
	}
	if days, err := strconv.Atoi(r.URL.Query().Get("days")); err == nil && slices.Contains(overviewPeriods, days) {
		out.Days = days
	}
	if out.Accounts, err = p.insight.ComparePeriods(r.Context(), v.Team.ID, zone, out.Days); err != nil {
		p.ShowError(w, r, err)
		return
	}
	for _, a := range out.Accounts {
		addTo(&out.Followers, a.Followers)
		addTo(&out.Change, a.Change)
		addWeek(&out.Now, a.Now)
		addWeek(&out.Past, a.Past)
	}
	p.Show(w, r, http.StatusOK, pages["overview"], "Analytics", out)
}

// maxPoints is about how many points of a line are drawn.
const maxPoints = 40

// gained returns a chart that compares how many followers the largest accounts gained in the period.
func (v overviewView) gained(l *locale.Language) plot.Lines {
	line := plot.Lines{Label: l.T("Followers gained by account in this period. The table below has the numbers.")}
	for _, a := range v.Accounts {
		days, counts := inPeriod(a, v.Days)
		if len(counts) < 2 || len(line.Series) == plot.MaxSeries {
			continue
		}
		one := plot.Series{Name: l.T("%s on %s|account", a.Username, shell.NetworkName(a.Platform))}
		every := (len(counts)-1)/maxPoints + 1
		for i, n := range counts {
			if i%every != 0 && i != len(counts)-1 {
				continue
			}
			gained := float64(n - counts[0])
			one.Points = append(one.Points,
				plot.Point{Name: l.Format(days[i], locale.ShortDay), At: float64(days[i].Unix()), Value: &gained})
		}
		line.Series = append(line.Series, one)
	}
	return line
}

// inPeriod returns the counts of the last days before the newest one.
func inPeriod(a analytics.AccountWeeks, days int) ([]time.Time, []int64) {
	var at []time.Time
	for _, text := range a.Days {
		day, err := time.Parse(time.DateOnly, text)
		if err != nil {
			return nil, nil // the collection writes valid dates
		}
		at = append(at, day)
	}
	from := 0
	for from < len(at) && at[len(at)-1].Sub(at[from]) > time.Duration(days)*24*time.Hour {
		from++
	}
	return at[from:], a.Line[from:]
}

func addWeek(sum *analytics.Week, w analytics.Week) {
	sum.Posts += w.Posts
	addTo(&sum.Views, w.Views)
	addTo(&sum.Engagement, w.Engagement)
}

// addTo adds a metric to a sum, if it is known.
func addTo(sum **int64, n *int64) {
	if n == nil {
		return
	}
	if *sum == nil {
		*sum = new(int64)
	}
	**sum += *n
}
