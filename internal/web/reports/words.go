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

// words are what the templates here say things with.
var words = template.FuncMap{
	"num": number, "times": times, "ranges": rangeOf, "share": shareOf, "date": date, "title": title, "hours": hours,
	"rate": rate, "component": component, "figure": figureName,
	"subject": subject, "age": age, "scale": plot.Scale, "cut": cut, "basis": basis, "moment": shell.Time, "less": less,
	"logarithmic": logarithmic, "holds": func(b *bool) bool {
		return b != nil && *b
	}, "weekdays": func() [7]string {
		return weekdays
	}, "ratio": func(r result.FindingRatio) *result.FindingRatio { return &r },
}

// number is a figure in short; a dash where there is none.
func number(v any) string {
	switch n := v.(type) {
	case *float64:
		if n != nil {
			return plot.Number(*n)
		}
	case float64:
		return plot.Number(n)
	case *int64:
		if n != nil {
			return plot.Number(float64(*n))
		}
	case int64:
		return plot.Number(float64(n))
	case int:
		return plot.Number(float64(n))
	}
	return "–"
}

// rate is a share as percent with three digits: 1.71 %.
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
	return plot.Number(share*100) + " %"
}

// times writes a ratio: 1.62 times; nothing of none.
func times(r *result.FindingRatio) string {
	if r == nil {
		return "–"
	}
	return plot.Number(r.Value) + "×"
}

// rangeOf draws a ratio on a scale.
func rangeOf(r *result.FindingRatio, reach float64) template.HTML {
	if r == nil {
		return ""
	}
	return plot.Range{Value: r.Value, Low: r.Low, High: r.High, Reach: reach}.Draw()
}

// less tells whether a ratio is below no difference with all of its range.
func less(r *result.FindingRatio) bool { return r != nil && r.High < 1 }

// logarithmic tells whether a part of the score is read by the figure's logarithm. All parts of a hashtag's are.
func logarithmic(kind, scale string) bool { return kind == "hashtag" || scale == "logarithmic" }

// shareOf draws a part of a whole.
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

// date is a day.
func date(at time.Time) template.HTML {
	return template.HTML(`<time datetime="` + at.Format(time.DateOnly) + `">` + at.Format("2 Jan 2006") + `</time>`) //nolint:gosec // digits and English names alone
}

// title begins a word with a capital and parts what is written with underscores.
func title(text string) string {
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + strings.ReplaceAll(text[1:], "_", " ")
}

// hours is a block of hours: 08–12 h.
func hours(from, count int) string { return fmt.Sprintf("%02d–%02d h", from, from+count) }

// components are what people call the parts of the score.
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

// age writes a number of days as people say it: in hours, days or years. A dash where there is none.
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
	return plot.Number(*days/year) + " years"
}

// figures are what people call the figures that the parts of the score are read from.
var figures = map[string]string{
	"rate_by_followers": "Engagement for each follower", "rate_by_views": "Engagement for each view",
	"views_by_followers": "Views for each follower", "percent_per_month": "Growth in a month, in %",
	"posts_per_week": "Posts a week", "evenness": "How evenly posts come", "posts_per_day": "New posts a day",
	"median_likes": "Likes of a post", "top_likes_by_recent_likes": "Likes of top posts against recent ones",
}

func figureName(name string) string {
	if known, ok := figures[name]; ok {
		return known
	}
	return title(name)
}

// subject is a report's subject as people write it.
func subject(kind, name string) string {
	if kind == "hashtag" {
		return "#" + name
	}
	return "@" + name
}

// basis is a tag that tells whether a figure was counted or worked out.
func basis(name string) template.HTML {
	if name == result.Estimated {
		return `<span class="tag estimated">Estimated</span>`
	}
	return `<span class="tag plain">Measured</span>`
}
