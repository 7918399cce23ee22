package accounts

import (
	"html/template"
	"strings"

	"pressroom/internal/domain/analytics"
	"pressroom/internal/teamtime"
	"pressroom/internal/web/plot"
	"pressroom/internal/web/shell"
)

// words are the functions of the package's templates.
var words = template.FuncMap{
	"moment": shell.Time, "num": plot.FormatNumber, "counted": engagementCounts, "share": shareOf,
	"short":  func(n int64) string { return plot.FormatNumber(float64(n)) },
	"spark":  plot.Spark,
	"posted": func(m teamtime.Moment) template.HTML { return shell.When(&m) },

	"title": func(text string) string { return strings.ToUpper(text[:1]) + text[1:] },
	"rate":  func(share float64) string { return plot.FormatNumber(100*share) + "%" },
	"bounds": func(s *analytics.AccountAnalyticsEngagementPerPost) string {
		if s == nil || s.Interval == nil {
			return "–"
		}
		return plot.FormatNumber(s.Interval.Low) + " to " + plot.FormatNumber(s.Interval.High)
	},
	"rates": func(s *analytics.AccountAnalyticsEngagementPerPost) string {
		if s == nil || s.Interval == nil {
			return "–"
		}
		return plot.FormatNumber(100*s.Interval.Low) + "% to " + plot.FormatNumber(100*s.Interval.High) + "%"
	},
}

// shareOf returns a bar that shows a number as part of a whole.
func shareOf(part int, whole float64) template.HTML {
	if whole <= 0 {
		return ""
	}
	return plot.Share{Of: float64(part) / whole}.Draw()
}
