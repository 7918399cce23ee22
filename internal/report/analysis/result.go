package analysis

// Profile is what the figures of a profile tell, as it is kept and answered. Lists are never null; a figure that
// cannot be computed is left out. Ratios, rates and medians are rounded to four significant digits.
type Profile struct {
	Engagement  Engagement `json:"engagement"`
	Score       *Score     `json:"score,omitempty" jsonschema:"Left out where no component can be computed."`
	TopHashtags []Hashtag  `json:"top_hashtags" jsonschema:"The hashtags that most likely help come first, those used most where nothing can be told."`
	TopWords    []Word     `json:"top_words"`
	BestTime    *BestTime  `json:"best_time,omitempty" jsonschema:"Left out where no time stands out clearly; the notes say so."`
	Sections    Sections   `json:"sections"`
	Notes       []string   `json:"notes"`
}

// Engagement is how people react to the profile's posts. Rates are shares: 0.034 is 3.4 %.
type Engagement struct {
	Basis           string   `json:"basis" enum:"measured"`
	PostsAnalysed   int      `json:"posts_analysed" jsonschema:"Posts whose reactions were counted: those that tell the figures of counts and are at least two days old."`
	Counts          []string `json:"counts" jsonschema:"The figures of a post that are added up as its engagement: likes, comments, shares."`
	RateByFollowers *Median  `json:"rate_by_followers,omitempty" jsonschema:"A post's engagement for each follower that the profile has now, as a share."`
	RateByViews     *Median  `json:"rate_by_views,omitempty" jsonschema:"A post's engagement for each of its views, as a share."`
	Likes           *Median  `json:"likes,omitempty"`
	Comments        *Median  `json:"comments,omitempty"`
	Views           *Median  `json:"views,omitempty"`
	PostsPerWeek    *float64 `json:"posts_per_week,omitempty"`
}

// Median is the middle of the posts' values, with two ranges that say different things: low to high is where the
// median itself lies with 95 % confidence, lower_quartile to upper_quartile is where half of the posts lie.
type Median struct {
	Median        float64  `json:"median"`
	Low           *float64 `json:"low,omitempty" jsonschema:"Lower end of the median's 95 % confidence interval; left out below six posts."`
	High          *float64 `json:"high,omitempty" jsonschema:"Upper end of the median's 95 % confidence interval; left out below six posts."`
	LowerQuartile float64  `json:"lower_quartile" jsonschema:"A quarter of the posts lies below."`
	UpperQuartile float64  `json:"upper_quartile" jsonschema:"A quarter of the posts lies above."`
	Posts         int      `json:"posts" jsonschema:"Posts that the median rests on."`
}

// Score sums the profile up in a figure from 0 to 100, the weighted mean of its components.
type Score struct {
	Value      float64     `json:"value" min:"0" max:"100"`
	Components []Component `json:"components"`
}

// Component is a part of the score. Weights of the components that could be computed sum to 1.
type Component struct {
	Name   string  `json:"name" enum:"engagement|reach|growth|activity|consistency"`
	Value  float64 `json:"value" min:"0" max:"100"`
	Weight float64 `json:"weight" min:"0" max:"1"`
}

// Ratio is how many times the engagement of other posts something brings, all else that is known being equal: 1 is
// no difference. Low to high is its 95 % confidence interval.
type Ratio struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	// Shrunk is Value drawn towards 1, the more the fewer posts speak for it, so that three lucky posts do not win.
	Shrunk float64 `json:"shrunk" jsonschema:"The ratio drawn towards 1, the more the fewer posts it rests on. What is ranked is ranked by it."`
}

// Hashtag is a hashtag that the profile uses.
type Hashtag struct {
	Hashtag string `json:"hashtag" jsonschema:"Without #."`
	Posts   int    `json:"posts" jsonschema:"Posts that carry it."`
	Ratio   *Ratio `json:"ratio,omitempty" jsonschema:"Engagement of posts with it against those without; left out where too few posts are there to compare."`
	Works   bool   `json:"works" jsonschema:"Whether it can be claimed that posts with the hashtag do better, allowing for how many hashtags were looked at."`
}

// Word is a word of the captions.
type Word struct {
	Word  string `json:"word"`
	Posts int    `json:"posts" jsonschema:"Posts whose caption has it."`
}

// BestTime is the block of hours whose posts do better than others, where that can be claimed.
type BestTime struct {
	Weekday string `json:"weekday" enum:"monday|tuesday|wednesday|thursday|friday|saturday|sunday" jsonschema:"The day that did best among the block's days. The claim is about the block, not about this day alone."`
	Hour    int    `json:"hour" min:"0" max:"23" jsonschema:"The first hour of the block, in the team's time zone."`
	Hours   int    `json:"hours" jsonschema:"How many hours the block has."`
	Days    string `json:"days" enum:"weekdays|weekend" jsonschema:"The days of the block: monday to friday, or saturday and sunday."`
	Posts   int    `json:"posts" jsonschema:"Posts of the block."`
	Ratio   Ratio  `json:"ratio"`
}

