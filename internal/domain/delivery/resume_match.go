package delivery

import (
	"html"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"pressroom/internal/network"
)

// match assigns each listed post to the candidate with the same text and the nearest time. A text that only has
// the same words or beginning may have been changed by the network; a person decides about those.
func match(doubts []*candidate, listed []network.CollectedPost) {
	taken := map[*candidate]bool{}
	rest := slices.DeleteFunc(slices.Clone(listed), func(f network.CollectedPost) bool {
		d := nearest(f, candidatesFor(doubts, f, taken, sameText))
		if d == nil {
			return false
		}
		taken[d] = true
		d.verdict, d.Reason, d.receipt = network.Published, "", network.Receipt{ID: f.ID, Permalink: f.URL, At: f.PostedAt}
		return true
	})
	for _, f := range rest {
		why := "The account shows a post with this text and another link: "
		could := candidatesFor(doubts, f, taken, sameWords)
		switch {
		case len(could) == 0:
			why, could = "The account shows a post that could be this one: ", candidatesFor(doubts, f, taken,
				samePrefix)
		case textWithoutLinks(f.Text) == "": // any image without text could match
			why = "The account shows a post without text that could be this one: "
		}
		for _, d := range could { // one of them, but not known which
			d.verdict, d.Reason = network.Unknown, why+f.URL
		}
	}
}

// candidatesFor returns the candidates that a listed post could be and that are not yet matched: those that were due
// when it was posted, else those that may have been published early.
func candidatesFor(doubts []*candidate, f network.CollectedPost, taken map[*candidate]bool,
	is func(ours, listed string) bool) []*candidate {
	var due, ahead []*candidate
	for _, d := range doubts {
		switch {
		case taken[d] || !is(d.text, f.Text):
		case d.Due.After(f.PostedAt.Add(maxClockSkew)):
			ahead = append(ahead, d)
		default:
			due = append(due, d)
		}
	}
	if len(due) > 0 {
		return due
	}
	return ahead
}

// nearest returns the candidate whose time is nearest to that of a listed post, or nil.
func nearest(f network.CollectedPost, doubts []*candidate) *candidate {
	var best *candidate
	for _, d := range doubts {
		if best == nil || d.Due.Sub(f.PostedAt).Abs() < best.Due.Sub(f.PostedAt).Abs() {
			best = d
		}
	}
	return best
}

// sameText reports whether two texts are equal, including links.
func sameText(a, b string) bool {
	return normalizeText(a) != "" && normalizeText(a) == normalizeText(b)
}

// sameWords reports whether two texts are equal except for links, which networks replace. Posts of a series may
// differ only in a link.
func sameWords(a, b string) bool { return textWithoutLinks(a) == textWithoutLinks(b) }

// samePrefix reports whether one text begins with the other, with or without links: a network may cut within a
// link.
func samePrefix(a, b string) bool {
	return isPrefix(normalizeText(a), normalizeText(b)) || isPrefix(textWithoutLinks(a), textWithoutLinks(b))
}

// isPrefix reports whether one of two texts begins with the other, ignoring a final ellipsis.
func isPrefix(a, b string) bool {
	a, b = trimEllipsis(a), trimEllipsis(b)
	return a != "" && b != "" && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a))
}

// trimEllipsis removes the mark of a text that the network has cut.
func trimEllipsis(text string) string { return strings.TrimSpace(strings.TrimSuffix(text, "…")) }

var (
	schemePattern = regexp.MustCompile(`(?i)https?://`)
	slashPattern  = regexp.MustCompile(`/(\s|$)`)
	// Scripts without spaces between words are excluded, because the start of a domain cannot be found there.
	domainPattern = regexp.MustCompile(
		`(?:[\p{Latin}\p{Greek}\p{Cyrillic}\pN_-]+\.)+[\p{Latin}\p{Greek}\p{Cyrillic}]{2,}(?:[:/?#][^\s<>"「」『』（）、。，]*)?`)
)

// normalizeText removes what networks change in texts and links: whitespace, Unicode form, the scheme of a link
// and its final slash.
func normalizeText(text string) string {
	text = schemePattern.ReplaceAllLiteralString(norm.NFC.String(html.UnescapeString(text)), "")
	return strings.Join(strings.Fields(slashPattern.ReplaceAllString(text, "$1")), " ")
}

// textWithoutLinks returns a text without whitespace and links, including words that networks turn into links.
func textWithoutLinks(text string) string {
	text = norm.NFC.String(html.UnescapeString(text))
	for _, link := range network.Links(text) {
		text = strings.Replace(text, link, "", 1)
	}
	for _, word := range domainPattern.FindAllString(text, -1) {
		text = strings.Replace(text, strings.TrimRight(word, ".,;:!?'…’)]}"), "", 1)
	}
	return strings.Join(strings.Fields(text), "")
}
