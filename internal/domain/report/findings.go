package report

import (
	"context"
	"slices"

	"pressroom.example/pressroom/internal/domain/report/hashtaganalysis"
	"pressroom.example/pressroom/internal/domain/report/result"
)

// findings is the stored analysis of a report.
type findings struct {
	result.Result

	Hashtag *hashtaganalysis.TagHashtag `json:"hashtag"` // nil for a profile
	account account
}

// readFindings returns a report's findings and notes.
func (s *Service) readFindings(ctx context.Context, r record) (findings, []string, error) {
	var out findings
	var notes []string
	err := s.readStored(ctx, r, &out.account, &out, &notes)
	return out, notes, err
}

// ReportSections are the parts of a report that are requested by name. Sections without enough data are missing.
type ReportSections struct {
	result.Sections

	Posts *ReportPosts `json:"posts,omitempty" jsonschema:"The posts that the report is based on, newest first."`
}

// section is a part of a report that is requested by name.
type section struct {
	name  string
	count int                                      // number of items, if the section is paged
	write func(into *ReportSections, from, to int) // writes the section, or its items in [from, to); nil for posts
}

// sections returns the available sections.
func (f findings) sections() []section {
	s := f.Sections
	out := []section{{name: postsSection}}
	if h := s.Hashtags; h != nil {
		out = append(out, section{name: "hashtags", count: len(h.Hashtags),
			write: func(target *ReportSections, from, to int) {
				part := *h
				part.Hashtags = h.Hashtags[from:to]
				target.Hashtags = &part
			}})
	}
	if w := s.Words; w != nil {
		out = append(out, section{name: "words", count: len(w.Words), write: func(target *ReportSections, from, to int) {
			part := *w
			part.Words = w.Words[from:to]
			target.Words = &part
		}})
	}
	return slices.Concat(out,
		newSection("audience", s.Audience, func(target *ReportSections) { target.Audience = s.Audience }),
		newSection("times", s.Times, func(target *ReportSections) { target.Times = s.Times }),
		newSection("formats", s.Formats, func(target *ReportSections) { target.Formats = s.Formats }),
		newSection("growth", s.Growth, func(target *ReportSections) { target.Growth = s.Growth }),
		newSection("cadence", s.Cadence, func(target *ReportSections) { target.Cadence = s.Cadence }),
		newSection("score", s.Score, func(target *ReportSections) { target.Score = s.Score }),
	)
}

// newSection returns a section that is not paged, or nothing if value is nil.
func newSection[T any](name string, value *T, set func(*ReportSections)) []section {
	if value == nil {
		return nil
	}
	return []section{{name: name, write: func(target *ReportSections, _, _ int) { set(target) }}}
}
