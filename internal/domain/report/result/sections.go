package result

// Sections are the parts of the findings that are requested by name. Sections without data are omitted.
type Sections struct {
	Audience *FindingAudience     `json:"audience,omitempty" jsonschema:"Hashtag only."`
	Cadence  *FindingCadence      `json:"cadence,omitempty" jsonschema:"Profile only."`
	Formats  *FindingFormats      `json:"formats,omitempty"`
	Growth   *FindingGrowth       `json:"growth,omitempty"`
	Hashtags *FindingHashtags     `json:"hashtags,omitempty"`
	Score    *FindingScoreSection `json:"score,omitempty"`
	Times    *FindingTimes        `json:"times,omitempty" jsonschema:"Profile only."`
	Words    *FindingWords        `json:"words,omitempty"`
}

// FindingAudience summarizes reactions to the top and recent posts of a hashtag.
type FindingAudience struct {
	Top    *FindingReactions `json:"top,omitempty"`
	Recent *FindingReactions `json:"recent,omitempty"`
}

// FindingReactions summarizes reactions to posts.
type FindingReactions struct {
	Posts     int            `json:"posts"`
	MedianAge *float64       `json:"median_age_days,omitempty" jsonschema:"Median age in days."`
	Likes     *FindingMedian `json:"likes,omitempty"`
	Comments  *FindingMedian `json:"comments,omitempty"`
	Views     *FindingMedian `json:"views,omitempty"`
}

// FindingCadence describes how often and how regularly a profile posts.
type FindingCadence struct {
	Posts        int      `json:"posts" jsonschema:"Dated posts."`
	Days         float64  `json:"days" jsonschema:"Days from the oldest post to the measurement."`
	PostsPerWeek float64  `json:"posts_per_week"`
	MedianGap    float64  `json:"median_gap_days" jsonschema:"Median days between posts."`
	LongestGap   float64  `json:"longest_gap_days" jsonschema:"Most days between posts."`
	LastPostDays float64  `json:"last_post_days" jsonschema:"Days from the newest post to the measurement."`
	Evenness     *float64 `json:"evenness,omitempty" jsonschema:"1: equal gaps; about 0.5: random times; near 0: bursts."`
}

// FindingFormats is a profile's engagement by format, or the formats of a hashtag's posts.
type FindingFormats struct {
	Posts   int             `json:"posts" jsonschema:"Posts of known format. Profile: those compared."`
	Formats []FindingFormat `json:"formats" jsonschema:"Most used first."`
}

// FindingFormat is a format of posts.
type FindingFormat struct {
	Format      string         `json:"format" enum:"image|video|reel|carousel" title:"ReportFormat"`
	Posts       int            `json:"posts"`
	Engagement  *FindingMedian `json:"engagement,omitempty" jsonschema:"Profile: median reactions."`
	Ratio       *FindingRatio  `json:"ratio,omitempty" jsonschema:"Profile: relative engagement, all else being equal."`
	TopShare    *float64       `json:"top_share,omitempty" jsonschema:"Hashtag: share of top posts of known format."`
	RecentShare *float64       `json:"recent_share,omitempty" jsonschema:"Hashtag: share of recent posts of known format."`
}

// FindingGrowth is the change in a profile's followers between measurements. For a hashtag, it is the change in posts
// per day compared with earlier measurements over at least a day.
type FindingGrowth struct {
	Snapshots       int              `json:"snapshots,omitempty" jsonschema:"Profile: number of measurements."`
	Measurements    int              `json:"measurements,omitempty" jsonschema:"Hashtag: number of earlier measurements compared."`
	Days            float64          `json:"days" jsonschema:"Days between first and last, or earlier and current measurements."`
	FollowersPerDay *FindingEstimate `json:"followers_per_day,omitempty" jsonschema:"Profile only."`
	PercentPerMonth *FindingEstimate `json:"percent_per_month,omitempty" jsonschema:"Profile: growth in 30 days, in percent."`
	PostsPerDay     *FindingRatio    `json:"posts_per_day,omitempty" jsonschema:"Hashtag: the rate relative to the earlier rate."`
}

// FindingHashtags are the hashtags of a profile with their effects, or the hashtags related to a hashtag.
type FindingHashtags struct {
	Posts         int              `json:"posts" jsonschema:"Posts analyzed."`
	Different     int              `json:"different" jsonschema:"Number of distinct hashtags."`
	MedianPerPost *float64         `json:"median_per_post,omitempty" jsonschema:"Profile only."`
	Hashtags      []FindingHashtag `json:"hashtags" jsonschema:"Most effective or related first, then by frequency."`
}

// FindingWords are the words in captions.
type FindingWords struct {
	Posts     int           `json:"posts" jsonschema:"Posts analyzed."`
	Different int           `json:"different" jsonschema:"Number of distinct words."`
	Words     []FindingWord `json:"words" jsonschema:"Most used first."`
}

// FindingTimes is a profile's engagement by time of posting, in the team's time zone.
type FindingTimes struct {
	Posts  int            `json:"posts" jsonschema:"Posts compared."`
	Blocks []FindingBlock `json:"blocks" jsonschema:"Twelve blocks of four hours: six on weekdays, six on the weekend."`
}

// FindingBlock is a block of four hours on weekdays or on the weekend.
type FindingBlock struct {
	Days  string        `json:"days" enum:"weekdays|weekend" title:"DayGroup"`
	Hour  int           `json:"hour" jsonschema:"First hour."`
	Hours int           `json:"hours"`
	Posts int           `json:"posts"`
	Ratio *FindingRatio `json:"ratio,omitempty" jsonschema:"Relative engagement, all else being equal."`
}
