package hashtaganalysis

import "pressroom/internal/domain/report/result"

// Result is what the figures of a hashtag tell, as it is kept.
type Result struct {
	result.Result

	Hashtag Hashtag `json:"hashtag"`
}

// Measured and Estimated are what a figure rests on: it was counted, or worked out from what was counted.
const (
	Measured  = result.Measured
	Estimated = result.Estimated
)

// Hashtag is how large and how busy the hashtag is.
type Hashtag struct {
	Name        string `json:"name" jsonschema:"Without #."`
	Posts       *Posts `json:"posts,omitempty" jsonschema:"Left out where the network does not tell how many there are and too little is known to estimate it."`
	PostsPerDay *Rate  `json:"posts_per_day,omitempty"`
	Tier        string `json:"tier,omitempty" enum:"nano|small|medium|large|huge" jsonschema:"By posts: nano below 10,000, small below 100,000, medium below 500,000, large below 1,000,000, huge from there."`
}

// Posts is how many posts carry the hashtag. Low to high is the 95 % interval of an estimate.
type Posts struct {
	Count int64  `json:"count"`
	Low   *int64 `json:"low,omitempty" jsonschema:"Lower end of an estimate's 95 % interval; left out of a measured figure."`
	High  *int64 `json:"high,omitempty" jsonschema:"Upper end of an estimate's 95 % interval; left out of a measured figure."`
	Basis string `json:"basis" enum:"measured|estimated"`
}

// Rate is how many posts come in a day. Low to high is its 95 % confidence interval.
type Rate struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Basis string  `json:"basis" enum:"measured|estimated" jsonschema:"measured over a whole day or more, or estimated from a shorter time."`
}
