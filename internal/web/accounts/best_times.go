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
	minTimesDays   = 90 // minimum number of days whose posts are compared; fewer days have too few posts
	minPostsInHour = 2  // an hour with fewer posts has no color
	heatLevels     = 5
	heatFirstHour  = 6 // the heat map starts at this hour unless a post is earlier
)

// hourMedians returns the median engagement of each hour of the week with enough posts, in ascending order.
func hourMedians(t analytics.PostingTimes) []float64 {
	var out []float64
	for _, day := range t.Hours {
		for _, hour := range day {
			if hour.Posts >= minPostsInHour {
				out = append(out, hour.Median)
			}
		}
	}
	slices.Sort(out)
	return out
}

// drawHeat draws a heat map of the engagement by weekday and hour. It returns "" if too few hours have enough posts.
func drawHeat(l *locale.Language, t analytics.PostingTimes) template.HTML {
	medians := hourMedians(t)
	if len(medians) < heatLevels {
		return ""
	}
	out := plot.Heat{First: heatFirstHour,
		Label: l.T("Engagement of posts by weekday and hour; darker means more. The table below has the numbers.")}
	for _, row := range timeRows(l, t) {
		cell := plot.Cell{Text: l.N(row.Posts, "%[2]s: %[1]d post, %[3]s a typical post", "%[2]s: %[1]d posts, %[3]s a typical post",
			row.Name, factorText(l, row.Median))}
		if row.Posts >= minPostsInHour {
			rank, _ := slices.BinarySearch(medians, row.Median)
			cell.Level = 1 + rank*heatLevels/len(medians)
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

// timeRows returns the hours of the week that have posts.
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

// monday is any Monday.
var monday = time.Date(2026, time.November, 2, 0, 0, 0, 0, time.UTC)

// hourName formats an hour of the week, such as "Monday, 09:00" or "Monday, 9 AM". day 0 is Monday.
func hourName(l *locale.Language, day, hour int) string {
	at := monday.AddDate(0, 0, day).Add(time.Duration(hour) * time.Hour)
	return l.T("%s, %s|hour of the week", l.Format(at, locale.Weekday), l.FormatHour(at))
}

// factorText formats a factor, such as "1.8×".
func factorText(l *locale.Language, factor float64) string { return l.Decimal(factor, 1) + "×" }

// drawShareOfBest draws the engagement at b as a bar, relative to the best time.
func drawShareOfBest(t analytics.PostingTimes, b analytics.BestTime) template.HTML {
	return plot.Share{Fraction: b.Median / t.Best[0].Median}.Draw()
}
