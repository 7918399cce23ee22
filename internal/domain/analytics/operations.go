package analytics

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/domain/account"
	"pressroom/internal/teamtime"
)

// Input says of which account and for how long.
type Input struct {
	AccountID  int64 `json:"account_id"`
	PeriodDays int   `json:"period_days,omitempty" min:"1" max:"365" default:"30" jsonschema:"How many days of the team's zone the answer is about, of which today is the last."`
}

// Analytics is how an account does (contract, Records). What was not told is left out.
type Analytics struct {
	AccountID  int64            `json:"account_id"`
	Period     Period           `json:"period"`
	MeasuredAt *teamtime.Moment `json:"measured_at,omitempty" jsonschema:"When the network was last asked for all of it."`
	Reach      *Total           `json:"reach,omitempty" jsonschema:"The posts' reach, added up: who saw two posts counts twice. Left out where the network tells none."`
	Views      *Total           `json:"views,omitempty" jsonschema:"How often the posts were shown or played. Left out where the network does not tell."`
	Engagement *Engagement      `json:"engagement,omitempty" jsonschema:"What people did with the posts. Left out where nothing of it was told."`
	BestPost   *BestPost        `json:"best_post,omitempty" jsonschema:"The post with the most interactions; where the network tells none, the one that was seen most."`
	Cadence    *Cadence         `json:"cadence,omitempty" jsonschema:"How often posts appear. Left out while nothing was collected."`
	Formats    []Format         `json:"formats"`
	Followers  *Followers       `json:"followers,omitempty"`
}

// Period is what the answer is about.
type Period struct {
	Days int             `json:"days" min:"1"`
	From teamtime.Moment `json:"from" jsonschema:"The beginning of its first day in the team's zone."`
	To   teamtime.Moment `json:"to"`
}

// Total is a figure of several posts, added up.
type Total struct {
	Value int64  `json:"value" min:"0"`
	Basis string `json:"basis" enum:"measured" jsonschema:"Nothing here is estimated."`
	Posts int    `json:"posts" min:"1" jsonschema:"The posts for which the network tells it."`
}

const basis = "measured"

// Engagement is what people did with posts.
type Engagement struct {
	Posts           int     `json:"posts" min:"1" jsonschema:"The posts for which the network tells something of it."`
	Likes           *int64  `json:"likes,omitempty" jsonschema:"Reactions of every sort."`
	Comments        *int64  `json:"comments,omitempty" jsonschema:"Replies too."`
	Shares          *int64  `json:"shares,omitempty" jsonschema:"Reposts and quotes too."`
	Saves           *int64  `json:"saves,omitempty"`
	Clicks          *int64  `json:"clicks,omitempty"`
	PerPost         *Spread `json:"per_post,omitempty" jsonschema:"Interactions of one post: likes, comments, shares and saves together."`
	RateByFollowers *Spread `json:"rate_by_followers,omitempty" jsonschema:"Interactions of one post for each follower that the account has now: 0.02 are two for every hundred."`
	RateByViews     *Spread `json:"rate_by_views,omitempty" jsonschema:"Interactions of one post for each of its views."`
}

// Spread is the middle of a figure over posts.
type Spread struct {
	Median   float64   `json:"median" min:"0"`
	Interval *Interval `json:"interval,omitempty" jsonschema:"Holds the median of such posts with 95 of 100. Left out for fewer than 6 posts."`
	Posts    int       `json:"posts" min:"1"`
}

// Interval is from where to where.
type Interval struct {
	Low  float64 `json:"low" min:"0"`
	High float64 `json:"high" min:"0"`
}

// Counts are what a network counted at one post.
type Counts struct {
	Reach    *int64 `json:"reach,omitempty"`
	Views    *int64 `json:"views,omitempty"`
	Likes    *int64 `json:"likes,omitempty"`
	Comments *int64 `json:"comments,omitempty"`
	Shares   *int64 `json:"shares,omitempty"`
	Saves    *int64 `json:"saves,omitempty"`
	Clicks   *int64 `json:"clicks,omitempty"`
}

// BestPost is one post.
type BestPost struct {
	URL      string             `json:"url,omitempty"`
	PostedAt teamtime.Moment    `json:"posted_at"`
	Format   string             `json:"format" enum:"text|image|video|reel|carousel|story|link|unknown"`
	Text     *operation.Pointer `json:"text,omitempty" jsonschema:"Points at the beginning of its text."`
	Counts   Counts             `json:"counts"`
}

