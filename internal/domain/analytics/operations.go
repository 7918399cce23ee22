package analytics

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/teamtime"
)

// Input selects an account and a period.
type Input struct {
	AccountID  int64 `json:"account_id"`
	PeriodDays int   `json:"period_days,omitempty" min:"1" max:"365" default:"30"`
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (Input) Descriptions() map[string]string {
	return map[string]string{"period_days": "Days of the period in the team's zone, including today."}
}

// AccountAnalytics is the performance of an account. Unknown metrics are omitted.
type AccountAnalytics struct {
	AccountID  int64                       `json:"account_id"`
	Period     AccountAnalyticsPeriod      `json:"period"`
	MeasuredAt *teamtime.Moment            `json:"measured_at,omitempty" jsonschema:"When the metrics were last collected."`
	Reach      *AccountAnalyticsReach      `json:"reach,omitempty"`
	Views      *AccountAnalyticsReach      `json:"views,omitempty"`
	Engagement *AccountAnalyticsEngagement `json:"engagement,omitempty"`
	BestPost   *AccountAnalyticsBestPost   `json:"best_post,omitempty"`
	Cadence    *AccountAnalyticsCadence    `json:"cadence,omitempty"`
	Formats    []AccountAnalyticsFormat    `json:"formats"`
	Followers  *AccountAnalyticsFollowers  `json:"followers,omitempty"`
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (AccountAnalytics) Descriptions() map[string]string {
	return map[string]string{
		"reach": "Total reach of the posts; a person who saw two posts counts twice. Omitted if the network " +
			"provides none.",
		"views":      "How often the posts were shown or played. Omitted if the network does not provide it.",
		"engagement": "Interactions with the posts. Omitted if the network provides none.",
		"best_post":  "The post with the most interactions; without interactions, the post with the most views.",
		"cadence":    "Publishing frequency. Omitted until something is collected.",
	}
}

// AccountAnalyticsPeriod is the period of a response.
type AccountAnalyticsPeriod struct {
	Days int             `json:"days" min:"1"`
	From teamtime.Moment `json:"from" jsonschema:"Start of the period's first day in the team's time zone."`
	To   teamtime.Moment `json:"to"`
}

// AccountAnalyticsReach is the sum of a metric over posts.
type AccountAnalyticsReach struct {
	Value int64  `json:"value" min:"0"`
	Basis string `json:"basis" enum:"measured" title:"EstimateBasis" jsonschema:"Always measured, never estimated."`
	Posts int    `json:"posts" min:"1" jsonschema:"Posts for which the network provides the metric."`
}

const basis = "measured"

// AccountAnalyticsEngagement holds the interactions with posts.
type AccountAnalyticsEngagement struct {
	Posts           int                                `json:"posts" min:"1"`
	Likes           *int64                             `json:"likes,omitempty" jsonschema:"All kinds of reactions."`
	Comments        *int64                             `json:"comments,omitempty" jsonschema:"Includes replies."`
	Shares          *int64                             `json:"shares,omitempty" jsonschema:"Includes reposts and quotes."`
	Saves           *int64                             `json:"saves,omitempty"`
	Clicks          *int64                             `json:"clicks,omitempty"`
	PerPost         *AccountAnalyticsEngagementPerPost `json:"per_post,omitempty"`
	RateByFollowers *AccountAnalyticsEngagementPerPost `json:"rate_by_followers,omitempty"`
	RateByViews     *AccountAnalyticsEngagementPerPost `json:"rate_by_views,omitempty" jsonschema:"Interactions per view of a post."`
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (AccountAnalyticsEngagement) Descriptions() map[string]string {
	return map[string]string{
		"posts":             "Posts for which the network provides interactions.",
		"per_post":          "Interactions per post: likes, comments, shares and saves.",
		"rate_by_followers": "Interactions per post and current follower; 0.02 means two per hundred followers.",
	}
}

// AccountAnalyticsEngagementPerPost is the median of a metric over posts.
type AccountAnalyticsEngagementPerPost struct {
	Median   float64                                    `json:"median" min:"0"`
	Interval *AccountAnalyticsEngagementPerPostInterval `json:"interval,omitempty"`
	Posts    int                                        `json:"posts" min:"1"`
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (AccountAnalyticsEngagementPerPost) Descriptions() map[string]string {
	return map[string]string{"interval": "95% confidence interval of the median. Omitted for fewer than 6 posts."}
}

// AccountAnalyticsEngagementPerPostInterval is a confidence interval.
type AccountAnalyticsEngagementPerPostInterval struct {
	Low  float64 `json:"low" min:"0"`
	High float64 `json:"high" min:"0"`
}

// AccountAnalyticsBestPostCounts are a network's metrics for one post.
type AccountAnalyticsBestPostCounts struct {
	Reach    *int64 `json:"reach,omitempty"`
	Views    *int64 `json:"views,omitempty"`
	Likes    *int64 `json:"likes,omitempty"`
	Comments *int64 `json:"comments,omitempty"`
	Shares   *int64 `json:"shares,omitempty"`
	Saves    *int64 `json:"saves,omitempty"`
	Clicks   *int64 `json:"clicks,omitempty"`
}

// AccountAnalyticsBestPost is the post that performed best.
type AccountAnalyticsBestPost struct {
	URL      string                         `json:"url,omitempty"`
	PostedAt teamtime.Moment                `json:"posted_at"`
	Format   string                         `json:"format" enum:"text|image|video|reel|carousel|story|link|unknown" title:"PostFormat"`
	Text     *operation.Pointer             `json:"text,omitempty" jsonschema:"Reference to the start of its text."`
	Counts   AccountAnalyticsBestPostCounts `json:"counts"`
}

// AccountAnalyticsCadence describes how often the account publishes.
type AccountAnalyticsCadence struct {
	Posts        int                                `json:"posts" min:"0"`
	Days         int                                `json:"days" min:"1"`
	PostsPerWeek float64                            `json:"posts_per_week" min:"0"`
	LongestGap   int                                `json:"longest_gap_days" min:"0" jsonschema:"Most consecutive days without a post."`
	ByWeekday    []AccountAnalyticsCadenceByWeekday `json:"by_weekday" minItems:"7" maxItems:"7"`
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (AccountAnalyticsCadence) Descriptions() map[string]string {
	return map[string]string{"days": "Days of the period for which posts are known. The other members refer to these days."}
}

// AccountAnalyticsCadenceByWeekday is the number of posts on a day of the week, in the team's zone.
type AccountAnalyticsCadenceByWeekday struct {
	Weekday string `json:"weekday" enum:"monday|tuesday|wednesday|thursday|friday|saturday|sunday" title:"Weekday"`
	Posts   int    `json:"posts" min:"0"`
}

// AccountAnalyticsFormat is the number of posts of a format.
type AccountAnalyticsFormat struct {
	Format     string                             `json:"format" enum:"text|image|video|reel|carousel|story|link|unknown"`
	Posts      int                                `json:"posts" min:"1"`
	Engagement *AccountAnalyticsEngagementPerPost `json:"engagement,omitempty"`
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (AccountAnalyticsFormat) Descriptions() map[string]string {
	return map[string]string{"engagement": "Interactions per post. Omitted if the network provides none."}
}

// AccountAnalyticsFollowers is the follower count of the account.
type AccountAnalyticsFollowers struct {
	Now        int64            `json:"now" min:"0"`
	MeasuredAt teamtime.Moment  `json:"measured_at"`
	Change     *int64           `json:"change,omitempty"`
	Since      *teamtime.Moment `json:"since,omitempty" jsonschema:"The measurement that change is based on."`
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (AccountAnalyticsFollowers) Descriptions() map[string]string {
	return map[string]string{
		"change": "Change since the newest count before the period or, if there is none, since the first count in the " +
			"period. Omitted if there is no later count.",
	}
}

// Operations returns the analytics operations.
func (s *Service) Operations() []operation.Operation {
	return []operation.Operation{
		operation.Define(operation.Spec{
			Tool: "get_account_analytics", Method: http.MethodGet, Path: "/social-accounts/{account_id}/analytics",
			Needs: access.Read, Success: http.StatusOK,
			Summary: "Get account analytics",
			Description: "Returns reach, engagement, best post, publishing cadence and formats of a connected " +
				"account, for all its posts, however they were published. " +
				"Uses metrics that are collected every few hours and calls no network. Metrics that the network " +
				"does not provide are omitted; notes say why a response is empty or partial.",
			Next: "Omitted metrics are unknown: do not invent them. A newly connected account has metrics after a " +
				"few hours.",
			Example: operation.Example{Arguments: map[string]any{"account_id": 4, "period_days": 30},
				Data: exampleAnalytics},
		}, s.analytics),
	}
}

var errNotInPlan = apierr.New(apierr.PlanLimitReached, "The team's plan does not include analytics.").With("limit",
	"analytics_retention_days")

func (s *Service) analytics(
	ctx context.Context, call operation.Call, in Input,
) (operation.Response[AccountAnalytics], error) {
	return s.Analyze(ctx, call, in.AccountID, Period{in.PeriodDays, call.Now.In(call.Zone)})
}

// Analyze returns an account's analytics for a period.
func (s *Service) Analyze(
	ctx context.Context, call operation.Call, id int64, in Period,
) (operation.Response[AccountAnalytics], error) {
	out := operation.Response[AccountAnalytics]{App: "/accounts/" + strconv.FormatInt(id, 10)}
	plan, _ := s.opts.Catalog.Plan(call.Plan) // A plan that was removed from the catalog has no analytics.
	retentionDays := planRetentionDays(plan)
	if retentionDays == 0 {
		return out, errNotInPlan
	}
	accounts, err := s.accounts.ByID(ctx, s.db, call.TeamID, []int64{id})
	if err != nil {
		return out, err
	}
	account, ok := accounts[id]
	if !ok {
		return out, apierr.ItemNotFound()
	}
	v := view{call: call, account: account, retentionDays: retentionDays, from: in.Start(), until: in.Until}
	if err := s.read(ctx, &v); err != nil {
		return out, err
	}
	var quotes operation.UntrustedTexts
	out.Data, out.Notes = v.analyze(in.Days, &quotes), s.listNotes(v)
	out.Untrusted = quotes
	return out, nil
}

// view holds the request and the stored data of an analysis.
type view struct {
	call          operation.Call
	account       account.Account
	retentionDays int       // number of days for which the plan keeps metrics
	from          time.Time // start of the period
	until         time.Time // end of the period's last day, or now if that day is today
	state         collectionState
	connectedAt   time.Time    // when the account was first connected
	posts         []storedPost // of the period, newest first
	days          []followerCount
	excerpt       string // of the best post
}

// knownSince returns the start of the part of the period for which all posts are known. It is zero before the first
// collection.
func (v view) knownSince() time.Time {
	if v.state.collectedAt.IsZero() {
		return time.Time{}
	}
	since := later(v.from, later(v.state.knownFrom, firstDay(v.call.Now, v.call.Zone, v.retentionDays)))
	if len(v.posts) == maxAnalyzed {
		since = later(since, v.posts[len(v.posts)-1].postedAt)
	}
	return since
}

// read reads the stored data of the analysis into v.
func (s *Service) read(ctx context.Context, v *view) error {
	team, account := v.call.TeamID, v.account.ID
	var err error
	if v.state, err = s.readState(ctx, team, account); err != nil {
		return err
	}
	periods, err := s.accounts.ConnectionPeriods(ctx, team, []int64{account})
	if err != nil {
		return err
	}
	v.connectedAt = periods[account].Since
	first, last := dayBefore(v.from, v.call.Zone), dayOf(v.until, v.call.Zone)
	if v.days, err = s.dailyCounts(ctx, team, account, first); err != nil {
		return err
	}
	v.days = countsSince(v.days, first, last)
	if n := len(v.days); n > 0 && v.days[n-1].day < first {
		v.days = nil
	}
	if v.posts, err = s.readPosts(ctx, team, account, later(v.from, firstDay(v.call.Now, v.call.Zone, v.retentionDays)),
		v.until); err != nil {
		return err
	}
	if top, ok := bestPost(v.posts); ok {
		v.excerpt, err = s.excerpt(ctx, team, account, top.id)
	}
	return err
}

// analyze returns the analysis of the stored data.
func (v view) analyze(days int, quotes *operation.UntrustedTexts) AccountAnalytics {
	current := v.describeFollowers()
	out := AccountAnalytics{
		AccountID: v.account.ID, Period: AccountAnalyticsPeriod{days, v.call.Moment(v.from), v.call.Moment(v.until)},
		MeasuredAt: v.call.MomentOrNil(v.state.collectedAt),
		Reach: sumMetric(v.posts, func(c AccountAnalyticsBestPostCounts) *int64 {
			return c.Reach
		}), Views: sumMetric(v.posts, func(c AccountAnalyticsBestPostCounts) *int64 { return c.Views }),
		BestPost: v.describeBestPost(quotes), Formats: byFormat(v.posts), Followers: current,
	}
	var followers int64
	if current != nil {
		followers = current.Now
	}
	out.Engagement = engagement(v.posts, followers)
	if since := v.knownSince(); !since.IsZero() && !since.After(v.until) {
		out.Cadence = cadence(v.posts, since, v.until, v.call.Zone)
	}
	return out
}

func (v view) describeBestPost(quotes *operation.UntrustedTexts) *AccountAnalyticsBestPost {
	topPost, ok := bestPost(v.posts)
	if !ok {
		return nil
	}
	source := operation.Source{Kind: "caption", Platform: v.account.Platform, Account: v.account.Username, URL: topPost.url}
	return &AccountAnalyticsBestPost{URL: topPost.url, PostedAt: v.call.Moment(topPost.postedAt), Format: topPost.format,
		Text: quotes.Add(v.excerpt, source), Counts: topPost.counts}
}

func (v view) describeFollowers() *AccountAnalyticsFollowers {
	if len(v.days) == 0 {
		return nil
	}
	last := v.days[len(v.days)-1]
	out := &AccountAnalyticsFollowers{Now: last.followers, MeasuredAt: v.call.Moment(last.at)}
	if from, n, ok := followerChange(v.days, dayBefore(v.from, v.call.Zone), dayOf(v.until, v.call.Zone)); ok {
		out.Change, out.Since = &n, v.call.MomentOrNil(from.at)
	}
	return out
}

var exampleAnalytics = func() AccountAnalytics {
	berlin := time.FixedZone("CEST", 2*60*60)
	at := func(day, hour int) teamtime.Moment {
		return teamtime.At(time.Date(2026, 6, day, hour, 0, 0, 0, berlin), berlin)
	}
	measured, monthStart, gained := at(30, 15), at(1, 0), int64(36)
	reach, views, likes, comments, shares, saves := int64(4_812), int64(7_350), int64(301), int64(24), int64(18),
		int64(40)
	return AccountAnalytics{
		AccountID: 4, Period: AccountAnalyticsPeriod{30, monthStart, at(30, 17)}, MeasuredAt: &measured,
		Reach: &AccountAnalyticsReach{4_812, basis, 1}, Views: &AccountAnalyticsReach{7_350, basis, 1},
		Engagement: &AccountAnalyticsEngagement{Posts: 1, Likes: &likes, Comments: &comments, Shares: &shares,
			Saves:           &saves,
			PerPost:         &AccountAnalyticsEngagementPerPost{383, nil, 1},
			RateByFollowers: &AccountAnalyticsEngagementPerPost{0.125, nil, 1},
			RateByViews: &AccountAnalyticsEngagementPerPost{0.052109,
				nil, 1}},
		BestPost: &AccountAnalyticsBestPost{URL: "https://www.instagram.com/p/C8x/", PostedAt: at(18, 9),
			Format: "reel",
			Text:   &operation.Pointer{Untrusted: "u1"},
			Counts: AccountAnalyticsBestPostCounts{Reach: &reach, Views: &views, Likes: &likes, Comments: &comments,
				Shares: &shares,
				Saves:  &saves}},
		Cadence: cadence([]storedPost{{postedAt: time.Date(2026, 6, 18, 9, 0, 0, 0, berlin)}},
			time.Date(2026, 6, 1, 0, 0, 0, 0, berlin), time.Date(2026, 6, 30, 17, 0, 0, 0, berlin), berlin),
		Formats:   []AccountAnalyticsFormat{{"reel", 1, &AccountAnalyticsEngagementPerPost{383, nil, 1}}},
		Followers: &AccountAnalyticsFollowers{Now: 3_064, MeasuredAt: measured, Change: &gained, Since: &monthStart},
	}
}()
