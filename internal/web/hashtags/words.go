package hashtags

import (
	"strconv"
	"strings"

	"pressroom/internal/domain/hashtag/list"
	"pressroom/internal/domain/report/hashtaganalysis"
	"pressroom/internal/web/plot"
	"pressroom/internal/web/shell"
)

// rate returns a number with one decimal, or a dash if unknown.
func rate(n *float64) string {
	if n == nil {
		return "–"
	}
	if *n >= 100 {
		return shell.Count(n)
	}
	return strconv.FormatFloat(*n, 'f', 1, 64)
}

// posts returns the number of posts with a hashtag, with the range of an estimate. It is rounded, because more digits
// would suggest false precision.
func posts(p *hashtaganalysis.TagPosts) string {
	switch {
	case p == nil:
		return "–"
	case p.Basis != "estimated":
		return shell.Count(p.Count)
	case p.Low == nil || p.High == nil:
		return "about " + plot.FormatNumber(float64(p.Count))
	}
	return "about " + plot.FormatNumber(float64(p.Count)) + " (" + plot.FormatNumber(float64(*p.Low)) + " to " +
		plot.FormatNumber(float64(*p.High)) + ")"
}

// reasons explain why a hashtag was rejected.
var reasons = map[string]string{
	"empty": "nothing remains of it", "too_long": "too long", "bad_characters": "contains invalid characters",
	"list_full": "the plan’s limit of hashtags per list is reached", "banned": "not allowed by this service",
}

// changeText describes the result of adding hashtags.
func changeText(c list.HashtagListChange) string {
	out := []string{"Added " + shell.Plural(len(c.Added), "hashtag", "hashtags") + "."}
	if len(c.AlreadyPresent) > 0 {
		out = append(out, shell.Plural(len(c.AlreadyPresent), "was", "were")+" already in the list.")
	}
	if len(c.Refused) > 0 {
		out = append(out, refusedOf(c.Refused))
	}
	return strings.Join(out, " ")
}

const namedRefused = 5 // maximum of hashtags in a message

func refusedOf(all []list.HashtagListChangeRefused) string {
	var named []string
	for _, r := range all[:min(len(all), namedRefused)] {
		named = append(named, "“"+r.Hashtag+"” ("+reasons[r.Reason]+")")
	}
	out := "Rejected: " + strings.Join(named, ", ")
	if more := len(all) - len(named); more > 0 {
		out += " and " + shell.Plural(more, "more", "more")
	}
	return out + "."
}

// tagsIn parses hashtags separated by spaces, commas or line breaks.
func tagsIn(text string) []any {
	var out []any
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n,;", r) }) {
		out = append(out, word)
	}
	return out
}
