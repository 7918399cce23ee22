// Package hashtaganalysis works out what the public figures of a hashtag tell. It asks nobody and looks at no clock: the same
// figures, in whatever order, give the same result. docs/scoring.md has each formula with its reason.
package hashtaganalysis

import (
	"time"

	"pressroom/internal/domain/provider"
)

// Input is what is known of a hashtag.
type Input struct {
	Figures    provider.HashtagFigures
	Earlier    []Sample       // of the same hashtag, in any order
	Zone       *time.Location // of the team; UTC where nil
	Background Background
}

// Sample is what a measurement leaves for later ones. It is small: it is stored as JSON with each measurement.
type Sample struct {
	At    time.Time `json:"at"`
	From  time.Time `json:"from,omitzero"`   // what the count covers, until At; zero where nothing was counted
	Cut   bool      `json:"cut,omitempty"`   // From is when a post came, which is not counted
	Posts int       `json:"posts,omitempty"` // that came in between
	Hours []int     `json:"hours,omitempty"` // those posts by hour of the week in UTC, from Sunday 0 h; 168 of them
	Size  *int64    `json:"size,omitempty"`  // posts in all, where it was measured
}

// Background is how often hashtags stand under posts that were not found by this one, as those of other hashtags'
// reports. Without it nothing can be claimed about which hashtags belong together: the frequent ones stand everywhere.
type Background struct {
	Posts int
	With  map[string]int // of those, the posts that carry a hashtag
}
