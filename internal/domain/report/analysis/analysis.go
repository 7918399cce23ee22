// Package analysis analyzes the public metrics of a profile. It computes engagement, the factors that are associated
// with higher engagement, and growth, with confidence intervals. The result depends only on the input, not on the order
// of posts. docs/scoring.md documents the formulas and their sources.
package analysis

import (
	"time"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/report/result"
)

// ProfileInput holds the metrics of a profile.
type ProfileInput struct {
	Account   provider.Account
	Posts     []provider.Post // in any order
	Snapshots []Snapshot      // in any order, including the current measurement
	Zone      *time.Location
	At        time.Time // of the measurement
}

// Snapshot is the size of a profile at a time. Unknown numbers are nil.
type Snapshot struct {
	At        time.Time
	Followers *int64
	Posts     *int64
}

// Analyze returns all results that the metrics allow. Negative numbers count as unknown, and duplicate posts count
// once.
func Analyze(in ProfileInput) result.Result {
	prof := prepare(in)
	engagement := engagement(prof)
	effects := estimate(prof)
	out := result.Result{
		Engagement: engagement,
		BestTime:   effects.bestTime(),
		Sections: result.Sections{
			Times: effects.timesSection(), Formats: formatsSection(prof, effects), Growth: growth(in.Snapshots, in.At),
			Cadence: cadence(prof), Hashtags: hashtagsSection(prof, effects), Words: result.NewWords(prof.words,
				len(prof.posts), maxSectionWords),
		},
		TopHashtags: []result.FindingHashtag{}, TopWords: []result.FindingWord{},
	}
	if out.Sections.Cadence != nil {
		out.Engagement.PostsPerWeek = &out.Sections.Cadence.PostsPerWeek
	}
	if section := out.Sections.Hashtags; section != nil {
		out.TopHashtags = section.Hashtags[:min(maxTopHashtags, len(section.Hashtags))]
	}
	if section := out.Sections.Words; section != nil {
		out.TopWords = section.Words[:min(maxTopWords, len(section.Words))]
	}
	out.Sections.Score = score(out, prof)
	out.Score = out.Sections.Score.Summary()
	out.Notes = notes(out, prof, effects)
	return out
}
