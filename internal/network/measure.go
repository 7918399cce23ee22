package network

import "slices"

// Measure is how much of something a text has, beside what a network takes of it.
type Measure struct {
	Unit string // for people, after a number
	Have int
	Most int // more are refused; no bound where 0
	Warn int // more are taken, with a loss; no bound where 0
}

// Over tells whether the network would refuse it.
func (m Measure) Over() bool { return m.Most > 0 && m.Have > m.Most }

// Excess is how many there are too many.
func (m Measure) Excess() int {
	if !m.Over() {
		return 0
	}
	return m.Have - m.Most
}

// Near tells whether it comes close to what is refused, or is more than what is of use.
func (m Measure) Near() bool {
	return m.Most > 0 && m.Have*10 > m.Most*9 || m.Warn > 0 && m.Have > m.Warn
}

// Ruled is a network that tells what it takes.
type Ruled interface{ Takes() Rules }

// Measure counts a text as the network does, by the rules that Check judges by.
func (r Rules) Measure(c Content) []Measure {
	out := []Measure{}
	if r.Text.Unit.Count != nil {
		out = append(out, Measure{Unit: r.Text.Unit.Name, Have: r.Text.Unit.Count(c.Text), Most: r.longest(c)})
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
		{"cashtags", r.Cashtags, len(Cashtags(c.Text))}, {"different links", r.Links, len(slices.Compact(links))},
	} {
		if counted.have > 0 && counted.bound != (Count{}) {
			out = append(out, Measure{counted.unit, counted.have, counted.bound.Most, counted.bound.Warn})
		}
	}
	return out
}

// longest is how long a text may be, in units; no bound where 0.
func (r Rules) longest(c Content) int {
	if r.Text.WithImages > 0 && slices.ContainsFunc(c.Media, isImage) {
		return r.Text.WithImages
	}
	return r.Text.Longest
}
