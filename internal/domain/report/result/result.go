// Package result defines the findings of profile and hashtag reports, which are stored and returned to API clients in
// the same form. Most fields are common to both kinds of reports. Fields of one kind are omitted from the other. This
// package computes medians and scores; packages analysis and hashtaganalysis compute the rest. docs/scoring.md has the
// formulas.
package result

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// The basis of a metric: counted, or derived from counts.
const (
	Measured  = "measured"
	Estimated = "estimated"
)

// Result holds all findings. Lists are never null, and metrics that cannot be computed are omitted. Metrics other than
// counts are rounded to four significant digits.
type Result struct {
	Engagement  FindingEngagement `json:"engagement"`
	Score       *FindingScore     `json:"score,omitempty"`
	TopHashtags []FindingHashtag  `json:"top_hashtags"`
	TopWords    []FindingWord     `json:"top_words"`
	BestTime    *FindingBestTime  `json:"best_time,omitempty"`
	Sections    Sections          `json:"sections"`
	Notes       []string          `json:"notes"`
}

// FindingEngagement summarizes reactions to a profile's posts, or to recent posts of a hashtag. If the provider has no
// recent posts, it summarizes reactions to top posts. Rates are shares: 0.034 is 3.4%.
type FindingEngagement struct {
	Basis           string         `json:"basis" enum:"measured" title:"EstimateBasis"`
	Of              string         `json:"of,omitempty" enum:"top|recent" title:"ReportPostList"`
	PostsAnalysed   int            `json:"posts_analysed" jsonschema:"Posts. Profile: two days old or more, with all metrics in counts."`
	Counts          []string       `json:"counts,omitzero" enum:"likes|comments|shares" title:"EngagementCount"`
	RateByFollowers *FindingMedian `json:"rate_by_followers,omitempty" jsonschema:"Profile: engagement per follower, as a share."`
	RateByViews     *FindingMedian `json:"rate_by_views,omitempty" jsonschema:"Profile: engagement per view, as a share."`
	Likes           *FindingMedian `json:"likes,omitempty"`
	Comments        *FindingMedian `json:"comments,omitempty"`
	Shares          *FindingMedian `json:"shares,omitempty" jsonschema:"Profile, if its network provides them."`
	Views           *FindingMedian `json:"views,omitempty"`
	PostsPerWeek    *float64       `json:"posts_per_week,omitempty" jsonschema:"Profile only."`
}

// Descriptions returns the descriptions that are too long for struct tags.
func (FindingEngagement) Descriptions() map[string]string {
	return map[string]string{
		"of":     "Hashtag: recent posts still gather reactions.",
		"counts": "Profile: parts of engagement.",
	}
}

// FindingRatio is a ratio with its 95% confidence interval.
type FindingRatio struct {
	Value  float64  `json:"value" jsonschema:"1 means no difference."`
	Low    float64  `json:"low"`
	High   float64  `json:"high"`
	Shrunk *float64 `json:"shrunk,omitempty" jsonschema:"Profile: shrinkage estimate, used for ranking."`
}

// Round returns the ratio with four significant digits.
func (r FindingRatio) Round() FindingRatio {
	r.Value, r.Low, r.High = Round4(r.Value), Round4(r.Low), Round4(r.High)
	if r.Shrunk != nil {
		r.Shrunk = new(Round4(*r.Shrunk))
	}
	return r
}

// FindingEstimate is an estimate with its 95% confidence interval, if known.
type FindingEstimate struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
}

// FindingHashtag is a hashtag that a profile uses, or that occurs together with the analyzed hashtag.
type FindingHashtag struct {
	Hashtag string        `json:"hashtag" jsonschema:"Without #."`
	Posts   int           `json:"posts" jsonschema:"Posts with it; in a hashtag report, with both."`
	Ratio   *FindingRatio `json:"ratio,omitempty" jsonschema:"Profile: engagement with it relative to without, all else being equal."`
	Works   *bool         `json:"works,omitempty" jsonschema:"Profile: whether it significantly raises engagement."`
	Share   *float64      `json:"share,omitempty" jsonschema:"Hashtag: share of analyzed posts with it."`
	Lift    *FindingRatio `json:"lift,omitempty" jsonschema:"Hashtag: frequency here relative to other posts."`
	InTop   *FindingRatio `json:"in_top,omitempty" jsonschema:"Hashtag: frequency in top posts relative to recent ones."`
	Related *bool         `json:"related,omitempty" jsonschema:"Hashtag: whether it is significantly more frequent here."`
}

// FindingWord is a word in captions.
type FindingWord struct {
	Word  string `json:"word"`
	Posts int    `json:"posts" jsonschema:"Posts with the word in the caption."`
}

// FindingBestTime is the block of hours with the best estimate. For a profile, posts in the block get the most
// engagement relative to other posts. For a hashtag, the block has the highest share of top posts relative to its share
// of all posts.
type FindingBestTime struct {
	Weekday   string       `json:"weekday" enum:"monday|tuesday|wednesday|thursday|friday|saturday|sunday" title:"Weekday"`
	Hour      int          `json:"hour" min:"0" max:"23" jsonschema:"First hour of the block in the team's time zone."`
	Hours     int          `json:"hours" jsonschema:"Length of the block in hours."`
	Days      string       `json:"days" enum:"weekdays|weekend" title:"DayGroup"`
	Posts     int          `json:"posts" jsonschema:"Posts in the block. Hashtag: top posts."`
	StandsOut bool         `json:"stands_out" jsonschema:"Whether the block is significantly better than others."`
	Ratio     FindingRatio `json:"ratio" jsonschema:"Profile: relative engagement. Hashtag: share of top posts over that of all."`
	Low       float64      `json:"low" jsonschema:"Lower end, corrected for selecting the best. 0.02 to 50: unknown."`
	High      float64      `json:"high" jsonschema:"Upper end of that interval."`
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (FindingBestTime) Descriptions() map[string]string {
	return map[string]string{
		"weekday": "Best day of the block.",
		"days":    "weekdays: Monday to Friday. weekend: Saturday and Sunday.",
	}
}

// MaxRatio limits the interval of a ratio to the range from 1/MaxRatio to MaxRatio. An interval that reaches both
// limits carries no information.
const MaxRatio = 50.0

// ClampInterval converts the ends of an interval from logarithms to ratios, clamps them by MaxRatio, and rounds them.
func ClampInterval(low, high float64) (float64, float64) {
	return Round4(max(math.Exp(low), 1/MaxRatio)), Round4(min(math.Exp(high), MaxRatio))
}

// UnmarshalJSON decodes a stored best time. Earlier releases stored only significant best times, without a corrected
// interval.
func (b *FindingBestTime) UnmarshalJSON(raw []byte) error {
	type plain FindingBestTime
	stored := plain{StandsOut: true}
	if err := json.Unmarshal(raw, &stored); err != nil {
		return fmt.Errorf("reading a best time: %w", err)
	}
	if stored.High == 0 {
		stored.Low, stored.High = stored.Ratio.Low, stored.Ratio.High
	}
	*b = FindingBestTime(stored)
	return nil
}

// Round4 rounds to four significant digits, which is more than the precision of any finding.
func Round4(value float64) float64 { return RoundDigits(value, 4) }

// RoundDigits rounds to a number of significant digits.
func RoundDigits(value float64, count int) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(value, 'g', count, 64), 64)
	if err != nil {
		return value
	}
	return rounded
}
