package network

import "slices"

// Measure is a count of something in a text, such as characters or hashtags, with the network's limit.
type Measure struct {
	Unit string // for people, after a number
	Have int
	Most int // maximum; 0 means no limit
	Warn int // the network ignores more than this; 0 means no limit
}

// Over reports whether Have exceeds Most, so that the network would refuse the post.
func (m Measure) Over() bool { return m.Most > 0 && m.Have > m.Most }

// Excess returns by how much Have exceeds Most, or 0.
func (m Measure) Excess() int {
	if !m.Over() {
		return 0
	}
	return m.Have - m.Most
}

// Near reports whether Have exceeds 90% of Most, or exceeds Warn.
func (m Measure) Near() bool {
	return m.Most > 0 && m.Have*10 > m.Most*9 || m.Warn > 0 && m.Have > m.Warn
}

// RulesProvider is a network that returns its limits.
type RulesProvider interface{ Rules() Rules }

// Measure returns everything that Check counts in the text, with its limits.
func (r Rules) Measure(c Content) []Measure {
	out := []Measure{}
	if r.Text.Unit.Count != nil {
		out = append(out, Measure{Unit: r.Text.Unit.Name, Have: r.Text.Unit.Count(c.Text), Most: r.maxLength(c)})
	}
	if r.Text.MaxBytes > 0 {
		out = append(out, Measure{Unit: "bytes", Have: len(c.Text), Most: r.Text.MaxBytes})
	}
	links := Links(c.Text)
	slices.Sort(links)
	for _, counted := range []struct {
		unit  string
		bound Count
		have  int
	}{
		{"hashtags", r.Hashtags, len(Hashtags(c.Text))}, {"mentions", r.Mentions, len(Mentions(c.Text))},
		{"cashtags", r.Cashtags, len(Cashtags(c.Text))}, {"distinct links", r.Links, len(slices.Compact(links))},
	} {
		if counted.have > 0 && counted.bound != (Count{}) {
			out = append(out, Measure{counted.unit, counted.have, counted.bound.Most, counted.bound.Warn})
		}
	}
	return out
}

// maxLength returns the maximum length of the text, in units; 0 means no limit.
func (r Rules) maxLength(c Content) int {
	if r.Text.WithImages > 0 && slices.ContainsFunc(c.Media, isImage) {
		return r.Text.WithImages
	}
	return r.Text.Longest
}
