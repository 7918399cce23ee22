// Package stats stores hashtag statistics, shared by all teams: how many posts use a hashtag, how many are published
// per day, and which hashtags occur together. The data comes from searches, reports and collected posts. Hashtags that
// teams request are measured in the background, within the providers' quotas.
package stats

import (
	"time"

	"pressroom.example/pressroom/internal/domain/report/hashtaganalysis"
)

// Statistics are the statistics of a hashtag on a platform. Unknown values are nil, never 0.
type Statistics struct {
	Platform    string
	Hashtag     string                    // normalized by provider.ParseHashtag
	Posts       *hashtaganalysis.TagPosts // with a confidence interval if estimated
	PostsPerDay *float64
	Score       *float64  // 0–100
	MeasuredAt  time.Time // zero if never measured
}

// RelatedHashtag is a hashtag that occurs together with seed hashtags more often than chance explains.
type RelatedHashtag struct {
	Statistics

	Support int     // stored posts that use it together with a seed hashtag
	Share   float64 // share of the seed hashtags' stored posts that use it
	Lift    float64 // frequency in these posts, relative to other posts
}

// HashtagSummary is a hashtag with its statistics, in the form that the API returns.
type HashtagSummary struct {
	Hashtag     string                    `json:"hashtag" jsonschema:"Without #."`
	Posts       *hashtaganalysis.TagPosts `json:"posts,omitempty" jsonschema:"Number of posts that use it. Omitted if unknown."`
	PostsPerDay *float64                  `json:"posts_per_day,omitempty" jsonschema:"Posts published per day. Omitted until measured."`
	Tier        string                    `json:"tier,omitempty" enum:"nano|small|medium|large|huge" title:"HashtagTier"`
	Score       *float64                  `json:"score,omitempty" min:"0" max:"100"`
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (HashtagSummary) Descriptions() map[string]string {
	return map[string]string{"tier": "nano < 10k, small < 100k, medium < 500k, large < 1M posts."}
}

// Summarize converts statistics to the form that the API returns.
func Summarize(s Statistics) HashtagSummary {
	out := HashtagSummary{Hashtag: s.Hashtag, Posts: s.Posts, PostsPerDay: s.PostsPerDay, Score: s.Score}
	if s.Posts != nil {
		out.Tier = hashtaganalysis.Tier(s.Posts.Count)
	}
	return out
}
