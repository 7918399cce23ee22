package reports

import (
	"html/template"
	"slices"
	"time"

	"pressroom/internal/domain/report"
	"pressroom/internal/web/plot"
	"pressroom/internal/web/shell"
)

// history is a profile's history for charts.
type history struct {
	report.History

	zone *time.Location
}

// Span returns the label of a span.
func (h history) Span(from time.Time) string {
	if h.Monthly {
		return from.Format("Jan 2006")
	}
	return from.Format("2 Jan")
}

// Line returns a chart of engagement, or nothing for fewer than two spans.
func (h history) Line() template.HTML {
	if len(h.Spans) < 2 {
		return ""
	}
	line := plot.Line{
		Label: "Median engagement per post over time, with 95% confidence intervals. The table below has the numbers.",
		Zero:  true,
	}
	for _, s := range h.Spans {
		point := plot.Point{Name: h.Span(s.From)}
		if e := s.Engagement; e != nil {
			point.Value, point.Low, point.High = &e.Median, e.Low, e.High
		}
		line.Points = append(line.Points, point)
	}
	return line.Draw()
}

// Followers returns a chart of followers, or nothing for fewer than two measurements.
func (h history) Followers() template.HTML {
	if len(h.Measured) < 2 {
		return ""
	}
	line := plot.Line{Label: "Followers at each measurement. The table below has the numbers.", Spread: true}
	for _, m := range h.Measured {
		count := float64(m.Followers)
		line.Points = append(line.Points,
			plot.Point{Name: m.At.In(h.zone).Format("2 Jan"), At: float64(m.At.Unix()), Value: &count})
	}
	return line.Draw()
}

// Sizes returns the measurements in the team's time zone, newest first.
func (h history) Sizes() []report.Size {
	out := slices.Clone(h.Measured)
	slices.Reverse(out)
	for i := range out {
		out[i].At = out[i].At.In(h.zone)
	}
	return out
}

const (
	leastShown = 2 // minimum of posts per hour for a color
	levels     = 5
)

// Heat returns a heat map of the hours of the week by engagement: five levels, each with a fifth of the hours with
// enough posts.
func (h history) Heat() template.HTML {
	var medians []float64
	for _, day := range h.Week {
		for _, hour := range day {
			if hour.Posts >= leastShown {
				medians = append(medians, hour.Median)
			}
		}
	}
	if len(medians) < levels {
		return ""
	}
	slices.Sort(medians)
	heat := plot.Heat{
		Label: "Engagement of posts by weekday and hour; darker means more. Hours with fewer than two posts are " +
			"empty. See the table of time blocks below for significance.",
	}
	for d, day := range h.Week {
		for o, hour := range day {
			if hour.Posts == 0 {
				continue
			}
			cell := plot.Cell{
				Text: weekdays[d] + ", " + hours(o, 1) + ": " + shell.Plural(hour.Posts, "post",
					"posts") + ", median " + plot.FormatNumber(hour.Median),
			}
			if hour.Posts >= leastShown {
				place, _ := slices.BinarySearch(medians, hour.Median)
				cell.Level = 1 + place*levels/len(medians)
			}
			heat.Cells[d][o] = cell
		}
	}
	return heat.Draw()
}

// hourOfWeek is an hour of the day on each weekday, starting on Monday.
type hourOfWeek struct {
	Hour int
	Days [7]report.Hour
}

// Hours returns the numbers of the heat map, for hours with any post.
func (h history) Hours() []hourOfWeek {
	var out []hourOfWeek
	for o := range 24 {
		one, posts := hourOfWeek{Hour: o}, 0
		for d := range h.Week {
			one.Days[d] = h.Week[d][o]
			posts += one.Days[d].Posts
		}
		if posts > 0 {
			out = append(out, one)
		}
	}
	return out
}

var weekdays = [7]string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
