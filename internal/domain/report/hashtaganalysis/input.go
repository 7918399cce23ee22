// Package hashtaganalysis analyzes the public metrics of a hashtag. The result depends only on the input, not on the
// order of posts. docs/scoring.md documents the formulas and their sources.
package hashtaganalysis

import (
	"time"

	"pressroom.example/pressroom/internal/domain/provider"
)

// Input holds the metrics of a hashtag.
type Input struct {
	Metrics    provider.HashtagMetrics
	Earlier    []Sample       // earlier samples of the hashtag, in any order
	Zone       *time.Location // of the team; UTC if nil
	Background Background
}

// Sample summarizes a measurement for later analyses. It is small because it is stored with each measurement.
type Sample struct {
	At time.Time `json:"at"`
	// start of the counted window, which ends at At; zero if nothing was counted
	From  time.Time `json:"from,omitzero"`
	Cut   bool      `json:"cut,omitempty"`   // From is the time of a post, and that post is not counted
	Posts int       `json:"posts,omitempty"` // number of posts in the window
	Hours []int     `json:"hours,omitempty"` // posts by hour of the week in UTC from Sunday 0:00; 168 values
	Size  *int64    `json:"size,omitempty"`  // total posts, if measured
}

// Background counts hashtags in posts that were not found through the analyzed hashtag, such as posts of other reports.
// Without a Background, related hashtags cannot be distinguished from hashtags that are frequent everywhere.
type Background struct {
	Posts          int
	PostsByHashtag map[string]int // number of posts by hashtag
}
