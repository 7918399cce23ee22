package reports

import (
	"fmt"
	"html/template"
	"math"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/domain/report/result"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/teamtime"
	"pressroom.example/pressroom/internal/web/plot"
	"pressroom.example/pressroom/internal/web/shell"
)

// templateFuncs returns the template functions for a language.
func templateFuncs(l *locale.Language) template.FuncMap {
	return template.FuncMap{
		"num": func(v any) string { return number(l, v) }, "pct": func(v any) string { return percent(l, v) },
		"times": func(r *result.FindingRatio) string { return times(l, r) }, "ranges": drawRange, "share": drawShare,
		"date": func(at time.Time) template.HTML { return date(l, at) }, "day": func(at time.Time) string { return day(l, at) },
		"measured": func(m *teamtime.Moment) string { return measuredDay(l, m) },
		"shortday": func(at time.Time) string { return l.Format(at, locale.ShortDay) },
		"longday":  func(at time.Time) string { return l.Format(at, locale.LongDay) },
		"title":    func(text string) string { return label(l, text) },
		"hours":    func(from, count int) string { return hours(l, from, count) },
		"span":     func(low, high *float64) string { return plot.FormatRange(l, *low, *high) },
		"countspan": func(low, high *int64) string {
			return plot.FormatRange(l, float64(*low), float64(*high))
		},
		"ratespan": func(low, high *float64) string { return plot.FormatPercentRange(l, 100**low, 100**high) },
		"pctspan":  func(low, high *float64) string { return plot.FormatPercentRange(l, *low, *high) },
		"rate":     func(v any) string { return rate(l, v) }, "age": func(days any) string { return age(l, days) },
		"amount":     func(figure string, v any) string { return amount(l, figure, v) },
		"component":  func(name string) string { return component(l, name) },
		"components": func(names []string) string { return componentList(l, names) },
		"listed":     func(counts []string) string { return strings.Join(countLabels(l, counts), ", ") },
		"sum":        func(counts []string) string { return sum(l, counts) },
		"figure":     func(name string) string { return metricName(l, name) },
		"basis":      func(name string) template.HTML { return basis(l, name) },
		"weekdays":   func() [7]string { return weekdays(l) },
		"color":      plot.Key, "subject": subject, "scale": plot.Scale, "cut": truncate, "less": isBelowOne,
		"place":       rank,
		"logarithmic": isLogarithmic,
		"spark":       plot.Spark, "signed": func(p *float64) string { return signed(l, *p) },
		"direction": func(p *float64) string { return direction(*p) },
		"holds":     func(b *bool) bool { return b != nil && *b },
		"ratio":     func(r result.FindingRatio) *result.FindingRatio { return &r },
	}
}

// notes translates the notes that contain values.
var notes = shell.NewNotes(
	"%s excluded from engagement: less than two days old, so still getting likes.",
	"%s excluded from engagement: some reactions that are public for other posts are hidden.",
	"Only %s can be compared. At least %s are needed to find what is associated with more engagement.",
	"Too many posts (%s) have no known time, so it is not possible to find what is associated with more engagement.",
	"No time of the week is significantly better in %s: the best time is a guess.",
	"Most posts hide their likes: engagement counts only %s, and the score excludes it.",
	"Based on the newest %s of the profile's %s posts. Posts are at most two years old and limited to what the provider returns.",
	"This report could not be created and was refunded. %s",
)

// measuredDay formats the day of a moment in the team's time zone.
func measuredDay(l *locale.Language, m *teamtime.Moment) string {
	at, err := time.Parse(time.RFC3339, m.Team)
	if err != nil {
		return ""
	}
	return day(l, at)
}

// direction returns the CSS class for a change in percent.
func direction(p float64) string {
	switch p = math.Round(p * 10); {
	case p > 0:
		return "up"
	case p < 0:
		return "down"
	}
	return "same"
}

