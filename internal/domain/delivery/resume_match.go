package delivery

import (
	"html"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"pressroom/internal/network"
)

// match gives each post that a network lists to the one of ours with its text whose time is nearest. What only has its words
// or begins alike may be a text that the network has changed: of that a person decides.
func match(doubts []*candidate, listed []network.Figures) {
	taken := map[*candidate]bool{}
	rest := slices.DeleteFunc(slices.Clone(listed), func(f network.Figures) bool {
		d := nearest(f, candidatesFor(doubts, f, taken, sameText))
		if d == nil {
			return false
		}
		taken[d] = true
		d.verdict, d.Why, d.receipt = network.Stands, "", network.Receipt{ID: f.ID, Permalink: f.URL, At: f.PostedAt}
		return true
	})
	for _, f := range rest {
		why := "the account shows a post with these words and another address: "
		could := candidatesFor(doubts, f, taken, sameWords)
		switch {
		case len(could) == 0:
			why, could = "the account shows a post that could be this one: ", candidatesFor(doubts, f, taken, samePrefix)
		case textWithoutLinks(f.Text) == "": // a picture without words could be any
			why = "the account shows a post without words that could be this one: "
		}
		for _, d := range could { // it is one of them, and nothing tells which
			d.verdict, d.Why = network.Unknown, why+f.URL
		}
	}
}

// candidatesFor are the doubts that a listed post could be, as far as they are not taken: those that were due when it was posted, and
// where there is none, those that a person may have published ahead of their time.
func candidatesFor(doubts []*candidate, f network.Figures, taken map[*candidate]bool, is func(ours, listed string) bool) []*candidate {
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

// nearest is the doubt whose time is nearest to that of a listed post; nil where there is none.
func nearest(f network.Figures, doubts []*candidate) *candidate {
	var best *candidate
	for _, d := range doubts {
		if best == nil || d.Due.Sub(f.PostedAt).Abs() < best.Due.Sub(f.PostedAt).Abs() {
			best = d
		}
	}
	return best
}

// sameText tells whether two texts are one, with all their addresses.
func sameText(a, b string) bool {
	return normalizeText(a) != "" && normalizeText(a) == normalizeText(b)
}

// sameWords tells whether two texts are one but for their addresses: networks put their own in the place of ours, and
// posts of a series may differ by nothing else.
func sameWords(a, b string) bool { return textWithoutLinks(a) == textWithoutLinks(b) }

// samePrefix tells whether one of two texts begins with the other, with their addresses, as a network may have cut within one, or
// without.
func samePrefix(a, b string) bool {
	return isPrefix(normalizeText(a), normalizeText(b)) || isPrefix(textWithoutLinks(a), textWithoutLinks(b))
}

func isPrefix(a, b string) bool {
	a, b = trimEllipsis(a), trimEllipsis(b)
	return a != "" && b != "" && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a))
}

// trimEllipsis is a text without the sign of a network that it was longer.
func trimEllipsis(text string) string { return strings.TrimSpace(strings.TrimSuffix(text, "…")) }

var (
	schemePattern = regexp.MustCompile(`(?i)https?://`)
	slashPattern  = regexp.MustCompile(`/(\s|$)`)
	// Scripts without spaces between words are left out: there a domain has no beginning.
	domainPattern = regexp.MustCompile(`(?:[\p{Latin}\p{Greek}\p{Cyrillic}\pN_-]+\.)+[\p{Latin}\p{Greek}\p{Cyrillic}]{2,}(?:[:/?#][^\s<>"「」『』（）、。，]*)?`)
)

// normalizeText is a text without what networks change of it and of its addresses: spaces, the form of its characters, the scheme
// of an address, which some put before a domain that was written without, and its closing slash.
func normalizeText(text string) string {
	text = schemePattern.ReplaceAllLiteralString(norm.NFC.String(html.UnescapeString(text)), "")
	return strings.Join(strings.Fields(slashPattern.ReplaceAllString(text, "$1")), " ")
}

// textWithoutLinks is a text without its spaces and addresses, also what only looks like one, as networks make links of it.
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
