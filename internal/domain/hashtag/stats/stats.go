// Package stats keeps what is known of hashtags, once for all teams: how many posts carry one, how many come a day,
// which stand beside it. Searches, reports and collected posts feed it; what somebody wants to know is measured in the
// background, within what the sources allow.
package stats

import (
	"time"

	"pressroom/internal/domain/report/hashtaganalysis"
)

// Figures is what is known of one hashtag on one platform. A figure that is not known is nil, never 0.
type Figures struct {
	Platform    string
	Hashtag     string                 // as source.Hashtag gives it
	Posts       *hashtaganalysis.Posts // with the interval where it is estimated
	PostsPerDay *float64
	Score       *float64  // 0–100
	MeasuredAt  time.Time // when a source told of it; zero until then
}

// Related is a hashtag that stands beside others.
type Related struct {
	Figures

	Support int     // remembered posts that carry it beside one of those asked for
	Share   float64 // of the remembered posts of those asked for
	Lift    float64 // how many times as often it stands there as elsewhere
}

// Shown is a hashtag with its figures as clients read it (contract, Records).
type Shown struct {
	Hashtag     string                 `json:"hashtag" jsonschema:"Without #."`
	Posts       *hashtaganalysis.Posts `json:"posts,omitempty" jsonschema:"How many posts carry it; left out until something is known."`
	PostsPerDay *float64               `json:"posts_per_day,omitempty" jsonschema:"Posts that come in a day; left out until it was measured."`
	Tier        string                 `json:"tier,omitempty" enum:"nano|small|medium|large|huge" jsonschema:"By posts: nano below 10,000, small below 100,000, medium below 500,000, large below 1,000,000, huge from there."`
	Score       *float64               `json:"score,omitempty" min:"0" max:"100"`
}

// Show is how clients read figures.
func Show(f Figures) Shown {
	out := Shown{Hashtag: f.Hashtag, Posts: f.Posts, PostsPerDay: f.PostsPerDay, Score: f.Score}
	if f.Posts != nil {
		out.Tier = hashtaganalysis.Tier(f.Posts.Count)
	}
	return out
}
