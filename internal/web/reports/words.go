package reports

import (
	"fmt"
	"html/template"
	"strings"
	"time"

	"pressroom/internal/domain/report/result"
	"pressroom/internal/web/plot"
	"pressroom/internal/web/shell"
)

// words are the functions of the package's templates.
var words = template.FuncMap{
	"num": number, "times": times, "ranges": rangeOf, "share": shareOf, "date": date, "title": title, "hours": hours,
	"rate": rate, "component": component, "figure": figureName,
	"subject": subject, "age": age, "scale": plot.Scale, "cut": cut, "basis": basis, "less": less,
	"place": place, "day": day, "logarithmic": logarithmic, "holds": func(b *bool) bool {
		return b != nil && *b
	}, "weekdays": func() [7]string {
		return weekdays
	}, "ratio": func(r result.FindingRatio) *result.FindingRatio { return &r },
}

// number returns a short number, or a dash.
func number(v any) string {
	switch n := v.(type) {
	case *float64:
		if n != nil {
			return plot.FormatNumber(*n)
		}
	case float64:
		return plot.FormatNumber(n)
	case *int64:
		if n != nil {
			return plot.FormatNumber(float64(*n))
		}
	case int64:
		return plot.FormatNumber(float64(n))
	case int:
		return plot.FormatNumber(float64(n))
	}
	return "–"
}

// rate returns a share as a percentage with three digits: 1.71%.
func rate(v any) string {
	if p, ok := v.(*float64); ok {
		if p == nil {
			return "–"
		}
		v = *p
	}
	share, ok := v.(float64)
	if !ok {
		return "–"
	}
	return plot.FormatNumber(share*100) + "%"
}

// times returns a ratio in words, such as "1.62 times". It returns "" for nil.
func times(r *result.FindingRatio) string {
	if r == nil {
		return "–"
	}
	return plot.FormatNumber(r.Value) + "×"
}

// rangeOf returns a drawing of a ratio on a scale.
func rangeOf(r *result.FindingRatio, reach float64) template.HTML {
	if r == nil {
		return ""
	}
	return plot.Range{Value: r.Value, Low: r.Low, High: r.High, Reach: reach}.Draw()
}

// less reports whether a ratio's whole range is below 1.
func less(r *result.FindingRatio) bool { return r != nil && r.High < 1 }

// logarithmic reports whether a part of the score uses a logarithm. All parts of a hashtag's score do.
func logarithmic(kind, scale string) bool { return kind == "hashtag" || scale == "logarithmic" }

// shareOf returns a bar that shows a fraction.
func shareOf(part any, whole float64) template.HTML {
	if p, ok := part.(*float64); ok {
		if p == nil {
			return ""
		}
		part = *p
	}
	v, ok := part.(float64)
	if n, counted := part.(int); counted {
		v, ok = float64(n), true
	}
	if !ok || whole <= 0 {
		return ""
	}
	return plot.Share{Of: v / whole}.Draw()
}

// date returns a date as a time element.
func date(at time.Time) template.HTML {
	text := `<time datetime="` + at.Format(time.DateOnly) + `">` + at.Format("2 Jan 2006") + `</time>`
	return template.HTML(text) //nolint:gosec // contains only digits and English names
}

// title returns a name with a capital letter and spaces for underscores.
func title(text string) string {
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + strings.ReplaceAll(text[1:], "_", " ")
}

// hours returns a block of hours: 08–12 h.
func hours(from, count int) string { return fmt.Sprintf("%02d–%02d h", from, from+count) }

// components are the labels of the parts of a score.
var components = map[string]string{
	"engagement": "Engagement", "reach": "Reach", "growth": "Growth", "activity": "Activity",
	"consistency": "Consistency", "reactions": "Reactions", "competition": "Competition",
}

func component(name string) string {
	if known, ok := components[name]; ok {
		return known
	}
	return title(name)
}

// age returns a number of days in hours, days or years, or a dash.
func age(days *float64) string {
	const year = 365.25
	switch {
	case days == nil:
		return "–"
	case *days < 2:
		return shell.Plural(*days*24, "hour", "hours")
	case *days < 2*year:
		return shell.Plural(*days, "day", "days")
	}
	return plot.FormatNumber(*days/year) + " years"
}

// figures are the labels of the metrics that the parts of a score use.
var figures = map[string]string{
	"rate_by_followers": "Engagement per follower", "rate_by_views": "Engagement per view",
	"views_by_followers": "Views per follower", "percent_per_month": "Growth per month, in %",
	"posts_per_week": "Posts per week", "evenness": "Regularity of posting", "posts_per_day": "New posts per day",
	"median_likes": "Likes per post", "top_likes_by_recent_likes": "Likes of top posts relative to recent ones",
}

func figureName(name string) string {
	if known, ok := figures[name]; ok {
		return known
	}
	return title(name)
}

// subject returns a report's subject in display form.
func subject(kind, name string) string {
	if kind == "hashtag" {
		return "#" + name
	}
	return "@" + name
}

// basis returns a tag for measured and estimated metrics.
func basis(name string) template.HTML {
	if name == result.Estimated {
		return `<span class="tag estimated">Estimated</span>`
	}
	return `<span class="tag plain">Measured</span>`
}
