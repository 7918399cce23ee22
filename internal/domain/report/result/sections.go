package result

// Sections are the parts of the findings that are requested by name. Those without data are omitted.
type Sections struct {
	Audience *Audience     `json:"audience,omitempty" jsonschema:"Hashtag only."`
	Cadence  *Cadence      `json:"cadence,omitempty" jsonschema:"Profile only."`
	Formats  *Formats      `json:"formats,omitempty"`
	Growth   *Growth       `json:"growth,omitempty"`
	Hashtags *Hashtags     `json:"hashtags,omitempty"`
	Score    *ScoreSection `json:"score,omitempty"`
	Times    *Times        `json:"times,omitempty" jsonschema:"Profile only."`
	Words    *Words        `json:"words,omitempty"`
}

// Audience summarizes reactions to the top and recent posts of a hashtag.
type Audience struct {
	Top    *Reactions `json:"top,omitempty"`
	Recent *Reactions `json:"recent,omitempty"`
}

// Reactions summarizes reactions to posts.
type Reactions struct {
	Posts     int      `json:"posts"`
	MedianAge *float64 `json:"median_age_days,omitempty" jsonschema:"Median age in days."`
	Likes     *Median  `json:"likes,omitempty"`
	Comments  *Median  `json:"comments,omitempty"`
	Views     *Median  `json:"views,omitempty"`
}

// Cadence is how often and how regularly a profile posts.
type Cadence struct {
	Posts        int      `json:"posts" jsonschema:"Dated posts."`
	Days         float64  `json:"days" jsonschema:"Days from the oldest post to the measurement."`
	PostsPerWeek float64  `json:"posts_per_week"`
	MedianGap    float64  `json:"median_gap_days" jsonschema:"Median days between posts."`
	LongestGap   float64  `json:"longest_gap_days" jsonschema:"Most days between posts."`
	LastPostDays float64  `json:"last_post_days" jsonschema:"Days from the newest post to the measurement."`
	Evenness     *float64 `json:"evenness,omitempty" jsonschema:"1: equal gaps; about 0.5: random times; near 0: bursts."`
}

// Formats is a profile's engagement by format, or the formats of a hashtag's posts.
type Formats struct {
	Posts   int      `json:"posts" jsonschema:"Posts of known format. Profile: those compared."`
	Formats []Format `json:"formats" jsonschema:"Most used first."`
}

// Format is a format of posts.
type Format struct {
	Format      string   `json:"format" enum:"image|video|reel|carousel"`
	Posts       int      `json:"posts"`
	Engagement  *Median  `json:"engagement,omitempty" jsonschema:"Profile: median reactions."`
	Ratio       *Ratio   `json:"ratio,omitempty" jsonschema:"Profile: relative engagement, all else being equal."`
	TopShare    *float64 `json:"top_share,omitempty" jsonschema:"Hashtag: share of top posts of known format."`
	RecentShare *float64 `json:"recent_share,omitempty" jsonschema:"Hashtag: share of recent posts of known format."`
}

// Growth is the change in a profile's followers between measurements, or in a hashtag's posts per day compared with
// earlier measurements over at least a day.
type Growth struct {
	Snapshots       int       `json:"snapshots,omitempty" jsonschema:"Profile: number of measurements."`
	Measurements    int       `json:"measurements,omitempty" jsonschema:"Hashtag: number of earlier measurements compared."`
	Days            float64   `json:"days" jsonschema:"Days between first and last, or earlier and current measurements."`
	FollowersPerDay *Estimate `json:"followers_per_day,omitempty" jsonschema:"Profile only."`
	PercentPerMonth *Estimate `json:"percent_per_month,omitempty" jsonschema:"Profile: growth in 30 days, in percent."`
	PostsPerDay     *Ratio    `json:"posts_per_day,omitempty" jsonschema:"Hashtag: the rate relative to the earlier rate."`
}

// Hashtags are the hashtags of a profile with their effects, or those related to a hashtag.
type Hashtags struct {
	Posts         int       `json:"posts" jsonschema:"Posts analyzed."`
	Different     int       `json:"different" jsonschema:"Number of distinct hashtags."`
	MedianPerPost *float64  `json:"median_per_post,omitempty" jsonschema:"Profile only."`
	Hashtags      []Hashtag `json:"hashtags" jsonschema:"Most effective or related first, then by frequency."`
}

// Words are the words in captions.
type Words struct {
	Posts     int    `json:"posts" jsonschema:"Posts analyzed."`
	Different int    `json:"different" jsonschema:"Number of distinct words."`
	Words     []Word `json:"words" jsonschema:"Most used first."`
}

// Times is a profile's engagement by time of posting, in the team's time zone.
type Times struct {
	Posts  int     `json:"posts" jsonschema:"Posts compared."`
	Blocks []Block `json:"blocks" jsonschema:"Twelve blocks of four hours: six on weekdays, six on the weekend."`
}

// Block is four hours on weekdays or on the weekend.
type Block struct {
	Days  string `json:"days" enum:"weekdays|weekend"`
	Hour  int    `json:"hour" jsonschema:"First hour."`
	Hours int    `json:"hours"`
	Posts int    `json:"posts"`
	Ratio *Ratio `json:"ratio,omitempty" jsonschema:"Relative engagement, all else being equal."`
}