// Cadence is how often posts appear.
type Cadence struct {
	Posts        int       `json:"posts" min:"0"`
	Days         int       `json:"days" min:"1" jsonschema:"The days of the period for which the account's posts are known; the other figures here are about these."`
	PostsPerWeek float64   `json:"posts_per_week" min:"0"`
	LongestGap   int       `json:"longest_gap_days" min:"0" jsonschema:"The most days in a row without a post."`
	ByWeekday    []Weekday `json:"by_weekday" minItems:"7" maxItems:"7"`
}

// Weekday counts the posts of one day of the week, in the team's zone.
type Weekday struct {
	Weekday string `json:"weekday" enum:"monday|tuesday|wednesday|thursday|friday|saturday|sunday"`
	Posts   int    `json:"posts" min:"0"`
}

// Format counts the posts of one form.
type Format struct {
	Format     string  `json:"format" enum:"text|image|video|reel|carousel|story|link|unknown"`
	Posts      int     `json:"posts" min:"1"`
	Engagement *Spread `json:"engagement,omitempty" jsonschema:"Interactions of one post. Left out where the network tells none."`
}

// Followers is how many follow the account.
type Followers struct {
	Now        int64            `json:"now" min:"0"`
	MeasuredAt teamtime.Moment  `json:"measured_at"`
	Change     *int64           `json:"change,omitempty" jsonschema:"What came to them in the period, as far as it was measured. Left out where they were measured on one day alone."`
	Since      *teamtime.Moment `json:"since,omitempty" jsonschema:"The measurement from which change is counted."`
}

// Operations declares what clients can ask of an account's figures.
func (s *Service) Operations() []operation.Operation {
	return []operation.Operation{
		operation.Define(operation.Spec{
			Tool: "get_account_analytics", Method: http.MethodGet, Path: "/social-accounts/{account_id}/analytics", Needs: access.Read, Success: http.StatusOK,
			Summary: "How an account does",
			Description: "Reach, engagement, best post, publishing cadence and formats of one connected account, of all its posts, whoever published them. " +
				"Worked out from what is collected of the account every few hours; reaches no network. What the network does not tell is left out, and notes say why an answer is empty or partial.",
			Next:    "What is left out is not known: make no figures up. An account that was connected just now has none before a few hours have passed.",
			Example: operation.Example{Arguments: map[string]any{"account_id": 4, "period_days": 30}, Data: exampleAnalytics},
		}, s.analytics),
	}
}

var errNotInPlan = apierr.New(apierr.PlanLimitReached, "The team's plan has no analytics of connected accounts.").With("limit", "analytics_retention_days")

func (s *Service) analytics(ctx context.Context, call operation.Call, in Input) (operation.Answer[Analytics], error) {
	out := operation.Answer[Analytics]{App: "/accounts/" + strconv.FormatInt(in.AccountID, 10)}
	plan, _ := s.opts.Terms.Plan(call.Plan) // one that is not there any more has none
	kept := keptDays(plan)
	if kept == 0 {
		return out, errNotInPlan
	}
	found, err := s.accounts.Of(ctx, call.TeamID, []int64{in.AccountID})
	if err != nil {
		return out, err
	}
	account, there := found[in.AccountID]
	if !there {
		return out, apierr.Missing()
	}
	v := view{call: call, account: account, kept: kept, from: firstDay(call.Now, call.Zone, in.PeriodDays)}
	if err := s.read(ctx, &v); err != nil {
		return out, err
	}
	var quotes operation.Quotes
	out.Data, out.Notes = v.show(in.PeriodDays, &quotes), s.notes(v)
	out.Untrusted = quotes
	return out, nil
}

// view is all that an analysis is worked out from.
type view struct {
	call     operation.Call
	account  account.Account
	kept     int       // days for which the plan keeps figures
	from     time.Time // the beginning of the period
	standing collectionState
	joined   time.Time    // when the account was connected first
	posts    []storedPost // of the period, the newest first
	days     []followerCount
	excerpt  string // of the best post
}

// knownSince is from when on the period's posts are known; zero while nothing was collected.
func (v view) knownSince() time.Time {
	if v.standing.collected.IsZero() {
		return time.Time{}
	}
	since := later(v.from, later(v.standing.knownFrom, firstDay(v.call.Now, v.call.Zone, v.kept)))
	if len(v.posts) == maxAnalyzed {
		since = later(since, v.posts[len(v.posts)-1].postedAt)
	}
	return since
}

