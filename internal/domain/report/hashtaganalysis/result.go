package hashtaganalysis

import "pressroom.example/pressroom/internal/domain/report/result"

// Result is the stored analysis of a hashtag.
type Result struct {
	result.Result

	Hashtag TagHashtag `json:"hashtag"`
}

// The basis of a metric: counted, or derived from counts.
const (
	Measured  = result.Measured
	Estimated = result.Estimated
)

// TagHashtag is the size and activity of a hashtag.
type TagHashtag struct {
	Name        string    `json:"name" jsonschema:"Without #."`
	Posts       *TagPosts `json:"posts,omitempty" jsonschema:"Omitted if unknown and there is too little data for an estimate."`
	PostsPerDay *TagRate  `json:"posts_per_day,omitempty"`
	Tier        string    `json:"tier,omitempty" enum:"nano|small|medium|large|huge" title:"HashtagTier"`
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (TagHashtag) Descriptions() map[string]string {
	return map[string]string{"tier": "nano < 10k, small < 100k, medium < 500k, large < 1M posts."}
}

// TagPosts is the number of posts with a hashtag. An estimate has a 95% interval.
type TagPosts struct {
	Count int64  `json:"count"`
	Low   *int64 `json:"low,omitempty" jsonschema:"Lower end of the 95% interval. Omitted if measured."`
	High  *int64 `json:"high,omitempty" jsonschema:"Upper end of the 95% interval. Omitted if measured."`
	Basis string `json:"basis" enum:"measured|estimated" title:"EstimateBasis"`
}

// TagRate is the number of posts per day with its 95% confidence interval.
type TagRate struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Basis string  `json:"basis" enum:"measured|estimated" title:"EstimateBasis"`
}

// Descriptions returns the descriptions that are too long for struct tags.
func (TagRate) Descriptions() map[string]string {
	return map[string]string{"basis": "measured: over a day or more. estimated: from a shorter time."}
}