// Sections are the parts of an analysis that are asked for by name. One with nothing to tell is left out.
type Sections struct {
	Times    *Times        `json:"times,omitempty"`
	Formats  *Formats      `json:"formats,omitempty"`
	Growth   *Growth       `json:"growth,omitempty"`
	Cadence  *Cadence      `json:"cadence,omitempty"`
	Hashtags *Hashtags     `json:"hashtags,omitempty"`
	Words    *Words        `json:"words,omitempty"`
	Score    *ScoreSection `json:"score,omitempty"`
}

// Times is how engagement depends on when a post goes out, in the team's time zone.
type Times struct {
	Posts  int     `json:"posts" jsonschema:"Posts that were compared."`
	Blocks []Block `json:"blocks" jsonschema:"Twelve blocks: six of four hours, on weekdays and on the weekend."`
}

// Block is four hours of the weekdays or of the weekend.
type Block struct {
	Days  string `json:"days" enum:"weekdays|weekend"`
	Hour  int    `json:"hour" jsonschema:"The first of its hours."`
	Hours int    `json:"hours"`
	Posts int    `json:"posts"`
	Ratio *Ratio `json:"ratio,omitempty" jsonschema:"Engagement of the block's posts against all others; left out below three posts."`
}

// Formats is how engagement depends on the format of a post.
type Formats struct {
	Posts   int      `json:"posts" jsonschema:"Posts that were compared."`
	Formats []Format `json:"formats" jsonschema:"The most used first."`
}

// Format is one kind of post.
type Format struct {
	Format     string  `json:"format" enum:"image|video|reel|carousel"`
	Posts      int     `json:"posts"`
	Engagement *Median `json:"engagement,omitempty" jsonschema:"The engagement of the format's posts, in reactions."`
	Ratio      *Ratio  `json:"ratio,omitempty" jsonschema:"Engagement of the format's posts against all others; left out where too few posts are there to compare."`
}

// Growth is how the number of followers changes, from measurements at different times.
type Growth struct {
	Snapshots       int      `json:"snapshots" jsonschema:"Measurements that the figures rest on."`
	Days            float64  `json:"days" jsonschema:"Days between the first and the last of them."`
	FollowersPerDay Estimate `json:"followers_per_day"`
	// PercentPerMonth is the same in percent of the followers at the last measurement.
	PercentPerMonth *Estimate `json:"percent_per_month,omitempty" jsonschema:"Growth in thirty days, in percent of the followers at the last measurement."`
}

// Estimate is a figure with its 95 % confidence interval, which is left out where nothing tells how sure it is.
type Estimate struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
}

// Cadence is how often and how regularly the profile posts.
type Cadence struct {
	Posts        int      `json:"posts" jsonschema:"Posts whose time is known."`
	Days         float64  `json:"days" jsonschema:"Days from the oldest of them until the measurement."`
	PostsPerWeek float64  `json:"posts_per_week"`
	MedianGap    float64  `json:"median_gap_days" jsonschema:"The middle of the times between two posts, in days."`
	LongestGap   float64  `json:"longest_gap_days" jsonschema:"The longest time between two posts, in days."`
	LastPostDays float64  `json:"last_post_days" jsonschema:"Days from the newest post until the measurement."`
	Evenness     *float64 `json:"evenness,omitempty" jsonschema:"1 for posts at equal distances, about 0.5 for posts at random times, towards 0 for posts in bursts."`
}

// Hashtags is which hashtags the profile uses and what they do.
type Hashtags struct {
	Posts         int       `json:"posts" jsonschema:"Posts that were looked at."`
	Different     int       `json:"different" jsonschema:"Different hashtags in them."`
	MedianPerPost float64   `json:"median_per_post"`
	Hashtags      []Hashtag `json:"hashtags"`
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

// ComponentCause is a component with the figure that it was read from and the scale: a figure at floor or below it
// is worth 0, one at ceiling or above it 100.
type ComponentCause struct {
	Component

	Figure     string  `json:"figure" enum:"rate_by_followers|rate_by_views|views_by_followers|percent_per_month|posts_per_week|evenness"`
	Measured   float64 `json:"measured"`
	Floor      float64 `json:"floor"`
	Ceiling    float64 `json:"ceiling"`
	Scale      string  `json:"scale" enum:"linear|logarithmic"`
	FullWeight float64 `json:"full_weight" jsonschema:"Its weight where all components can be computed."`
}
