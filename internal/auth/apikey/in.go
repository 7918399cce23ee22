package apikey

import (
	"slices"
	"strings"
)

const (
	// maxDepth is how many encodings may lie one inside another.
	maxDepth = 3
	// maxWork bounds what is searched, in lengths of the text: the text itself and all that is decoded from it.
	maxWork = 4
	// moreWork is so many bytes more, as in a short text a few words before a secret are soon half of it.
	moreWork = 1 << 10
	// fewestMarks is fewer capitals and digits than any secret has in base64: of its 56 signs they are 31, give or take 4.
	fewestMarks = 8
)

// In tells whether a secret stands anywhere in a text: as it is, broken by signs that are none of its own, or in
// the encodings in which texts are commonly pasted, also one inside another. Its cost is linear in the text.
func In(text string) bool {
	s := search{left: bound(text)}
	s.add(text)
	for depth := range maxDepth + 1 {
		layer := s.next
		s.next = nil
		if depth == maxDepth {
			s.left = 0
		}
		if slices.ContainsFunc(layer, s.in) {
			return true
		}
	}
	return false
}

func bound(text string) int { return maxWork*len(text) + moreWork }

// search goes through what a text may be an encoding of layer by layer, so that what lies deep takes no work from
// what does not.
type search struct {
	left int // so many bytes may still be added
	next []string
	seen map[string]bool // what was decoded: two ways often lead to the same
}

func (s *search) add(text string) {
	if len(text) >= length && len(text) <= s.left {
		s.left -= len(text)
		s.next = append(s.next, text)
	}
}

func (s *search) addDecoded(text string) {
	if s.seen[text] {
		return
	}
	if s.seen == nil {
		s.seen = map[string]bool{}
	}
	s.seen[text] = true
	s.add(text)
}

// in tells whether a secret stands in a text as it is, and adds what the text is an encoding of.
func (s *search) in(text string) bool {
	seen, marks := look(text)
	if seen&foreign != 0 {
		text = toASCII(text)
		seen, marks = look(text)
	}
	if seen&underscore != 0 && plain(text) {
		return true
	}
	s.decode(text, seen, marks)
	return false
}

// decode adds what a text is an encoding of.
func (s *search) decode(text string, seen class, marks int) {
	if s.left < length {
		return
	}
	if seen&escape != 0 {
		if decoded, changed := unescape(text); changed {
			s.addDecoded(decoded)
		}
	}
	if bare := withoutTags(text); len(bare) < len(text) {
		s.addDecoded(bare)
	}
	if marks >= fewestMarks {
		s.unpack(base64, text)
		s.unpack(hexadecimal, text)
		if line := joined(text); strings.Contains(line, "0x") || strings.Contains(line, "0X") {
			s.unpack(hexadecimal, without(line, "0x", "0X"))
		}
	}
}

// unpack adds what the digits of a text hold, whatever stands between them. Where they begin is not known: words
// before them may look like digits, so each way of cutting them into bytes is tried.
func (s *search) unpack(d *digits, text string) {
	values := d.of(text)
	for first := range min(d.cuts, len(values)) {
		s.addStretches(packed{d, values[first:]})
	}
}

// addStretches adds the parts of bytes that read as text and are long enough. What is cut at the wrong place hardly
// ever does, which keeps the search small; and it shows soonest from the end of where a text would be.
func (s *search) addStretches(p packed) {
	for from := 0; from+length <= p.len() && s.left >= length; {
		if last := p.lastBreak(from, from+length); last > from {
			from = last
			continue
		}
		text := p.text(from, length, s.left)
		s.addDecoded(text)
		from += len(text)
	}
}

// plain tells whether a secret stands in an ASCII text, whatever stands between its characters.
func plain(text string) bool {
	kept := make([]byte, 0, len(text))
	for i := range len(text) {
		if classes[text[i]]&own != 0 {
			kept = append(kept, text[i])
		}
	}
	return slices.ContainsFunc(prefixes, func(p string) bool { return begins(p, string(kept)) })
}

// begins tells whether a secret begins at one of the places where its prefix stands.
func begins(prefix, text string) bool {
	for i := strings.Index(text, prefix); i >= 0; i = strings.Index(text, prefix) {
		text = text[i:]
		// No other underscore is in a secret: this spares the checksum where prefixes stand close together.
		if len(text) >= length && strings.IndexByte(text[prefixLen:length], '_') < 0 && WellFormed(prefix, text[:length]) {
			return true
		}
		text = text[prefixLen:]
	}
	return false
}