func (s *Service) read(ctx context.Context, v *view) error {
	team, account := v.call.TeamID, v.account.ID
	var err error
	if v.standing, err = s.readState(ctx, team, account); err != nil {
		return err
	}
	lives, err := s.accounts.ConnectionPeriods(ctx, team, []int64{account})
	if err != nil {
		return err
	}
	v.joined = lives[account].Since
	if v.days, err = s.days(ctx, team, account, dayBefore(v.from, v.call.Zone)); err != nil {
		return err
	}
	if v.posts, err = s.readPosts(ctx, team, account, later(v.from, firstDay(v.call.Now, v.call.Zone, v.kept)), v.call.Now); err != nil {
		return err
	}
	if top, ok := best(v.posts); ok {
		v.excerpt, err = s.excerpt(ctx, team, account, top.id)
	}
	return err
}

func (v view) show(days int, quotes *operation.Quotes) Analytics {
	now := v.followers()
	out := Analytics{
		AccountID: v.account.ID, Period: Period{days, v.call.Moment(v.from), v.call.Moment(v.call.Now)}, MeasuredAt: v.call.Maybe(v.standing.collected),
		Reach: total(v.posts, func(c Counts) *int64 { return c.Reach }), Views: total(v.posts, func(c Counts) *int64 { return c.Views }),
		BestPost: v.best(quotes), Formats: byFormat(v.posts), Followers: now,
	}
	var followers int64
	if now != nil {
		followers = now.Now
	}
	out.Engagement = engagement(v.posts, followers)
	if since := v.knownSince(); !since.IsZero() {
		out.Cadence = cadence(v.posts, since, v.call.Now, v.call.Zone)
	}
	return out
}

func (v view) best(quotes *operation.Quotes) *BestPost {
	top, ok := best(v.posts)
	if !ok {
		return nil
	}
	source := operation.Source{Kind: "caption", Platform: v.account.Platform, Account: v.account.Username, URL: top.url}
	return &BestPost{URL: top.url, PostedAt: v.call.Moment(top.postedAt), Format: top.format, Text: quotes.Add(v.excerpt, source), Counts: top.figures}
}

func (v view) followers() *Followers {
	if len(v.days) == 0 {
		return nil
	}
	last := v.days[len(v.days)-1]
	out := &Followers{Now: last.followers, MeasuredAt: v.call.Moment(last.at)}
	if from, n, told := change(v.days, dayOf(v.from, v.call.Zone)); told {
		out.Change, out.Since = &n, v.call.Maybe(from.at)
	}
	return out
}

// FollowerCount is how many followed an account on a day.
type FollowerCount struct {
	At        time.Time
	Followers int64
}

// FollowerHistory are how many followed a team's account, day by day as far as it was measured since a time.
func (s *Service) FollowerHistory(ctx context.Context, team, account int64, since time.Time) ([]FollowerCount, error) {
	days, err := s.days(ctx, team, account, dayOf(since, since.Location()))
	if err != nil {
		return nil, err
	}
	out := make([]FollowerCount, len(days))
	for i, d := range days {
		out[i] = FollowerCount{d.at, d.followers}
	}
	return out, nil
}

var exampleAnalytics = func() Analytics {
	berlin := time.FixedZone("CEST", 2*60*60)
	at := func(day, hour int) teamtime.Moment {
		return teamtime.At(time.Date(2026, 6, day, hour, 0, 0, 0, berlin), berlin)
	}
	asked, before, joined := at(30, 15), at(1, 0), int64(36)
	reach, views, likes, comments, shares, saves := int64(4_812), int64(7_350), int64(301), int64(24), int64(18), int64(40)
	return Analytics{
		AccountID: 4, Period: Period{30, before, at(30, 17)}, MeasuredAt: &asked,
		Reach: &Total{4_812, basis, 1}, Views: &Total{7_350, basis, 1},
		Engagement: &Engagement{Posts: 1, Likes: &likes, Comments: &comments, Shares: &shares, Saves: &saves,
			PerPost: &Spread{383, nil, 1}, RateByFollowers: &Spread{0.125, nil, 1}, RateByViews: &Spread{0.052109, nil, 1}},
		BestPost: &BestPost{URL: "https://www.instagram.com/p/C8x/", PostedAt: at(18, 9), Format: "reel", Text: &operation.Pointer{Untrusted: "u1"},
			Counts: Counts{Reach: &reach, Views: &views, Likes: &likes, Comments: &comments, Shares: &shares, Saves: &saves}},
		Cadence:   cadence([]storedPost{{postedAt: time.Date(2026, 6, 18, 9, 0, 0, 0, berlin)}}, time.Date(2026, 6, 1, 0, 0, 0, 0, berlin), time.Date(2026, 6, 30, 17, 0, 0, 0, berlin), berlin),
		Formats:   []Format{{"reel", 1, &Spread{383, nil, 1}}},
		Followers: &Followers{Now: 3_064, MeasuredAt: asked, Change: &joined, Since: &before},
	}
}()
