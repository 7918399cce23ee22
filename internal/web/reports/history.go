package reports

import (
	"html/template"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/domain/report"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/plot"
)

// history is the history of a profile, or the top posts of a hashtag, for charts.
type history struct {
	report.History

	zone *time.Location
	l    *locale.Language
}

// Span returns the label of the week or month that starts at from.
func (h history) Span(from time.Time) string {
	if h.Monthly {
		return h.l.Format(from, locale.ShortMonth)
	}
	return h.l.Format(from, locale.ShortDay)
}

// Line returns a chart of engagement for wide and for narrow screens, or "" if there are fewer than two spans.
func (h history) Line() template.HTML {
	if len(h.Spans) < 2 {
		return ""
	}
	line := plot.Line{
		Label:        h.l.T("Median engagement per post over time, with 95% confidence intervals. The table below has the numbers."),
		IncludesZero: true,
	}
	for _, s := range h.Spans {
		point := plot.Point{Name: h.Span(s.From)}
		if e := s.Engagement; e != nil {
			point.Value, point.Low, point.High = &e.Median, e.Low, e.High
		}
		line.Points = append(line.Points, point)
	}
	return line.Draw(h.l) + line.Narrow().Draw(h.l)
}

// Followers returns a chart of followers for wide and for narrow screens, or "" if there are fewer than two
// measurements.
func (h history) Followers() template.HTML {
	if len(h.Measured) < 2 {
		return ""
	}
	line := plot.Line{Label: h.l.T("Followers at each measurement. The table below has the numbers."), Proportional: true}
	for _, m := range h.Measured {
		count := float64(m.Followers)
		line.Points = append(line.Points,
			plot.Point{Name: h.l.Format(m.At.In(h.zone), locale.ShortDay), At: float64(m.At.Unix()), Value: &count})
	}
	return line.Draw(h.l) + line.Narrow().Draw(h.l)
}

// Counts returns the followers at each measurement, oldest first.
func (h history) Counts() []int64 {
	var out []int64
	for _, m := range h.Measured {
		out = append(out, m.Followers)
	}
	return out
}

// Sizes returns the measurements in the team's time zone, newest first.
func (h history) Sizes() []report.FollowerSample {
	out := slices.Clone(h.Measured)
	slices.Reverse(out)
	for i := range out {
		out[i].At = out[i].At.In(h.zone)
	}
	return out
}

const (
	minColoredPosts = 2 // minimum number of posts for an hour to have a color
	minSolidPosts   = 3 // minimum number of posts for an hour to have a color that is not faded
	heatLevels      = 5
)

// Heat returns a heat map of the hours of the week by engagement. Each level contains a fifth of the hours that have
// enough posts.
func (h history) Heat() template.HTML {
	var medians []float64
	for _, day := range h.Week {
		for _, hour := range day {
			if hour.Posts >= minColoredPosts {
				medians = append(medians, hour.Median)
			}
		}
	}
	if len(medians) < heatLevels {
		return ""
	}
	slices.Sort(medians)
	heat := plot.Heat{
		Label: h.l.T("Engagement of posts by weekday and hour; darker means more. Hours with fewer than two posts are " +
			"empty. See the table of time blocks below for significance."),
	}
	names := weekdays(h.l)
	for d, day := range h.Week {
		for o, hour := range day {
			if hour.Posts == 0 {
				continue
			}
			cell := plot.Cell{
				Text: h.l.N(hour.Posts, "%[2]s, %[3]s: %[1]d post, median %[4]s", "%[2]s, %[3]s: %[1]d posts, median %[4]s",
					names[d], hours(h.l, o, 1), plot.FormatNumber(h.l, hour.Median)),
			}
			if hour.Posts >= minColoredPosts {
				place, _ := slices.BinarySearch(medians, hour.Median)
				cell.Level = 1 + place*heatLevels/len(medians)
				cell.Faded = hour.Posts < minSolidPosts
			}
			heat.Cells[d][o] = cell
		}
	}
	return heat.Draw(h.l)
}

// TopHours returns a heat map of the hours of the week by number of posts, or "" if there are fewer than 30 posts.
func (h history) TopHours() template.HTML {
	const minPosts = 30
	if h.Posts < minPosts {
		return ""
	}
	maxPosts := 0
	for _, day := range h.Week {
		for _, hour := range day {
			maxPosts = max(maxPosts, hour.Posts)
		}
	}
	heat := plot.Heat{Label: h.l.T("Top posts by weekday and hour of publication; darker means more.")}
	names := weekdays(h.l)
	for d, day := range h.Week {
		for o, hour := range day {
			if hour.Posts > 0 {
				heat.Cells[d][o] = plot.Cell{
					Level: max(1, hour.Posts*heatLevels/maxPosts),
					Text:  h.l.N(hour.Posts, "%[2]s, %[3]s: %[1]d top post", "%[2]s, %[3]s: %[1]d top posts", names[d], hours(h.l, o, 1)),
				}
			}
		}
	}
	return heat.Draw(h.l)
}

// hourOfWeek holds the posts of an hour of the day on each weekday, starting on Monday.
type hourOfWeek struct {
	Hour int
	Days [7]report.Hour
}

// Hours returns the numbers of the heat map, for the hours of the day that have posts.
func (h history) Hours() []hourOfWeek {
	var out []hourOfWeek
	for o := range 24 {
		row, posts := hourOfWeek{Hour: o}, 0
		for d := range h.Week {
			row.Days[d] = h.Week[d][o]
			posts += row.Days[d].Posts
		}
		if posts > 0 {
			out = append(out, row)
		}
	}
	return out
}

// monday is any Monday.
var monday = time.Date(2026, time.November, 2, 0, 0, 0, 0, time.UTC)

// weekdays returns the names of the days of the week.
func weekdays(l *locale.Language) [7]string {
	var out [7]string
	for i := range out {
		out[i] = l.Format(monday.AddDate(0, 0, i), locale.Weekday)
	}
	return out
}
