package accounts

import (
	"cmp"
	"html/template"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/domain/analytics"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/plot"
)

const (
	timesDays      = 90             // days whose posts are compared
	gatheringTime  = 48 * time.Hour // newer posts are still gathering engagement
	leastOfAccount = 3              // posts that an account needs to be compared
	leastInHour    = 2              // posts that an hour needs for a color
	leastForBest   = 3              // posts that an hour needs to be recommended
	bestTimesShown = 4
	heatLevels     = 5
	heatMorning    = 6 // the first hour shown if no post is earlier
)

// postingTimes compares the hours of the week by the engagement of posts.
type postingTimes struct {
	Posts int
	Hours [7][24]hourPosts // starting on Monday
	Best  []bestTime       // the best first
}

// hourPosts are the posts of an hour of the week. Median is relative to a typical post of the same account, which is 1.
type hourPosts struct {
	Posts  int
	Median float64
}

// bestTime is an hour of the week in which posts do better than usual.
type bestTime struct {
	hourPosts

	Day, Hour int
	Next      time.Time // the next such hour
}

// newPostingTimes compares posts in the zone of the current time.
func newPostingTimes(posts []analytics.PostMetrics, now time.Time) postingTimes {
	posts = slices.DeleteFunc(slices.Clone(posts), func(p analytics.PostMetrics) bool {
		return p.Engagement == nil || p.At.After(now.Add(-gatheringTime))
	})
	all := map[int64][]float64{}
	for _, p := range posts {
		all[p.AccountID] = append(all[p.AccountID], float64(*p.Engagement))
	}
	var out postingTimes
	var ratios [7][24][]float64
	for _, p := range posts {
		typical := median(all[p.AccountID])
		if len(all[p.AccountID]) < leastOfAccount || typical == 0 {
			continue
		}
		at := p.At.In(now.Location())
		hour := &ratios[weekdayIndex(at)][at.Hour()]
		*hour = append(*hour, float64(*p.Engagement)/typical)
		out.Posts++
	}
	for day := range ratios {
		for hour, of := range ratios[day] {
			out.Hours[day][hour] = hourPosts{len(of), median(of)}
			if len(of) >= leastForBest && median(of) > 1 {
				out.Best = append(out.Best, bestTime{out.Hours[day][hour], day, hour, nextHour(now, day, hour)})
			}
		}
	}
	slices.SortStableFunc(out.Best, func(a, b bestTime) int { return cmp.Compare(b.Median, a.Median) })
	out.Best = out.Best[:min(len(out.Best), bestTimesShown)]
	return out
}

// weekdayIndex returns the index of a time's weekday, starting on Monday.
func weekdayIndex(at time.Time) int { return (int(at.Weekday()) + 6) % 7 }

// nextHour returns the next beginning of an hour of the week.
func nextHour(now time.Time, day, hour int) time.Time {
	ahead := (day - weekdayIndex(now) + 7) % 7
	if ahead == 0 && now.Hour() >= hour {
		ahead = 7
	}
	return time.Date(now.Year(), now.Month(), now.Day()+ahead, hour, 0, 0, 0, now.Location())
}

// median returns the median of numbers, or 0 for none.
func median(of []float64) float64 {
	if len(of) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(of))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

// medians returns the sorted medians of the hours with enough posts.
func (t postingTimes) medians() []float64 {
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
func (t postingTimes) heat(l *locale.Language) template.HTML {
	medians := t.medians()
	if len(medians) < heatLevels {
		return ""
	}
	out := plot.Heat{First: heatMorning,
		Label: l.T("Engagement of posts by weekday and hour; darker means more. The table below has the numbers.")}
	for _, row := range t.rows(l) {
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
	hourPosts

	Day, Hour int
	Name      string
}

// rows returns the hours with posts.
func (t postingTimes) rows(l *locale.Language) []timeRow {
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

// hourName returns an hour of the week, such as Monday, 09:00.
func hourName(l *locale.Language, day, hour int) string {
	at := aMonday.AddDate(0, 0, day).Add(time.Duration(hour) * time.Hour)
	return l.T("%s, %s|hour of the week", l.Format(at, locale.Weekday), at.Format("15:04"))
}

// timesText returns a factor: 1.8×.
func timesText(l *locale.Language, factor float64) string { return l.Decimal(factor, 1) + "×" }

// share returns the length of a bar relative to the best time.
func (t postingTimes) share(b bestTime) template.HTML {
	return plot.Share{Of: b.Median / t.Best[0].Median}.Draw()
}
