package x

import (
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

const (
	maxLink  = 4096 // UTF-16 code units of a URL with its scheme
	maxSlug  = 40   // characters of the path of X's own short URLs
	maxLabel = 63   // bytes of an encoded label of a domain (RFC 1035)
)

// Non-ASCII letters that are allowed in a path, and in a domain without a scheme.
const (
	latin = `À-ÖØ-öø-ÿ\x{100}-\x{24f}\x{253}\x{254}\x{256}\x{257}\x{259}\x{25b}\x{263}\x{268}\x{26f}` +
		`\x{272}\x{289}\x{28b}\x{2bb}\x{300}-\x{36f}\x{1e00}-\x{1eff}`
	cyrillic = `\x{400}-\x{4ff}`
)

// A port, a path and a query may follow a domain. A path may contain balanced parentheses. Paths and queries do not
// include punctuation that ends a sentence.
var (
	pathRune  = `[a-zA-Z0-9!*';:=+,.$/%#\[\]\-–_~@|&` + cyrillic + latin + `]`
	brackets  = `\((?:` + pathRune + `+|` + pathRune + `*\(` + pathRune + `+\)` + pathRune + `*)\)`
	pathEnd   = `(?:[+\-a-zA-Z0-9=_#/` + cyrillic + latin + `]|` + brackets + `)`
	pathPart  = `(?:` + pathRune + `*(?:` + brackets + pathRune + `*)*` + pathEnd + `|@` + pathRune + `+/)`
	queryRune = `[a-zA-Z0-9!?*'@();:&=+$/%#\[\]\-_.,~|]`
	query     = `(?:\?` + queryRune + `*[a-zA-Z0-9\-_&=#/])?`

	remainderPattern  = regexp.MustCompile(`^(?::[0-9]+)?(/` + pathPart + `*)?` + query)
	schemePattern     = regexp.MustCompile(`[hH][tT][tT][pP][sS]?://$`)
	ownLinkPattern    = regexp.MustCompile(`^[hH][tT][tT][pP][sS]?://[tT]\.[cC][oO]/([a-zA-Z0-9]+)` + query)
	latinLabelPattern = regexp.MustCompile(`[-a-zA-Z0-9` + latin + `]*$`) // the Latin letters at the end of a label
)

// span is a part of a text, as byte offsets.
type span struct{ start, end int }

// findLinks returns the parts of the text that X counts as URLs, in order and without overlaps.
func findLinks(text string) []span {
	if !strings.Contains(text, ".") {
		return nil
	}
	var spans []span
	words := splitWords(text)
	for from := 0; len(words) > 0; {
		m, ok := findCandidate(text, words, from)
		if !ok {
			words = words[1:]
			continue
		}
		spans = append(spans, m.spans(text)...)
		from = m.end
		for len(words) > 0 && words[0].end <= from {
			words = words[1:]
		}
	}
	return spans
}

// candidate is a domain with its scheme and path.
type candidate struct {
	start  int // start of the scheme, or of the domain if there is no scheme
	domain span
	path   bool // whether a path follows the domain
	end    int
}

// spans returns the parts of the candidate that X counts as URLs: the whole candidate, only its Latin domains, or
// nothing.
func (c candidate) spans(text string) []span {
	link, domain := text[c.start:c.end], text[c.domain.start:c.domain.end]
	if len(utf16.Encode([]rune(link))) > maxLink || !isEncodable(domain) {
		return nil
	}
	if c.start == c.domain.start {
		return c.bareSpans(text)
	}
	match := ownLinkPattern.FindStringSubmatch(link)
	switch {
	case match == nil:
		return []span{{c.start, c.end}}
	case len(match[1]) > maxSlug:
		return nil
	}
	return []span{{c.start, c.start + len(match[0])}}
}

// bareSpans returns the URLs in a candidate without a scheme: domains of Latin letters. The last domain includes the
// path.
func (c candidate) bareSpans(text string) []span {
	before, _ := utf8.DecodeLastRuneInString(text[:c.start])
	if strings.ContainsRune("-_./", before) {
		return nil
	}
	domains := latinDomains(text[c.domain.start:c.domain.end])
	for i := range domains {
		domains[i].start += c.domain.start
		domains[i].end += c.domain.start
	}
	if last := len(domains) - 1; last >= 0 && c.path && domains[last].end == c.domain.end {
		domains[last].end = c.end
	}
	return domains
}

// isEncodable reports whether every label of a domain can be encoded for the DNS.
func isEncodable(domain string) bool {
	if strings.HasPrefix(domain, punycode) && len(latinDomains(domain)) == 0 {
		return false
	}
	for label := range strings.SplitSeq(domain, ".") {
		// Skip the slow encoding, because an encoded label is never shorter.
		if utf8.RuneCountInString(label) > maxLabel {
			return false
		}
		// An error means that the label only looks encoded, which X accepts.
		if encoded, err := idna.Punycode.ToASCII(label); err == nil && len(encoded) > maxLabel {
			return false
		}
	}
	return true
}

// latinDomains returns the domains of Latin letters within a domain. They may directly follow other letters.
func latinDomains(domain string) []span {
	var domains []span
	domainSpan := span{-1, 0} // start of the Latin labels and end of their last top-level domain
	at := 0
	for label := range strings.SplitSeq(domain, ".") {
		if end := tldEnd(domain, at, at+len(label)); domainSpan.start >= 0 && end > 0 {
			domainSpan.end = end
		}
		latinStart := at + latinLabelPattern.FindStringIndex(label)[0]
		if latinStart > at || domainSpan.start < 0 {
			domains = appendDomain(domains, domainSpan)
			domainSpan = span{max(latinStart, domainSpan.end), 0}
			if latinStart == at+len(label) {
				domainSpan.start = -1
			}
		}
		at += len(label) + 1
	}
	return appendDomain(domains, domainSpan)
}

func appendDomain(domains []span, s span) []span {
	if s.start < 0 || s.end <= s.start {
		return domains
	}
	return append(domains, s)
}
