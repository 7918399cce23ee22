package delivery

import (
	"html"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"pressroom.example/pressroom/internal/network"
)

// matchPosts assigns each listed post to the candidate with the same text and the nearest time. If only the words or
// the beginning are the same, the network may have changed the text. The verdict is then unknown, and a person decides.
func matchPosts(candidates []*candidate, posts []network.CollectedPost) {
	matchedCandidates := map[*candidate]bool{}
	unmatchedPosts := slices.DeleteFunc(slices.Clone(posts), func(p network.CollectedPost) bool {
		c := nearest(p, candidatesFor(candidates, p, matchedCandidates, sameText))
		if c == nil {
			return false
		}
		matchedCandidates[c] = true
		c.verdict, c.Reason, c.receipt = network.Published, "", network.Receipt{ID: p.ID, Permalink: p.URL, At: p.PostedAt}
		return true
	})
	for _, p := range unmatchedPosts {
		reason := "The account shows a post with this text and another link: "
		possibleMatches := candidatesFor(candidates, p, matchedCandidates, sameWords)
		switch {
		case len(possibleMatches) == 0:
			reason, possibleMatches = "The account shows a post that could be this one: ", candidatesFor(candidates,
				p, matchedCandidates,
				samePrefix)
		case textWithoutLinks(p.Text) == "": // A post without text could be any candidate without text.
			reason = "The account shows a post without text that could be this one: "
		}
		for _, c := range possibleMatches { // The post is one of these candidates.
			c.verdict, c.Reason = network.Unknown, reason+p.URL
		}
	}
}

// candidatesFor returns the unmatched candidates whose text matches a listed post. It returns the candidates that were
// due when the post was published, or if there are none, the candidates that were due later.
func candidatesFor(candidates []*candidate, p network.CollectedPost, matchedCandidates map[*candidate]bool,
	matches func(postText, listedText string) bool) []*candidate {
	var dueCandidates, earlyCandidates []*candidate
	for _, c := range candidates {
		switch {
		case matchedCandidates[c] || !matches(c.text, p.Text):
		case c.DueAt.After(p.PostedAt.Add(maxClockSkew)):
			earlyCandidates = append(earlyCandidates, c)
		default:
			dueCandidates = append(dueCandidates, c)
		}
	}
	if len(dueCandidates) > 0 {
		return dueCandidates
	}
	return earlyCandidates
}

// nearest returns the candidate whose due time is nearest to the time of a listed post, or nil if there are no
// candidates.
func nearest(p network.CollectedPost, candidates []*candidate) *candidate {
	var closest *candidate
	for _, c := range candidates {
		if closest == nil || c.DueAt.Sub(p.PostedAt).Abs() < closest.DueAt.Sub(p.PostedAt).Abs() {
			closest = c
		}
	}
	return closest
}

// sameText reports whether two texts, including links, are equal after normalization and not empty.
func sameText(a, b string) bool {
	return normalizeText(a) != "" && normalizeText(a) == normalizeText(b)
}

// sameWords reports whether two texts are equal except for links, because networks replace links.
func sameWords(a, b string) bool { return textWithoutLinks(a) == textWithoutLinks(b) }

// samePrefix reports whether one text begins with the other. It compares the texts with and without links, because a
// network may truncate a text within a link.
func samePrefix(a, b string) bool {
	return isPrefix(normalizeText(a), normalizeText(b)) || isPrefix(textWithoutLinks(a), textWithoutLinks(b))
}

// isPrefix reports whether one of two texts begins with the other, ignoring a final ellipsis.
func isPrefix(a, b string) bool {
	a, b = trimEllipsis(a), trimEllipsis(b)
	return a != "" && b != "" && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a))
}

// trimEllipsis removes the ellipsis of a text that the network truncated.
func trimEllipsis(text string) string { return strings.TrimSpace(strings.TrimSuffix(text, "…")) }

var (
	schemePattern = regexp.MustCompile(`(?i)https?://`)
	slashPattern  = regexp.MustCompile(`/(\s|$)`)
	// Scripts without spaces between words are excluded, because the start of a domain cannot be detected in them.
	domainPattern = regexp.MustCompile(
		`(?:[\p{Latin}\p{Greek}\p{Cyrillic}\pN_-]+\.)+[\p{Latin}\p{Greek}\p{Cyrillic}]{2,}(?:[:/?#][^\s<>"「」『』（）、。，]*)?`)
)

// normalizeText removes differences that networks introduce: whitespace, the Unicode form, and the scheme and trailing
// slash of links.
func normalizeText(text string) string {
	text = schemePattern.ReplaceAllLiteralString(norm.NFC.String(html.UnescapeString(text)), "")
	return strings.Join(strings.Fields(slashPattern.ReplaceAllString(text, "$1")), " ")
}

// textWithoutLinks removes whitespace and links from a text. Words that networks turn into links count as links.
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
