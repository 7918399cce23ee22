package network

import "slices"

// Measure compares the amount of something in a text with the network's limit.
type Measure struct {
	Unit string // for people, after a number
	Have int
	Most int // maximum; 0 means no limit
	Warn int // more are accepted with a loss; 0 means no limit
}

// Over reports whether the network would refuse it.
func (m Measure) Over() bool { return m.Most > 0 && m.Have > m.Most }

// Excess returns how many there are too many.
func (m Measure) Excess() int {
	if !m.Over() {
		return 0
	}
	return m.Have - m.Most
}

// Near reports whether more than 90% of the limit is used, or more than the network makes use of.
func (m Measure) Near() bool {
	return m.Most > 0 && m.Have*10 > m.Most*9 || m.Warn > 0 && m.Have > m.Warn
}

// RulesProvider is a network that publishes its limits.
type RulesProvider interface{ Rules() Rules }

// Measure returns what Check counts in the text, with the limits.
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
