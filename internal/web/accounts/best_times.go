package accounts

import (
	"html/template"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/domain/analytics"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/plot"
)

const (
	leastTimesDays = 90 // days whose posts are compared at least: shorter periods have too few posts
	leastInHour    = 2  // posts that an hour needs for a color
	heatLevels     = 5
	heatMorning    = 6 // the first hour shown if no post is earlier
)

// mediansByHour returns the sorted medians of the hours with enough posts.
func mediansByHour(t analytics.PostingTimes) []float64 {
	var out []float64
	for _, day := range t.Hours {
		for _, hour := range day {
			if hour.Posts >= leastInHour {
				out = append(out, hour.Median)
			}
		}
	}
	slices.Sort(out)
	return out
}

// heat draws a heat map, or nothing for too few hours with posts.
func heat(l *locale.Language, t analytics.PostingTimes) template.HTML {
	medians := mediansByHour(t)
	if len(medians) < heatLevels {
		return ""
	}
	out := plot.Heat{First: heatMorning,
		Label: l.T("Engagement of posts by weekday and hour; darker means more. The table below has the numbers.")}
	for _, row := range timeRows(l, t) {
		cell := plot.Cell{Text: l.N(row.Posts, "%[2]s: %[1]d post, %[3]s a typical post", "%[2]s: %[1]d posts, %[3]s a typical post",
			row.Name, timesText(l, row.Median))}
		if row.Posts >= leastInHour {
			place, _ := slices.BinarySearch(medians, row.Median)
			cell.Level = 1 + place*heatLevels/len(medians)
		}
		if row.Hour < out.First {
			out.First = 0
		}
		out.Cells[row.Day][row.Hour] = cell
	}
	return out.Draw(l)
}

// timeRow is an hour of the week in the table below the heat map.
type timeRow struct {
	analytics.PostingHour

	Day, Hour int
	Name      string
}

// timeRows returns the hours with posts.
func timeRows(l *locale.Language, t analytics.PostingTimes) []timeRow {
	var out []timeRow
	for d, day := range t.Hours {
		for h, hour := range day {
			if hour.Posts > 0 {
				out = append(out, timeRow{hour, d, h, hourName(l, d, h)})
			}
		}
	}
	return out
}

// aMonday is any Monday.
var aMonday = time.Date(2026, time.November, 2, 0, 0, 0, 0, time.UTC)

// hourName returns an hour of the week, such as Monday, 09:00, or Monday, 9 AM.
func hourName(l *locale.Language, day, hour int) string {
	at := aMonday.AddDate(0, 0, day).Add(time.Duration(hour) * time.Hour)
	return l.T("%s, %s|hour of the week", l.Format(at, locale.Weekday), l.FormatHour(at))
}

// timesText returns a factor: 1.8×.
func timesText(l *locale.Language, factor float64) string { return l.Decimal(factor, 1) + "×" }

// shareOfBest returns the length of a bar relative to the best time.
func shareOfBest(t analytics.PostingTimes, b analytics.BestTime) template.HTML {
	return plot.Share{Of: b.Median / t.Best[0].Median}.Draw()
}
