package hashtags

import (
	"strconv"
	"strings"

	"pressroom/internal/domain/hashtag/list"
	"pressroom/internal/domain/report/hashtaganalysis"
	"pressroom/internal/web/plot"
	"pressroom/internal/web/shell"
)

// rate writes a figure with one digit behind the point; a dash where it is not known.
func rate(n *float64) string {
	if n == nil {
		return "–"
	}
	if *n >= 100 {
		return shell.Count(n)
	}
	return strconv.FormatFloat(*n, 'f', 1, 64)
}

// posts says how many posts carry a hashtag, and of an estimate between which numbers it lies: in short, as more digits
// would claim more than is known.
func posts(p *hashtaganalysis.TagPosts) string {
	switch {
	case p == nil:
		return "–"
	case p.Basis != "estimated":
		return shell.Count(p.Count)
	case p.Low == nil || p.High == nil:
		return "about " + plot.Number(float64(p.Count))
	}
	return "about " + plot.Number(float64(p.Count)) + " (" + plot.Number(float64(*p.Low)) + " to " +
		plot.Number(float64(*p.High)) + ")"
}

// reasons say why a hashtag was refused.
var reasons = map[string]string{
	"empty": "nothing is left of it", "too_long": "it is too long", "bad_characters": "it holds what no hashtag holds",
	"list_full": "the list has as many hashtags as the plan allows", "banned": "this service does not take it",
}

// saidOf tells what became of hashtags that were sent.
func saidOf(c list.HashtagListChange) string {
	out := []string{shell.Plural(len(c.Added), "hashtag is", "hashtags are") + " added."}
	if len(c.AlreadyPresent) > 0 {
		out = append(out, shell.Plural(len(c.AlreadyPresent), "was", "were")+" there already.")
	}
	if len(c.Refused) > 0 {
		out = append(out, refusedOf(c.Refused))
	}
	return strings.Join(out, " ")
}

const namedRefused = 5 // hashtags that a message names

func refusedOf(all []list.HashtagListChangeRefused) string {
	var named []string
	for _, r := range all[:min(len(all), namedRefused)] {
		named = append(named, "“"+r.Hashtag+"” ("+reasons[r.Reason]+")")
	}
	out := "Not taken: " + strings.Join(named, ", ")
	if more := len(all) - len(named); more > 0 {
		out += " and " + shell.Plural(more, "more", "more")
	}
	return out + "."
}

// tagsIn reads what was typed: hashtags with spaces, commas or lines between them.
func tagsIn(text string) []any {
	var out []any
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n,;", r) }) {
		out = append(out, word)
	}
	return out
}
