package result

// Sections are the parts of an analysis that are asked for by name. One with nothing to tell is left out.
type Sections struct {
	Audience *Audience     `json:"audience,omitempty" jsonschema:"Of a hashtag."`
	Cadence  *Cadence      `json:"cadence,omitempty" jsonschema:"Of a profile."`
	Formats  *Formats      `json:"formats,omitempty"`
	Growth   *Growth       `json:"growth,omitempty"`
	Hashtags *Hashtags     `json:"hashtags,omitempty"`
	Score    *ScoreSection `json:"score,omitempty"`
	Times    *Times        `json:"times,omitempty" jsonschema:"Of a profile."`
	Words    *Words        `json:"words,omitempty"`
}

// Audience is what reactions posts under a hashtag meet: those that the network shows as best, and those just posted.
type Audience struct {
	Top    *Reactions `json:"top,omitempty"`
	Recent *Reactions `json:"recent,omitempty"`
}

// Reactions are how people react to some posts.
type Reactions struct {
	Posts     int      `json:"posts"`
	MedianAge *float64 `json:"median_age_days,omitempty" jsonschema:"Half of the posts are older, in days."`
	Likes     *Median  `json:"likes,omitempty"`
	Comments  *Median  `json:"comments,omitempty"`
	Views     *Median  `json:"views,omitempty"`
}

// Cadence is how often and how regularly a profile posts.
type Cadence struct {
	Posts        int      `json:"posts" jsonschema:"Posts whose time is known."`
	Days         float64  `json:"days" jsonschema:"Days from the oldest of them until the measurement."`
	PostsPerWeek float64  `json:"posts_per_week"`
	MedianGap    float64  `json:"median_gap_days" jsonschema:"The middle of the times between two posts, in days."`
	LongestGap   float64  `json:"longest_gap_days" jsonschema:"The longest time between two posts, in days."`
	LastPostDays float64  `json:"last_post_days" jsonschema:"Days from the newest post until the measurement."`
	Evenness     *float64 `json:"evenness,omitempty" jsonschema:"1 for posts at equal distances, about 0.5 for posts at random times, towards 0 for posts in bursts."`
}

// Formats is how a profile's engagement depends on the format of a post, or which kinds of posts stand under a hashtag.
type Formats struct {
	Posts   int      `json:"posts" jsonschema:"Posts whose format is known; of a profile those that were compared."`
	Formats []Format `json:"formats" jsonschema:"The most used first."`
}

// Format is one kind of post.
type Format struct {
	Format      string   `json:"format" enum:"image|video|reel|carousel"`
	Posts       int      `json:"posts"`
	Engagement  *Median  `json:"engagement,omitempty" jsonschema:"Of a profile: the engagement of the format's posts, in reactions."`
	Ratio       *Ratio   `json:"ratio,omitempty" jsonschema:"Of a profile: engagement of the format's posts against all others, all else that is known being equal; left out where too few posts are there to compare."`
	TopShare    *float64 `json:"top_share,omitempty" jsonschema:"Of a hashtag: its share of the top posts whose format is known."`
	RecentShare *float64 `json:"recent_share,omitempty" jsonschema:"Of a hashtag: its share of the recent posts whose format is known."`
}

// Growth is how the number of a profile's followers changes, from measurements at different times, or how many posts come
// under a hashtag a day now against earlier measurements, each of which covers at least a day.
type Growth struct {
	Snapshots       int       `json:"snapshots,omitempty" jsonschema:"Of a profile: measurements that the figures rest on."`
	Measurements    int       `json:"measurements,omitempty" jsonschema:"Of a hashtag: earlier measurements that it was compared with."`
	Days            float64   `json:"days" jsonschema:"Of a profile: days between the first and the last measurement. Of a hashtag: days between the middle of the earlier measurements and that of this one."`
	FollowersPerDay *Estimate `json:"followers_per_day,omitempty" jsonschema:"Of a profile."`
	PercentPerMonth *Estimate `json:"percent_per_month,omitempty" jsonschema:"Of a profile: growth in thirty days, in percent of the followers at the last measurement."`
	PostsPerDay     *Ratio    `json:"posts_per_day,omitempty" jsonschema:"Of a hashtag: the rate now, as a multiple of the earlier rate."`
}

// Hashtags is which hashtags a profile uses and what they do, or which stand beside a hashtag.
type Hashtags struct {
	Posts         int       `json:"posts" jsonschema:"Posts that were looked at."`
	Different     int       `json:"different" jsonschema:"Different hashtags in them."`
	MedianPerPost *float64  `json:"median_per_post,omitempty" jsonschema:"Of a profile."`
	Hashtags      []Hashtag `json:"hashtags" jsonschema:"Of a profile those come first that most likely help, of a hashtag those whose relation can be claimed; then those that stand there most."`
}

// Words is which words the captions have.
type Words struct {
	Posts     int    `json:"posts" jsonschema:"Posts that were looked at."`
	Different int    `json:"different" jsonschema:"Different words in them."`
	Words     []Word `json:"words" jsonschema:"The most used first."`
}

// Times is how a profile's engagement depends on when a post goes out, in the team's time zone.
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
	Ratio *Ratio `json:"ratio,omitempty" jsonschema:"Engagement of the block's posts against all others, all else that is known being equal; left out below three posts."`
}