// signed formats a change in percent with its sign. It is rounded to one decimal.
func signed(l *locale.Language, p float64) string {
	p = math.Round(p*10) / 10
	if p > 0 {
		return "+" + plot.FormatPercent(l, p)
	}
	return plot.FormatPercent(l, p)
}

// number formats a number as a short number, and nil as a dash.
func number(l *locale.Language, v any) string {
	switch n := v.(type) {
	case *float64:
		if n != nil {
			return plot.FormatNumber(l, *n)
		}
	case float64:
		return plot.FormatNumber(l, n)
	case *int64:
		if n != nil {
			return plot.FormatNumber(l, float64(*n))
		}
	case int64:
		return plot.FormatNumber(l, float64(n))
	case int:
		return plot.FormatNumber(l, float64(n))
	}
	return "–"
}

// percent formats a percentage as a short number, and nil as a dash.
func percent(l *locale.Language, v any) string {
	if text := number(l, v); text != "–" {
		return l.T("%s%%", text)
	}
	return "–"
}

// rate formats a fraction as a percentage with three significant digits, such as "1.71%".
func rate(l *locale.Language, v any) string {
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
	return plot.FormatPercent(l, share*100)
}

// times formats a ratio, such as "1.62×". It returns a dash for nil.
func times(l *locale.Language, r *result.FindingRatio) string {
	if r == nil {
		return "–"
	}
	return factor(l, r.Value) + "×"
}

// factor formats a ratio with two decimals if it is less than 3, and with one decimal otherwise.
func factor(l *locale.Language, v float64) string {
	scale := 100.0
	if v >= 3 {
		scale = 10
	}
	return plot.FormatNumber(l, math.Round(v*scale)/scale)
}

// drawRange draws a ratio with its confidence interval. It returns "" for nil.
func drawRange(r *result.FindingRatio, reach float64) template.HTML {
	if r == nil {
		return ""
	}
	return plot.Range{Value: r.Value, Low: r.Low, High: r.High, Reach: reach}.Draw()
}

// isBelowOne reports whether the whole confidence interval of a ratio is below 1.
func isBelowOne(r *result.FindingRatio) bool { return r != nil && r.High < 1 }

// isLogarithmic reports whether a component of the score uses a logarithm. All components of a hashtag's score do.
func isLogarithmic(kind, scale string) bool { return kind == "hashtag" || scale == "logarithmic" }

// drawShare draws a bar that shows part relative to total. It returns "" if part is unknown.
func drawShare(part any, total float64) template.HTML {
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
	if !ok || total <= 0 {
		return ""
	}
	return plot.Share{Fraction: v / total}.Draw()
}

// date formats a date as an HTML time element.
func date(l *locale.Language, at time.Time) template.HTML {
	text := `<time datetime="` + at.Format(time.DateOnly) + `">` + l.Format(at, locale.Day) + `</time>`
	return template.HTML(text) //nolint:gosec // contains only digits and our own texts
}

// nameLabels maps the names in results to their labels.
var nameLabels = map[string]locale.Key{
	"image": "Image", "video": "Video", "reel": "Reel", "carousel": "Carousel",
	"weekdays": "Weekdays|Monday to Friday", "weekend": "Weekend", "monday": "Monday", "tuesday": "Tuesday", "wednesday": "Wednesday",
	"thursday": "Thursday", "friday": "Friday", "saturday": "Saturday", "sunday": "Sunday",
	"nano": "Tiny", "small": "Small", "medium": "Medium", "large": "Large", "huge": "Very large",
}

// label returns the label of a name. If the name has no label, label capitalizes it and replaces underscores with
// spaces.
func label(l *locale.Language, text string) string {
	if text == "" {
		return text
	}
	if name, ok := nameLabels[text]; ok {
		return l.T(name)
	}
	return strings.ToUpper(text[:1]) + strings.ReplaceAll(text[1:], "_", " ")
}

