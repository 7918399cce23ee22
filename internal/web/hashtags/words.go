package hashtags

import (
	"html/template"
	"strings"

	"pressroom.example/pressroom/internal/domain/hashtag/list"
	"pressroom.example/pressroom/internal/domain/report/hashtaganalysis"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/plot"
	"pressroom.example/pressroom/internal/web/shell"
)

// templateFuncs returns the template functions for a language.
func templateFuncs(l *locale.Language) template.FuncMap {
	return template.FuncMap{
		"rate":  func(n *float64) string { return formatRate(l, n) },
		"posts": func(p *hashtaganalysis.TagPosts) template.HTML { return formatPosts(l, p) },
		"tier":  func(name string) string { return tierLabel(l, name) },
		"text":  func(text string) string { return shell.TranslateText(l, text) },
		"drawn": iconPath,
	}
}

// formatRate formats a number with one decimal, a number of 100 or more as a short number, and nil as a dash.
func formatRate(l *locale.Language, n *float64) string {
	if n == nil {
		return "–"
	}
	if *n >= 100 {
		return plot.FormatNumber(l, *n)
	}
	return l.Decimal(*n, 1)
}

// formatPosts formats the number of posts with a hashtag as a short number. The title attribute contains the exact
// number or, for an estimate, the range.
func formatPosts(l *locale.Language, p *hashtaganalysis.TagPosts) template.HTML {
	switch {
	case p == nil:
		return "–"
	case p.Basis != "estimated":
		escape := template.HTMLEscapeString
		return template.HTML(`<span title="` + escape(l.Count(p.Count)) + `">` + //nolint:gosec // escaped
			escape(plot.FormatNumber(l, float64(p.Count))) + `</span>`)
	case p.Low == nil || p.High == nil:
		return l.H("about %s", plot.FormatNumber(l, float64(p.Count)))
	}
	interval := l.T("%s to %s", plot.FormatNumber(l, float64(*p.Low)), plot.FormatNumber(l, float64(*p.High)))
	return l.H(`<span title="%s">about %s<span class="sr"> (%s)</span></span>`, interval, plot.FormatNumber(l, float64(p.Count)), interval)
}

// tierLabels maps the sizes of hashtags to their labels.
var tierLabels = map[string]locale.Key{
	"nano": "Tiny", "small": "Small", "medium": "Medium", "large": "Large", "huge": "Very large",
}

func tierLabel(l *locale.Language, name string) string {
	if label, ok := tierLabels[name]; ok {
		return l.T(label)
	}
	return name
}

// reasonTexts maps the reasons for rejecting a hashtag to texts.
var reasonTexts = map[string]locale.Key{
	"empty": "no valid characters", "too_long": "too long", "bad_characters": "contains invalid characters",
	"list_full": "the plan’s limit of hashtags per list is reached", "banned": "not allowed by this service",
}

// changeText describes the result of adding hashtags.
func changeText(l *locale.Language, c list.HashtagListChange) string {
	out := []string{l.N(len(c.Added), "Added %d hashtag.", "Added %d hashtags.")}
	if len(c.AlreadyPresent) > 0 {
		out = append(out, l.N(len(c.AlreadyPresent), "%d was already in the list.", "%d were already in the list."))
	}
	if len(c.Refused) > 0 {
		out = append(out, rejectionText(l, c.Refused))
	}
	return strings.Join(out, " ")
}

const maxNamedRejections = 5 // maximum number of rejected hashtags that a message names

func rejectionText(l *locale.Language, rejections []list.HashtagListChangeRefused) string {
	var names []string
	for _, r := range rejections[:min(len(rejections), maxNamedRejections)] {
		names = append(names, l.T("“%s” (%s)", r.Hashtag, reasonTexts[r.Reason]))
	}
	if more := len(rejections) - len(names); more > 0 {
		return l.T("Rejected: %s and %d more.", strings.Join(names, ", "), more)
	}
	return l.T("Rejected: %s.", strings.Join(names, ", "))
}

// parseHashtags parses hashtags separated by white space, commas or semicolons.
func parseHashtags(text string) []any {
	var out []any
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n,;", r) }) {
		out = append(out, word)
	}
	return out
}
