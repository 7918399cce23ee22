package linkedin

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/network"
)

// span is a part of a text that mentions somebody.
type span struct {
	start, end int
	mention    network.LinkedInMention
}

var webAddress = regexp.MustCompile(`(?i:https?)://[^\s<>]+`)

// findMentions returns the parts of a text that consist of @ and the name of a mention, in order. If several names
// match, the longest counts. An @ in a URL or after a letter or digit, as in an email address, is not a mention.
func findMentions(text string, mentions []network.LinkedInMention) []span {
	mentions = slices.Clone(mentions)
	slices.SortStableFunc(mentions, func(a, b network.LinkedInMention) int { return cmp.Compare(len(b.Name), len(a.Name)) })
	addresses := webAddress.FindAllStringIndex(text, -1)
	var spans []span
	for at := 0; at < len(text); at++ {
		isInAddress := slices.ContainsFunc(addresses, func(a []int) bool { return a[0] <= at && at < a[1] })
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		if text[at] != '@' || isInAddress || isWordChar(before) {
			continue
		}
		for _, m := range mentions {
			end := at + len("@") + len(m.Name)
			if m.Name == "" || !strings.HasPrefix(text[at+len("@"):], m.Name) {
				continue
			}
			if after, _ := utf8.DecodeRuneInString(text[end:]); end == len(text) || !isWordChar(after) {
				spans = append(spans, span{at, end, m})
				at = end - 1
				break
			}
		}
	}
	return spans
}

func isWordChar(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// escapeWith is like escape, but also encodes mentions.
//
// Source: https://learn.microsoft.com/linkedin/marketing/community-management/shares/little-text-format
func escapeWith(text string, mentions []network.LinkedInMention) string {
	var out strings.Builder
	lastEnd := 0
	for _, s := range findMentions(text, mentions) {
		out.WriteString(escape(text[lastEnd:s.start]) + "@[")
		escapeInto(&out, s.mention.Name)
		out.WriteString("](" + s.mention.URN + ")")
		lastEnd = s.end
	}
	out.WriteString(escape(text[lastEnd:]))
	return out.String()
}

// checkMentions reports mentions whose name is not in the text, or whose URN is invalid.
func (c *optionCheck) checkMentions() {
	spans := findMentions(c.content.Text, c.options.Mentions)
	missing, invalid := false, false
	for _, m := range c.options.Mentions {
		invalid = invalid || !isURN(m.URN, "person", organization)
		missing = missing || !slices.ContainsFunc(spans, func(s span) bool { return s.mention == m })
	}
	if invalid {
		c.add("mentions", network.CodeOptionUnsupported, true,
			"A mention on LinkedIn (options.linkedin.mentions) needs a URN such as "+
				"urn:li:organization:2414183 or urn:li:person:a1b2.")
	}
	if missing {
		c.add("mentions", network.CodeOptionUnsupported, false,
			"A mention on LinkedIn (options.linkedin.mentions) is missing in the text. "+
				"Write its name after @, exactly as in the mention.")
	}
}
