// Package result is what can be found in the public figures of a profile or a hashtag, in the form in which a report
// keeps and answers it. Most of it is the same of both kinds; what only one kind has is left out of the other. How it is
// found is the affair of the packages analysis and tag. Medians and scores, which both make alike, are made here;
// docs/scoring.md has their formulas.
package result

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Measured and Estimated are what a figure rests on: it was counted, or worked out from what was counted.
const (
	Measured  = "measured"
	Estimated = "estimated"
)

// Result is all that was found. Lists are never null; a figure that cannot be computed is left out. Figures that are no
// counts are rounded to four significant digits.
type Result struct {
	Engagement  Engagement `json:"engagement"`
	Score       *Score     `json:"score,omitempty"`
	TopHashtags []Hashtag  `json:"top_hashtags"`
	TopWords    []Word     `json:"top_words"`
	BestTime    *BestTime  `json:"best_time,omitempty"`
	Sections    Sections   `json:"sections"`
	Notes       []string   `json:"notes"`
}

// Engagement is how people react: to a profile's posts, or to what is newly posted under a hashtag (to what is shown there
// as best where the source shows nothing new). Rates are shares: 0.034 is 3.4 %.
type Engagement struct {
	Basis           string   `json:"basis" enum:"measured"`
	Of              string   `json:"of,omitempty" enum:"recent|top" jsonschema:"Of a hashtag: which posts the figures are of. Recent posts are hours old: they will have more."`
	PostsAnalysed   int      `json:"posts_analysed" jsonschema:"Posts that the figures are of. Of a profile: those that tell the figures of counts and are at least two days old."`
	Counts          []string `json:"counts,omitzero" enum:"likes|comments|shares" jsonschema:"Of a profile: the figures of a post that are added up as its engagement."`
	RateByFollowers *Median  `json:"rate_by_followers,omitempty" jsonschema:"Of a profile: a post's engagement for each follower that the profile has now, as a share."`
	RateByViews     *Median  `json:"rate_by_views,omitempty" jsonschema:"Of a profile: a post's engagement for each of its views, as a share."`
	Likes           *Median  `json:"likes,omitempty"`
	Comments        *Median  `json:"comments,omitempty"`
	Shares          *Median  `json:"shares,omitempty" jsonschema:"Of a profile whose network tells them."`
	Views           *Median  `json:"views,omitempty"`
	PostsPerWeek    *float64 `json:"posts_per_week,omitempty" jsonschema:"Of a profile."`
}

// Ratio is how many times as much or as often something is. Low to high is its 95 % confidence interval.
type Ratio struct {
	Value  float64  `json:"value" jsonschema:"1 is no difference."`
	Low    float64  `json:"low"`
	High   float64  `json:"high"`
	Shrunk *float64 `json:"shrunk,omitempty" jsonschema:"Of a profile: the ratio drawn towards 1, the more the fewer posts it rests on. What is ranked is ranked by it."`
}

// Round is the ratio as it is shown.
func (r Ratio) Round() Ratio {
	r.Value, r.Low, r.High = Round4(r.Value), Round4(r.Low), Round4(r.High)
	if r.Shrunk != nil {
		r.Shrunk = new(Round4(*r.Shrunk))
	}
	return r
}

// Estimate is a figure with its 95 % confidence interval, which is left out where nothing tells how sure it is.
type Estimate struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
}

// Hashtag is a hashtag that a profile uses, or one that stands beside the analysed one.
type Hashtag struct {
	Hashtag string   `json:"hashtag" jsonschema:"Without #."`
	Posts   int      `json:"posts" jsonschema:"Posts that carry it; of a hashtag's report those that carry both."`
	Ratio   *Ratio   `json:"ratio,omitempty" jsonschema:"Of a profile: engagement of posts with it against those without, all else that is known being equal; left out where too few posts are there to compare."`
	Works   *bool    `json:"works,omitempty" jsonschema:"Of a profile: whether it can be claimed that posts with the hashtag do better, allowing for how many hashtags were looked at."`
	Share   *float64 `json:"share,omitempty" jsonschema:"Of a hashtag: share of the analysed posts that carry it."`
	Lift    *Ratio   `json:"lift,omitempty" jsonschema:"Of a hashtag: how many times as often it stands here as elsewhere; left out where posts of elsewhere are not known."`
	InTop   *Ratio   `json:"in_top,omitempty" jsonschema:"Of a hashtag: how many times as often it stands under top posts as under recent ones; left out where too few of either carry it."`
	Related *bool    `json:"related,omitempty" jsonschema:"Of a hashtag: whether it can be claimed that it belongs to this hashtag and does not merely stand everywhere, allowing for how many were looked at."`
}

// Word is a word of the captions.
type Word struct {
	Word  string `json:"word"`
	Posts int    `json:"posts" jsonschema:"Posts whose caption has it."`
}

// BestTime is the block of hours that does best as far as the figures tell: a profile's posts of it do better than others,
// or more of a hashtag's top posts come from it than posts come in general.
type BestTime struct {
	Weekday   string  `json:"weekday" enum:"monday|tuesday|wednesday|thursday|friday|saturday|sunday" jsonschema:"The day that did best among the block's days. The claim is about the block, not about this day alone."`
	Hour      int     `json:"hour" min:"0" max:"23" jsonschema:"The first hour of the block, in the team's time zone."`
	Hours     int     `json:"hours" jsonschema:"How many hours the block has."`
	Days      string  `json:"days" enum:"weekdays|weekend" jsonschema:"The days of the block: monday to friday, or saturday and sunday."`
	Posts     int     `json:"posts" jsonschema:"Posts of the block; of a hashtag its top posts."`
	StandsOut bool    `json:"stands_out" jsonschema:"Whether the block does better by more than chance would make it, allowing for how many blocks were compared. If false, the time is a best guess."`
	Ratio     Ratio   `json:"ratio" jsonschema:"Of a profile: engagement of the block's posts against all others. Of a hashtag: the block's share of top posts against its share of all posts. Its low and high are of this block taken alone."`
	Low       float64 `json:"low" jsonschema:"Lower end of the 95 % confidence interval of ratio.value that allows for the block being chosen as the best of all. 0.02 to 50 says that nothing is known."`
	High      float64 `json:"high" jsonschema:"Upper end of that interval."`
}

// MaxRatio is how many times as much either way an interval reaches at most. One that reaches as far tells nothing.
const MaxRatio = 50.0

// ClampInterval is an interval of a ratio from its logarithms, rounded and cut at Widest either way.
func ClampInterval(low, high float64) (float64, float64) {
	return Round4(max(math.Exp(low), 1/MaxRatio)), Round4(min(math.Exp(high), MaxRatio))
}

// UnmarshalJSON reads a best time as a report keeps it. Reports of earlier releases named only times that stand out, with
// no interval besides that of the ratio.
func (b *BestTime) UnmarshalJSON(raw []byte) error {
	type plain BestTime
	kept := plain{StandsOut: true}
	if err := json.Unmarshal(raw, &kept); err != nil {
		return fmt.Errorf("reading a best time: %w", err)
	}
	if kept.High == 0 {
		kept.Low, kept.High = kept.Ratio.Low, kept.Ratio.High
	}
	*b = BestTime(kept)
	return nil
}

// Round4 rounds to four significant digits: more than any of these figures can claim.
func Round4(value float64) float64 { return RoundDigits(value, 4) }

// RoundDigits rounds to a count of significant digits.
func RoundDigits(value float64, count int) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(value, 'g', count, 64), 64)
	if err != nil {
		return value
	}
	return rounded
}
