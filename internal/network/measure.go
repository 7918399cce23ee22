package network

import "slices"

// Measure holds the number of units in a text, such as characters or hashtags, and the network's limit on them.
type Measure struct {
	Unit      string // name to display after the number
	Count     int
	Limit     int // 0 means no limit
	SoftLimit int // the network ignores units beyond this number; 0 means no limit
}

// ExceedsLimit reports whether Count exceeds Limit, so that the network would reject the post.
func (m Measure) ExceedsLimit() bool { return m.Limit > 0 && m.Count > m.Limit }

// Excess returns the number of units above Limit, or 0 if the limit is not exceeded.
func (m Measure) Excess() int {
	if !m.ExceedsLimit() {
		return 0
	}
	return m.Count - m.Limit
}

// NearLimit reports whether Count exceeds 90% of Limit, or exceeds SoftLimit.
func (m Measure) NearLimit() bool {
	return m.Limit > 0 && m.Count*10 > m.Limit*9 || m.SoftLimit > 0 && m.Count > m.SoftLimit
}

// RulesProvider is a network that returns its limits.
type RulesProvider interface{ Rules() Rules }

// Measure returns the count and the limit of everything that Check counts in the text.
func (r Rules) Measure(c Content) []Measure {
	out := []Measure{}
	if r.Text.Unit.Count != nil {
		out = append(out, Measure{Unit: r.Text.Unit.Name, Count: r.Text.Unit.Count(c.Text), Limit: r.maxLength(c)})
	}
	if r.Text.MaxBytes > 0 {
		out = append(out, Measure{Unit: "bytes", Count: len(c.Text), Limit: r.Text.MaxBytes})
	}
	links := Links(c.Text)
	slices.Sort(links)
	for _, row := range []struct {
		unit  string
		bound Count
		count int
	}{
		{"hashtags", r.Hashtags, len(Hashtags(c.Text))}, {"mentions", r.Mentions, len(Mentions(c.Text))},
		{"cashtags", r.Cashtags, len(Cashtags(c.Text))}, {"distinct links", r.Links, len(slices.Compact(links))},
	} {
		if row.count > 0 && row.bound != (Count{}) {
			out = append(out, Measure{row.unit, row.count, row.bound.Limit, row.bound.SoftLimit})
		}
	}
	return out
}

// FitsLength reports whether a text is short enough for a post without media.
func (r Rules) FitsLength(text string) bool {
	fits := func(count, limit int) bool { return limit == 0 || count <= limit }
	return (r.Text.Unit.Count == nil || fits(r.Text.Unit.Count(text), r.Text.MaxLength)) && fits(len(text), r.Text.MaxBytes)
}

// maxLength returns the maximum length of the text, in units. A maximum of 0 means no limit.
func (r Rules) maxLength(c Content) int {
	if r.Text.WithImages > 0 && slices.ContainsFunc(c.Media, isImage) {
		return r.Text.WithImages
	}
	return r.Text.MaxLength
}