// hours formats a block of hours, such as "08:00–12:00".
func hours(l *locale.Language, from, count int) string {
	if l == locale.American {
		return hour(l, from) + "–" + hour(l, from+count)
	}
	return l.T("%s:00–%s:00", fmt.Sprintf("%02d", from), fmt.Sprintf("%02d", from+count))
}

// hour formats the beginning of an hour, such as "08:00" or "8 AM".
func hour(l *locale.Language, at int) string {
	if l == locale.American {
		return l.FormatHour(monday.Add(time.Duration(at) * time.Hour))
	}
	return l.T("%s:00", fmt.Sprintf("%02d", at))
}

// componentLabels maps the components of a score to their labels.
var componentLabels = map[string]locale.Key{
	"engagement": "Engagement", "reach": "Reach", "growth": "Growth", "activity": "Activity",
	"consistency": "Consistency", "reactions": "Reactions", "competition": "Competition",
}

func component(l *locale.Language, name string) string {
	if known, ok := componentLabels[name]; ok {
		return l.T(known)
	}
	return label(l, name)
}

func componentList(l *locale.Language, names []string) string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = component(l, name)
	}
	return strings.Join(out, ", ")
}

// interactionLabels maps the kinds of interactions to their labels within a sentence.
var interactionLabels = map[string]locale.Key{"likes": "likes", "comments": "comments", "shares": "shares"}

func countLabels(l *locale.Language, names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = name
		if known, ok := interactionLabels[name]; ok {
			out[i] = l.T(known)
		}
	}
	return out
}

// sum lists kinds of interactions as a sum, such as "likes and comments and shares".
func sum(l *locale.Language, names []string) string {
	return strings.Join(countLabels(l, names), l.And([]string{"", ""}))
}

// age formats a number of days in hours, days or years. It returns a dash if the number is unknown.
func age(l *locale.Language, v any) string {
	const year = 365.25
	days, known := v.(float64)
	if p, ok := v.(*float64); ok && p != nil {
		days, known = *p, true
	}
	switch {
	case !known:
		return "–"
	case days < 2:
		return l.N(days*24, "%d hour", "%d hours")
	case days < 2*year:
		return l.N(days, "%d day", "%d days")
	}
	return l.T("%s years", plot.FormatNumber(l, math.Round(10*days/year)/10))
}

// amount formats the value of a metric that a component of a score is computed from.
func amount(l *locale.Language, metric string, v any) string {
	switch metric {
	case "rate_by_followers", "rate_by_views", "views_by_followers", "evenness":
		return rate(l, v)
	case "percent_per_month":
		return percent(l, v)
	case "top_likes_by_recent_likes":
		return number(l, v) + "×"
	}
	return number(l, v)
}

// metricLabels maps metrics that scores are computed from to their labels.
var metricLabels = map[string]locale.Key{
	"rate_by_followers": "Engagement per follower", "rate_by_views": "Engagement per view",
	"views_by_followers": "Views per follower", "percent_per_month": "Growth per month",
	"posts_per_week": "Posts per week", "evenness": "Regularity of posting", "posts_per_day": "New posts per day",
	"median_likes": "Likes per post", "top_likes_by_recent_likes": "Likes of top posts relative to recent ones",
}

func metricName(l *locale.Language, name string) string {
	if known, ok := metricLabels[name]; ok {
		return l.T(known)
	}
	return label(l, name)
}

// subject returns the subject of a report for display, such as "#coffee" or "@name".
func subject(kind, name string) string {
	if kind == "hashtag" {
		return "#" + name
	}
	return "@" + name
}

// basis returns a tag that marks a metric as estimated, or "" if it was counted.
func basis(l *locale.Language, name string) template.HTML {
	if name != result.Estimated {
		return ""
	}
	title := template.HTMLEscapeString(l.T("Computed with a confidence interval, not counted"))
	return template.HTML(`<span class="tag estimated" title="` + title + `">` + //nolint:gosec // escaped
		template.HTMLEscapeString(l.T("Estimated")) + "</span>")
}
