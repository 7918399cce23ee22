package analysis

import (
	"slices"

	"pressroom.example/pressroom/internal/domain/report/result"
)

// formatsSection returns the engagement by format, most used first. It ignores unknown formats and returns nil if there
// are no others.
func formatsSection(prof *profile, e *effects) *result.FindingFormats {
	engagement := map[string][]float64{}
	count := 0
	for _, p := range prof.posts {
		if p.isCounted && p.format != "" {
			engagement[p.format] = append(engagement[p.format], p.engagement)
			count++
		}
	}
	if count == 0 {
		return nil
	}
	out := &result.FindingFormats{Posts: count, Formats: []result.FindingFormat{}}
	for name, values := range engagement {
		format := result.FindingFormat{Format: name, Posts: len(values), Engagement: result.NewMedian(values)}
		if i := slices.IndexFunc(e.formats, func(l level) bool { return l.name == name }); i >= 0 {
			format.Ratio = e.formats[i].ratio
		}
		out.Formats = append(out.Formats, format)
	}
	slices.SortFunc(out.Formats, func(a, b result.FindingFormat) int {
		return result.CompareUse(a.Posts, b.Posts, a.Format,
			b.Format)
	})
	return out
}
