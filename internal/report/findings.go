package report

import (
	"context"
	"slices"

	"pressroom/internal/report/analysis"
	"pressroom/internal/report/tag"
)

// findings are what a report found, as it is shown.
type findings struct {
	account                                                     account
	hashtag, engagement, score, topHashtags, topWords, bestTime any
	sections                                                    []section
}

// found reads what a report found, with its notes.
func (s *Service) found(ctx context.Context, r record) (findings, []string, error) {
	if r.kind == Hashtag {
		return s.foundOfHashtag(ctx, r)
	}
	var out findings
	var p analysis.Profile
	var notes []string
	if err := s.stored(ctx, r, &out.account, &p, &notes); err != nil {
		return out, nil, err
	}
	out.engagement, out.topHashtags, out.topWords = p.Engagement, p.TopHashtags, p.TopWords
	if p.Score != nil {
		out.score = p.Score
	}
	if p.BestTime != nil {
		out.bestTime = p.BestTime
	}
	out.sections = sectionsOfProfile(p.Sections)
	return out, notes, nil
}

// sectionsOfProfile are the sections of a profile's report that have something to tell.
func sectionsOfProfile(s analysis.Sections) []section {
	out := []section{{name: postsSection}}
	if h := s.Hashtags; h != nil {
		out = append(out, section{name: "hashtags", count: len(h.Hashtags), cut: func(from, to int) any {
			part := *h
			part.Hashtags = h.Hashtags[from:to]
			return part
		}})
	}
	if w := s.Words; w != nil {
		out = append(out, section{name: "words", count: len(w.Words), cut: func(from, to int) any {
			part := *w
			part.Words = w.Words[from:to]
			return part
		}})
	}
	return slices.Concat(out, whole("times", s.Times), whole("formats", s.Formats), whole("growth", s.Growth), whole("cadence", s.Cadence), whole("score", s.Score))
}

// foundOfHashtag reads what a hashtag's report found, with its notes.
func (s *Service) foundOfHashtag(ctx context.Context, r record) (findings, []string, error) {
	var out findings
	var t tag.Result
	var notes []string
	if err := s.stored(ctx, r, &out.account, &t, &notes); err != nil {
		return out, nil, err
	}
	out.hashtag, out.engagement, out.topHashtags, out.topWords = t.Hashtag, t.Engagement, t.TopHashtags, t.TopWords
	if t.Score != nil {
		out.score = t.Score
	}
	if t.BestTime != nil {
		out.bestTime = t.BestTime
	}
	out.sections = sectionsOfHashtag(t.Sections)
	return out, notes, nil
}

// sectionsOfHashtag are the sections of a hashtag's report that have something to tell.
func sectionsOfHashtag(s tag.Sections) []section {
	out := []section{{name: postsSection}}
	if h := s.Hashtags; h != nil {
		out = append(out, section{name: "hashtags", count: len(h.Hashtags), cut: func(from, to int) any {
			part := *h
			part.Hashtags = h.Hashtags[from:to]
			return part
		}})
	}
	if w := s.Words; w != nil {
		out = append(out, section{name: "words", count: len(w.Words), cut: func(from, to int) any {
			part := *w
			part.Words = w.Words[from:to]
			return part
		}})
	}
	return slices.Concat(out, whole("audience", s.Audience), whole("formats", s.Formats), whole("growth", s.Growth), whole("score", s.Score))
}

// whole is a section that comes in one piece, where it has something to tell.
func whole[T any](name string, value *T) []section {
	if value == nil {
		return nil
	}
	return []section{{name: name, value: value}}
}
