package tag

// Result is what the figures of a hashtag tell, as it is kept and answered. Lists are never null; a figure that cannot
// be computed is left out. Figures that are no counts are rounded to four significant digits.
type Result struct {
	Hashtag     Hashtag    `json:"hashtag"`
	Engagement  Engagement `json:"engagement"`
	Score       *Score     `json:"score,omitempty" jsonschema:"Left out where no component can be computed."`
	TopHashtags []Beside   `json:"top_hashtags" jsonschema:"Hashtags that stand beside this one: those whose relation can be claimed come first, then those that stand there most."`
	TopWords    []Word     `json:"top_words"`
	BestTime    *BestTime  `json:"best_time,omitempty" jsonschema:"Left out where no time stands out clearly; the notes say so."`
	Sections    Sections   `json:"sections"`
	Notes       []string   `json:"notes"`
}

// Measured and Estimated are what a figure rests on: it was counted, or worked out from what was counted.
const (
	Measured  = "measured"
	Estimated = "estimated"
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

// Engagement is how people react to what is newly posted under the hashtag; where the source shows nothing new, to
// what it shows as best.
type Engagement struct {
	Basis         string     `json:"basis" enum:"measured"`
	Of            string     `json:"of,omitempty" enum:"recent|top" jsonschema:"Which posts the figures are of. Recent posts are hours old: they will have more."`
	PostsAnalysed int        `json:"posts_analysed" jsonschema:"Posts that the figures are of."`
	Likes         *Quartiles `json:"likes,omitempty"`
	Comments      *Quartiles `json:"comments,omitempty"`
	Views         *Quartiles `json:"views,omitempty"`
}

// Quartiles is the middle of the posts' figures, with two ranges that say different things: low to high is where the
// median itself lies with 95 % confidence, lower_quartile to upper_quartile is where half of the posts lie.
type Quartiles struct {
	Median        float64  `json:"median"`
	Low           *float64 `json:"low,omitempty" jsonschema:"Lower end of the median's 95 % confidence interval; left out below six posts."`
	High          *float64 `json:"high,omitempty" jsonschema:"Upper end of the median's 95 % confidence interval; left out below six posts."`
	LowerQuartile float64  `json:"lower_quartile" jsonschema:"A quarter of the posts lies below."`
	UpperQuartile float64  `json:"upper_quartile" jsonschema:"A quarter of the posts lies above."`
	Posts         int      `json:"posts" jsonschema:"Posts that tell the figure."`
}

// Score sums up in a figure from 0 to 100 what the hashtag offers somebody who posts under it: the weighted mean of its
// components.
type Score struct {
	Value      float64     `json:"value" min:"0" max:"100"`
	Components []Component `json:"components"`
}

// Component is a part of the score. Weights of the components that could be computed sum to 1.
type Component struct {
	Name   string  `json:"name" enum:"activity|reactions|competition"`
	Value  float64 `json:"value" min:"0" max:"100"`
	Weight float64 `json:"weight" min:"0" max:"1"`
}

// Ratio is how many times as often something is. Low to high is its 95 % confidence interval.
type Ratio struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Beside is a hashtag that stands beside the analysed one.
type Beside struct {
	Hashtag string  `json:"hashtag" jsonschema:"Without #."`
	Posts   int     `json:"posts" jsonschema:"Posts that carry both: the support."`
	Share   float64 `json:"share" jsonschema:"Share of the analysed posts that carry it."`
	Lift    *Ratio  `json:"lift,omitempty" jsonschema:"How many times as often it stands here as elsewhere; left out where posts of elsewhere are not known."`
	InTop   *Ratio  `json:"in_top,omitempty" jsonschema:"How many times as often it stands under top posts as under recent ones; left out where too few of either carry it."`
	Related bool    `json:"related" jsonschema:"Whether it can be claimed that it belongs to this hashtag and does not merely stand everywhere, allowing for how many were looked at."`
}

// Word is a word of the captions.
type Word struct {
	Word  string `json:"word"`
	Posts int    `json:"posts" jsonschema:"Posts whose caption has it."`
}

// BestTime is the block of hours from which more of the top posts come than posts come in general.
type BestTime struct {
	Weekday string `json:"weekday" enum:"monday|tuesday|wednesday|thursday|friday|saturday|sunday" jsonschema:"The day with most top posts among the block's days. The claim is about the block, not about this day alone."`
	Hour    int    `json:"hour" min:"0" max:"23" jsonschema:"The first hour of the block, in the team's time zone."`
	Hours   int    `json:"hours" jsonschema:"How many hours the block has."`
	Days    string `json:"days" enum:"weekdays|weekend" jsonschema:"The days of the block: monday to friday, or saturday and sunday."`
	Posts   int    `json:"posts" jsonschema:"Top posts of the block."`
	Ratio   Ratio  `json:"ratio" jsonschema:"The block's share of top posts against its share of all posts."`
}

// Sections are the parts of an analysis that are asked for by name. One with nothing to tell is left out.
type Sections struct {
	Audience *Audience     `json:"audience,omitempty"`
	Formats  *Formats      `json:"formats,omitempty"`
	Growth   *Growth       `json:"growth,omitempty"`
	Hashtags *Hashtags     `json:"hashtags,omitempty"`
	Words    *Words        `json:"words,omitempty"`
	Score    *ScoreSection `json:"score,omitempty"`
}

// Audience is what reactions posts under the hashtag meet: those that the network shows as best, and those just posted.
type Audience struct {
	Top    *Reactions `json:"top,omitempty"`
	Recent *Reactions `json:"recent,omitempty"`
}

// Reactions are how people react to some posts.
type Reactions struct {
	Posts     int        `json:"posts"`
	MedianAge *float64   `json:"median_age_days,omitempty" jsonschema:"Half of the posts are older, in days."`
	Likes     *Quartiles `json:"likes,omitempty"`
	Comments  *Quartiles `json:"comments,omitempty"`
	Views     *Quartiles `json:"views,omitempty"`
}

// Formats is which kinds of posts stand under the hashtag.
type Formats struct {
	Posts   int      `json:"posts" jsonschema:"Posts whose format is known."`
	Formats []Format `json:"formats" jsonschema:"The most frequent first."`
}

// Format is one kind of post. Both shares are of the posts whose format is known.
type Format struct {
	Format      string   `json:"format" enum:"image|video|reel|carousel"`
	Posts       int      `json:"posts"`
	TopShare    *float64 `json:"top_share,omitempty" jsonschema:"Its share of the top posts."`
	RecentShare *float64 `json:"recent_share,omitempty" jsonschema:"Its share of the recent posts."`
}

// Growth is how many posts come a day now against earlier measurements, each of which covers at least a day.
type Growth struct {
	Measurements int     `json:"measurements" jsonschema:"Earlier measurements that it was compared with."`
	Days         float64 `json:"days" jsonschema:"Days between the middle of the earlier measurements and that of this one."`
	PostsPerDay  Ratio   `json:"posts_per_day" jsonschema:"The rate now, as a multiple of the earlier rate."`
}

// Hashtags is which hashtags stand beside the analysed one.
type Hashtags struct {
	Posts     int      `json:"posts" jsonschema:"Posts that were looked at."`
	Different int      `json:"different" jsonschema:"Different hashtags in them."`
	Hashtags  []Beside `json:"hashtags"`
}

// Words is which words the captions have.
type Words struct {
	Posts     int    `json:"posts" jsonschema:"Posts that were looked at."`
	Different int    `json:"different" jsonschema:"Different words in them."`
	Words     []Word `json:"words"`
}

// ScoreSection is how the score came about.
type ScoreSection struct {
	Value      float64          `json:"value"`
	Components []ComponentCause `json:"components"`
	Missing    []string         `json:"missing" jsonschema:"Components that could not be computed. Their weight went to the others."`
}

// ComponentCause is a component with the figure that it was read from and its logarithmic scale: a figure at worst is
// worth 0, one at best 100.
type ComponentCause struct {
	Component

	Figure     string  `json:"figure" enum:"posts_per_day|median_likes|top_likes_by_recent_likes"`
	Measured   float64 `json:"measured"`
	Worst      float64 `json:"worst"`
	Best       float64 `json:"best"`
	FullWeight float64 `json:"full_weight" jsonschema:"Its weight where all components can be computed."`
}
