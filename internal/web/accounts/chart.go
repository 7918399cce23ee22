package accounts

import (
	"html/template"
	"math"
	"time"

	"pressroom.example/pressroom/internal/domain/analytics"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/plot"
	"pressroom.example/pressroom/internal/web/shell"
)

// maxDaily is the length in days of the longest period that is charted by day. Longer periods are charted by week.
const maxDaily = 31

// chart holds the followers that accounts gained and the posts that they published in a period and in the preceding
// period. The parts of the periods are days or, for long periods, weeks.
type chart struct {
	past, from time.Time // beginnings of the preceding period and of the period, in the team's zone
	step       int       // length of a part in days
	parts      []span    // of both periods, oldest first; each period has half of them
}

// metricChart is a chart of one metric, as a page shows it.
type metricChart struct {
	*chart

	Metric  string // the metric that the chart shows
	Metrics []metricLink
}

// metricLink is a link to the page with another metric in the chart.
type metricLink struct{ Name, Path string }

// span is one part of a period.
type span struct {
	first, last       time.Time // days, as midnight UTC
	gained            *int64    // followers since the beginning of the period; nil if unknown
	posts             int64
	views, engagement *int64
}

// newChart returns an empty chart of a period and the preceding period.
func newChart(in analytics.Period) *chart {
	days := in.Days
	out := &chart{past: in.Past(), from: in.Start(), step: 1}
	if days > maxDaily {
		out.step = 7
	}
	for _, begin := range []time.Time{localDay(out.past), localDay(out.from)} {
		for day := 0; day < days; {
			last := day + out.step - 1
			if day == 0 { // the first week of a period may be shorter
				last = (days - 1) % out.step
			}
			out.parts = append(out.parts, span{first: begin.AddDate(0, 0, day), last: begin.AddDate(0, 0, last)})
			day = last + 1
		}
	}
	return out
}

// localDay returns the date of a time in its own zone, as midnight UTC.
func localDay(at time.Time) time.Time {
	year, month, day := at.Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// add adds the followers that accounts gained and the metrics of posts to the chart.
func (c *chart) add(accounts []analytics.AccountComparison, posts []analytics.PostMetrics) {
	half := len(c.parts) / 2
	for _, a := range accounts {
		addGained(c.parts[:half], a)
		addGained(c.parts[half:], a)
	}
	for _, post := range posts {
		day := localDay(post.At.In(c.from.Location()))
		for i := range c.parts {
			if s := &c.parts[i]; !day.After(s.last) {
				s.posts++
				addTo(&s.views, post.Views)
				addTo(&s.engagement, post.Engagement)
				break
			}
		}
	}
}

// addGained adds to each part the followers that an account gained from the beginning of the period to the end of the
// part.
func addGained(parts []span, a analytics.AccountComparison) {
	for i := range parts {
		addTo(&parts[i].gained, a.Gained(parts[0].first, parts[i].last))
	}
}

// metric returns the value of a metric in a part, or nil if it is unknown.
func (s span) metric(name string) *int64 {
	switch name {
	case "followers":
		return s.gained
	case "views":
		return orZero(s.views, s.posts)
	case "posts":
		return &s.posts
	}
	return orZero(s.engagement, s.posts)
}

// orZero returns n, or 0 if n is nil because there are no posts.
func orZero(n *int64, posts int64) *int64 {
	if n == nil && posts == 0 {
		return new(int64)
	}
	return n
}

// values returns the known values of a metric in the period, for a sparkline.
func (c *chart) values(metric string) []int64 {
	var out []int64
	for _, s := range c.parts[len(c.parts)/2:] {
		if n := s.metric(metric); n != nil {
			out = append(out, *n)
		}
	}
	return out
}

// lines returns a line chart of a metric in the period and in the preceding period.
func (c *chart) lines(l *locale.Language, metric string) plot.Lines {
	half := len(c.parts) / 2
	out := plot.Lines{Label: c.title(l, metric) + ". " + l.T("The table below has the numbers."), IncludesZero: true, Tall: true,
		Series: []plot.Series{
			{Name: l.T("This period"), Filled: true, Points: c.points(l, metric, half)},
		}}
	previous := plot.Series{Name: l.T("Previous period"), Past: true, Points: c.points(l, metric, 0)}
	for _, p := range previous.Points {
		if p.Value != nil && *p.Value != 0 {
			out.Series = append(out.Series, previous)
			break
		}
	}
	return out
}

// points returns the values of a metric in the period whose first part has the index first.
func (c *chart) points(l *locale.Language, metric string, first int) []plot.Point {
	var out []plot.Point
	for i, s := range c.parts[first : first+len(c.parts)/2] {
		point := plot.Point{Name: l.Format(s.last, locale.ShortDay), At: float64(i)}
		if n := s.metric(metric); n != nil {
			value := float64(*n)
			point.Value = &value
		}
		out = append(out, point)
	}
	return out
}

// title returns the heading of a metric's chart.
func (c *chart) title(l *locale.Language, metric string) string {
	switch {
	case metric == "followers":
		return l.T("Followers gained")
	case metric == "views" && c.step == 1:
		return l.T("Views by publish date")
	case metric == "views":
		return l.T("Views by week published")
	case c.step == 1:
		return l.T("Engagement by publish date")
	}
	return l.T("Engagement by week published")
}

// HasWeeks reports whether the parts are weeks.
func (c *chart) HasWeeks() bool { return c.step > 1 }

// row is a row of the chart's table.
type row struct {
	Name      string
	Now, Past *float64
}

// rows returns the values of a metric as table rows.
func (c *chart) rows(l *locale.Language, metric string) []row {
	half := len(c.parts) / 2
	now, past := c.points(l, metric, half), c.points(l, metric, 0)
	out := make([]row, half)
	for i := range out {
		out[i] = row{now[i].Name, now[i].Value, past[i].Value}
	}
	return out
}

// trend returns the change from previous to current in percent. It returns "" if a number is unknown or previous is 0.
func trend(l *locale.Language, current, previous *int64) template.HTML {
	if current == nil || previous == nil || *previous == 0 {
		return ""
	}
	return trendHTML(l, 100*float64(*current-*previous)/float64(*previous))
}

// growth returns the change of a number in percent. current is the number after it has changed by change. growth
// returns "" if the percentage cannot be calculated.
func growth(l *locale.Language, current, change *int64) template.HTML {
	if current == nil || change == nil || *current <= *change {
		return ""
	}
	return trendHTML(l, 100*float64(*change)/float64(*current-*change))
}

// trendHTML returns a percentage with its sign and an arrow.
func trendHTML(l *locale.Language, percent float64) template.HTML {
	percent = math.Round(percent*10) / 10
	if math.Abs(percent) >= 10 {
		percent = math.Round(percent)
	}
	class, icon, sign := "trend", "arrow-right-line", ""
	switch {
	case percent > 0:
		class, icon, sign = "trend up", "arrow-up-s-line", "+"
	case percent < 0:
		class, icon = "trend down", "arrow-down-s-line"
	}
	iconHTML, err := shell.Icon(icon)
	if err != nil {
		return "" // unreachable: the icon exists
	}
	text := template.HTMLEscapeString(sign + plot.FormatPercent(l, percent))
	return `<span class="` + template.HTML(class) + `">` + iconHTML + template.HTML(text) + `</span>` //nolint:gosec // escaped
}
