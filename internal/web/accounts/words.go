package accounts

import (
	"html/template"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/domain/analytics"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/plot"
	"pressroom.example/pressroom/internal/web/shell"
)

// templateFuncs returns the template functions for a language.
func templateFuncs(l *locale.Language) template.FuncMap {
	percent := func(share float64) string { return plot.FormatPercent(l, 100*share) }
	return template.FuncMap{
		"num": func(v any) string { return number(l, v) }, "interactions": interactions, "share": drawShare,
		"spark": plot.Spark, "rate": percent,
		"day":      func(at time.Time) string { return l.Format(at, locale.Day) },
		"shortday": func(at time.Time) string { return l.Format(at, locale.ShortDay) },
		"format":   func(name string) string { return labelOf(l, formatLabels, name) },
		"total":    func(name string) string { return labelOf(l, interactionLabels, name) },
		"bounds": func(s *analytics.AccountAnalyticsEngagementPerPost) string {
			if s == nil || s.Interval == nil {
				return "–"
			}
			return plot.FormatRange(l, s.Interval.Low, s.Interval.High)
		},
		"rates": func(s *analytics.AccountAnalyticsEngagementPerPost) string {
			if s == nil || s.Interval == nil {
				return "–"
			}
			return plot.FormatPercentRange(l, 100*s.Interval.Low, 100*s.Interval.High)
		},
		"soon":   func(at, now time.Time) template.HTML { return futureTime(l, at, now) },
		"recent": func(at, now time.Time) string { return l.Format(at, recentLayout(at, now)) },
		"typical": func(e *analytics.AccountAnalyticsEngagementPerPost, most float64) template.HTML {
			return plot.Share{Fraction: e.Median / max(1, most)}.Draw()
		},
		"upcoming": func(a post.Upcoming) string { return upcomingText(l, a) },
		"lines":    func(p metricChart) plot.Lines { return p.lines(l, p.Metric) },
		"draw":     func(c plot.Lines) template.HTML { return c.Draw(l) + c.Narrow().Draw(l) },
		"rows":     func(p metricChart) []row { return p.rows(l, p.Metric) },
		"days":     func(p period) string { return p.format(l) },
		"title":    func(p metricChart) string { return p.title(l, p.Metric) },
		"small":    func(p metricChart, metric string) template.HTML { return plot.Spark(p.values(metric)) },
		"columns":  func(v view) template.HTML { return v.columns(l).Draw(l) },
		"heat":     func(t analytics.PostingTimes) template.HTML { return drawHeat(l, t) },
		"legend":   plot.Scale,
		"hours":    func(t analytics.PostingTimes) []timeRow { return timeRows(l, t) },
		"hourname": func(b analytics.BestTime) string { return hourName(l, b.Day, b.Hour) },
		"factor":   func(f float64) string { return factorText(l, f) },
		"besides":  drawShareOfBest,
		"bar":      func(p part) template.HTML { return p.bar().Draw() },
		"trend":    func(now, past *int64) template.HTML { return trend(l, now, past) },
		"growth":   func(now, change *int64) template.HTML { return growth(l, now, change) },
		"pointer":  func(n int64) *int64 { return &n },
		"kinds":    func(platform string) locale.Key { return accountKinds[platform] },
		"metric":   func(name string) string { return l.T(metricLabels[name]) },
	}
}

// notes translates the notes that contain values.
var notes = shell.NewNotes(
	"This installation does not collect metrics from %s.",
	"Collection has failed since %s. It is retried automatically.",
	"The plan includes metrics for %s days, so earlier ones are missing.",
	"The account's posts are available since %s. Earlier posts in the period are missing.",
	"Analytics have been collected since the account was connected on %s. Older posts are included if the network "+
		"still listed them.",
	"%s It requires an app that is approved for insights, and an account that was connected with this permission.",
)

// yearlessRange is how far before or after now a date can be to be shown without its year.
const yearlessRange = 300 * 24 * time.Hour

// futureTime formats a future time, with its year only if it is far in the future.
func futureTime(l *locale.Language, at, now time.Time) template.HTML {
	layout := locale.ShortTime
	if at.Sub(now) > yearlessRange {
		layout = locale.DateTime
	}
	text := `<time datetime="` + at.Format(time.RFC3339) + `">` + l.Format(at, layout) + `</time>`
	return template.HTML(text) //nolint:gosec // contains only a formatted time
}

// recentLayout returns the layout for a past day, with its year only if it is long ago.
func recentLayout(at, now time.Time) locale.Layout {
	if now.Sub(at) > yearlessRange {
		return locale.Day
	}
	return locale.ShortDay
}

// number formats a float64 or *float64 as a short number, and other values and nil as a dash.
func number(l *locale.Language, v any) string {
	switch n := v.(type) {
	case *float64:
		if n != nil {
			return plot.FormatNumber(l, *n)
		}
	case float64:
		return plot.FormatNumber(l, n)
	}
	return "–"
}

// accountKinds describes which kinds of accounts can be connected, by network.
var accountKinds = map[string]locale.Key{
	"instagram": "Professional accounts", "facebook": "Pages|of Facebook", "tiktok": "Personal and creator accounts",
	"tiktok_business": "Business accounts", "youtube": "Channels|of YouTube", "linkedin": "Profiles and company pages",
	"x": "Profiles", "threads": "Profiles", "bluesky": "Profiles", "pinterest": "Boards",
}

// metricLabels maps the metrics of charts to their labels.
var metricLabels = map[string]locale.Key{"followers": "Followers", "views": "Views", "engagement": "Engagement"}

// formatLabels maps the formats of posts to their labels.
var formatLabels = map[string]locale.Key{
	"text": "Text|format", "image": "Image", "video": "Video", "reel": "Reel", "carousel": "Carousel", "story": "Story",
	"link": "Link", "unknown": "Unknown",
}

var weekdayLabels = map[string]locale.Key{
	"monday": "Monday", "tuesday": "Tuesday", "wednesday": "Wednesday", "thursday": "Thursday", "friday": "Friday",
	"saturday": "Saturday", "sunday": "Sunday",
}

// shortWeekday returns the short name of a weekday.
func shortWeekday(l *locale.Language, name string) string {
	for i := range 7 {
		if day := time.Date(2024, time.January, 1+i, 0, 0, 0, 0, time.UTC); strings.EqualFold(day.Weekday().String(), name) {
			return l.Format(day, locale.ShortWeekday)
		}
	}
	return name
}

// interactionLabels maps the kinds of interactions to their labels.
var interactionLabels = map[string]locale.Key{"likes": "Likes", "comments": "Comments", "shares": "Shares", "saves": "Saves"}

// labelOf returns the label of a name, or the capitalized name if it has no label.
func labelOf(l *locale.Language, labels map[string]locale.Key, name string) string {
	if label, ok := labels[name]; ok {
		return l.T(label)
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// drawShare draws a bar that shows part relative to whole.
func drawShare(part *int64, whole float64) template.HTML {
	if whole <= 0 {
		return ""
	}
	return plot.Share{Fraction: float64(*part) / whole}.Draw()
}
