// Package analysis says what the public figures of a profile mean: how people react, what goes with more reactions,
// how the profile grows, and how sure all of that is. It is pure: equal figures give equal answers, in whatever order
// the posts come. The formulas, their reasons and their sources are in docs/scoring.md.
package analysis

import (
	"time"

	"pressroom/internal/domain/provider"
	"pressroom/internal/domain/report/result"
)

// ProfileInput is what is known of a profile.
type ProfileInput struct {
	Account   provider.Account
	Posts     []provider.Post // in any order
	Snapshots []Snapshot      // in any order, the present measurement among them
	Zone      *time.Location
	At        time.Time // of the measurement
}

// Snapshot is the size of a profile at a time. A figure that was not told is nil.
type Snapshot struct {
	At        time.Time
	Followers *int64
	Posts     *int64
}

// Analyze works out everything that can be told about a profile. It asks for no care in what it is given: figures
// below zero count as not told, and a post told twice counts once.
func Analyze(in ProfileInput) result.Result {
	all := prepare(in)
	engagement := engagement(all)
	effects := estimate(all)
	out := result.Result{
		Engagement: engagement,
		BestTime:   effects.bestTime(),
		Sections: result.Sections{
			Times: effects.timesSection(), Formats: formatsSection(all, effects), Growth: growth(in.Snapshots, in.At),
			Cadence: cadence(all), Hashtags: hashtagsSection(all, effects), Words: result.NewWords(all.words, len(all.posts), maxSectionWords),
		},
		TopHashtags: []result.Hashtag{}, TopWords: []result.Word{},
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
	out.Sections.Score = score(out, all)
	out.Score = out.Sections.Score.Short()
	out.Notes = notes(out, all, effects)
	return out
}
