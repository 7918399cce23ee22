package x

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

const (
	punycode = "xn--"
	maxTLD   = 24 // code points of a top-level domain; the longest has 18 in its native script
)

// word is a run of characters that may be in a domain's labels.
type word struct {
	span

	joined    bool // followed by a dot and another word
	tldEnd    int  // end of the top-level domain at its start, or 0
	domainEnd int  // end of the longest domain with this word as its first label, or 0
}

// splitWords returns the words of a text. For each word it computes the end of a domain that starts there.
func splitWords(text string) []word {
	var words []word
	for at := 0; at < len(text); {
		size := strings.IndexFunc(text[at:], func(r rune) bool { return !isLabelRune(r) && r != '-' && r != '_' })
		if size < 0 {
			size = len(text) - at
		}
		if size > 0 {
			w := word{span: span{at, at + size}}
			if last := len(words) - 1; last >= 0 && words[last].end+1 == at && text[at-1] == '.' {
				words[last].joined = true
				w.tldEnd = tldEnd(text, w.start, w.end)
			}
			words = append(words, w)
			at = w.end
			continue
		}
		_, skip := utf8.DecodeRuneInString(text[at:])
		at += skip
	}
	for i := len(words) - 2; i >= 0; i-- {
		words[i].domainEnd = domainEnd(text, words[i:], words[i].start)
	}
	return words
}

// domainEnd returns the end of the longest domain that begins at start, an offset in the first word of all. It returns
// 0 if no domain begins there.
func domainEnd(text string, words []word, start int) int {
	label := text[start:words[0].end]
	if !words[0].joined || strings.ContainsRune("-_", rune(label[0])) ||
		strings.ContainsRune("-_", rune(label[len(label)-1])) {
		return 0
	}
	if words[1].domainEnd > 0 || strings.Contains(label, "_") { // only subdomains may contain an underscore
		return words[1].domainEnd
	}
	return words[1].tldEnd
}

// findCandidate returns the first candidate that begins in the first word of all. Text before the offset from belongs
// to an earlier candidate.
func findCandidate(text string, words []word, from int) (candidate, bool) {
	w := words[0]
	if !w.joined {
		return candidate{}, false
	}
	if start, ok := schemeBefore(text, w.start, from); ok {
		if end := domainEnd(text, words, w.start); end > 0 {
			return newCandidate(text, start, span{w.start, end}), true
		}
	}
	for _, start := range domainStarts(text, w.span, from) {
		if end := domainEnd(text, words, start); end > 0 {
			return newCandidate(text, start, span{start, end}), true
		}
	}
	return candidate{}, false
}

func newCandidate(text string, start int, domain span) candidate {
	match := remainderPattern.FindStringSubmatchIndex(text[domain.end:])
	return candidate{start: start, domain: domain, path: match[2] >= 0, end: domain.end + match[1]}
}

// schemeBefore returns the start of the http:// or https:// directly before at.
func schemeBefore(text string, at, from int) (int, bool) {
	const longest = len("https://")
	lowest := max(from, at-longest)
	if lowest >= at {
		return 0, false
	}
	match := schemePattern.FindStringIndex(text[lowest:at])
	if match == nil {
		return 0, false
	}
	start := lowest + match[0]
	return start, start == 0 || canStart(text, start, from)
}

// canStart reports whether a URL may begin at start. A URL may not directly follow a word, a mention, a tag or another
// URL.
func canStart(text string, start, from int) bool {
	if start <= from {
		return false
	}
	r, _ := utf8.DecodeLastRuneInString(text[:start])
	return !isAlphanumeric(r) && !strings.ContainsRune("@＠$#＃", r) && !isNoncharacter(r)
}

// domainStarts returns the offsets in a word at which a domain may begin: the start of the word and the offset after
// its last underscore. Other offsets give the same results. At the beginning of a text, X tries the second character
// first, unless the first one is an ASCII letter or digit.
func domainStarts(text string, w span, from int) []int {
	var starts []int
	secondStart := w.start + strings.LastIndex(text[w.start:w.end], "_") + 1
	for i, r := range text[w.start:w.end] {
		at := w.start + i
		if r == '-' || r == '_' || !canStart(text, at, from) {
			continue
		}
		if len(starts) == 0 || at >= secondStart {
			starts = append(starts, at)
		}
		if at >= secondStart {
			break
		}
	}
	if w.start > 0 {
		return starts
	}
	if _, size := utf8.DecodeRuneInString(text); len(starts) > 0 && starts[0] == size {
		return []int{size, 0}
	}
	return append([]int{0}, starts...)
}

// tldEnd returns the end of the top-level domain at the beginning of text[start:end], or 0. It returns the longest
// top-level domain that is not followed by an ASCII letter, a digit, @, + or -.
func tldEnd(text string, start, end int) int {
	label := text[start:end]
	if len(label) > len(punycode) && strings.EqualFold(label[:len(punycode)], punycode) {
		size := strings.IndexFunc(label, func(r rune) bool { return r != '-' && !isAlphanumeric(r) })
		if size < 0 {
			size = len(label)
		}
		return start + size
	}
	longestEnd, count := 0, 0
	for i, r := range label {
		if count++; count > maxTLD || r == '-' || r == '_' {
			break
		}
		if at := start + i + utf8.RuneLen(r); endsDomain(text[at:]) && isTLD(text[start:at]) {
			longestEnd = at
		}
	}
	return longestEnd
}

func endsDomain(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return rest == "" || !isAlphanumeric(r) && !strings.ContainsRune("@+-", r)
}

// isTLD reports whether the public suffix list, which includes IANA's list of top-level domains, has the ending. Some
// domains are listed only with subdomains. The lookup therefore uses a subdomain that nobody can register.
func isTLD(ending string) bool {
	ascii, err := idna.Punycode.ToASCII(strings.ToLower(ending))
	if err != nil {
		return false
	}
	_, listed := publicsuffix.PublicSuffix("-." + ascii)
	return listed
}

// isLabelRune reports whether X allows r in a domain's label, not counting hyphen and underscore. X allows everything
// except punctuation, spaces, direction marks and noncharacters.
func isLabelRune(r rune) bool {
	const punctuation = `!'#%&()*+,\-./:;<=>?@[]^_{|}~$`
	spaces := r >= 0x09 && r <= 0x0D || r == 0x180E || r == 0x85 || unicode.Is(unicode.Z, r)
	return !spaces && !strings.ContainsRune(punctuation, r) && !unicode.Is(unicode.Bidi_Control, r) && !isNoncharacter(r)
}

func isAlphanumeric(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

func isNoncharacter(r rune) bool { return r == 0xFEFF || r == 0xFFFE || r == 0xFFFF }
