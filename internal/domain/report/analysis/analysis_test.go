package analysis_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/report/analysis"
	"pressroom.example/pressroom/internal/domain/report/result"
	"pressroom.example/pressroom/internal/domain/report/synthetic"
	"pressroom.example/pressroom/internal/testkit/must"
)

// daily returns posts, one per day, up to ten days before the measurement.
func daily(count int, each func(i int, p *provider.Post)) []provider.Post {
	posts := make([]provider.Post, count)
	for i := range posts {
		posts[i] = provider.Post{ID: fmt.Sprint(i), TakenAt: measuredAt.AddDate(0, 0, -10-i),
			Likes: new(int64(100 + i%7)), Comments: new(int64(5))}
		each(i, &posts[i])
	}
	return posts
}

func analyzePosts(posts []provider.Post) result.Result {
	return analysis.Analyze(analysis.ProfileInput{Account: provider.Account{Followers: new(int64(1000))}, Posts: posts,
		At: measuredAt})
}

func TestEmptyProfile(t *testing.T) {
	t.Parallel()
	got := must.Get(json.Marshal(analysis.Analyze(analysis.ProfileInput{})))(t)
	want := `{"engagement":{"basis":"measured","posts_analysed":0,"counts":[]},"top_hashtags":[],"top_words":[],"sections":{},"notes":[` +
		`"The profile has no readable public posts.","The number of followers is not public, so there is no ` +
		`engagement rate by followers.",` +
		`"Growth needs a second measurement at least half a day after the first.",` +
		`"There is no score: it needs five posts with metrics, or growth data."]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestCountedPosts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		posts  []provider.Post
		counts []string
		count  int
		note   string
	}{
		"all posts": {
			posts: daily(8, func(int, *provider.Post) {}), counts: []string{"likes", "comments"}, count: 8,
		},
		"a few posts without likes": {
			posts: daily(8, func(i int, p *provider.Post) {
				if i < 3 {
					p.Likes = nil
				}
			}), counts: []string{"likes", "comments"}, count: 5,
			note: "3 posts excluded from engagement: some reactions",
		},
		"most posts without likes": {
			posts: daily(8, func(i int, p *provider.Post) {
				if i < 5 {
					p.Likes = nil
				}
			}), counts: []string{"comments"}, count: 8,
		},
		"shares too": {
			posts: daily(8, func(_ int, p *provider.Post) { p.Shares = new(int64(2)) }), counts: []string{"likes",
				"comments", "shares"}, count: 8,
		},
		"nothing told": {
			posts:  daily(8, func(_ int, p *provider.Post) { p.Likes, p.Comments = nil, new(int64(-1)) }),
			counts: []string{}, count: 0,
			note: "8 posts excluded from engagement: some reactions",
		},
		"young posts and one from the future": {
			posts: daily(8, func(i int, p *provider.Post) {
				switch i {
				case 0:
					p.TakenAt = measuredAt.Add(-47 * time.Hour)
				case 1:
					p.TakenAt = measuredAt.Add(time.Minute)
				case 2:
					p.TakenAt = measuredAt.Add(-48 * time.Hour)
				}
			}), counts: []string{"likes", "comments"}, count: 6, note: "2 posts excluded from engagement: less " +
				"than two days old",
		},
		"without a time": {
			posts: daily(8, func(_ int, p *provider.Post) { p.TakenAt = time.Time{} }), counts: []string{"likes",
				"comments"}, count: 8,
		},
		"told twice": {
			posts:  slices.Concat(daily(8, func(int, *provider.Post) {}), daily(4, func(int, *provider.Post) {})),
			counts: []string{"likes", "comments"}, count: 8,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := analyzePosts(test.posts)
			if got.Engagement.PostsAnalysed != test.count || !slices.Equal(got.Engagement.Counts, test.counts) {
				t.Errorf("%d posts by %v, want %d by %v", got.Engagement.PostsAnalysed, got.Engagement.Counts,
					test.count, test.counts)
			}
			if !strings.Contains(strings.Join(got.Notes, "\n"), test.note) {
				t.Errorf("the note %q is missing: %q", test.note, got.Notes)
			}
		})
	}
}

func TestTooFewPostsNotCompared(t *testing.T) {
	t.Parallel()
	got := analyzePosts(daily(29, func(i int, p *provider.Post) {
		p.Caption = "#tide"
		p.TakenAt = p.TakenAt.Add(time.Duration(i%2) * 6 * time.Hour)
		p.Likes = new(int64(100 + 900*(i%2)))
	}))
	if got.BestTime != nil || got.TopHashtags[0].Ratio != nil || *got.TopHashtags[0].Works {
		t.Errorf("29 posts are too few, but were compared: %+v, %+v", got.BestTime, got.TopHashtags)
	}
	if !strings.HasPrefix(got.Notes[0], "Only 29 posts can be compared. At least 30") {
		t.Errorf("the expected note is missing: %q", got.Notes)
	}
}

// Without a comparison, the best time is a guess.
func TestGuessedBestTime(t *testing.T) {
	t.Parallel()
	noon := func(_ int, p *provider.Post) { p.TakenAt = p.TakenAt.Truncate(24 * time.Hour).Add(12 * time.Hour) }
	young := daily(27, noon)
	for i := range 3 {
		young = append(young, provider.Post{ID: fmt.Sprint("young ", i),
			TakenAt: measuredAt.Add(-time.Duration(i) * time.Hour), Likes: new(int64(1)), Comments: new(int64(1))})
	}
	for name, test := range map[string]struct {
		posts []provider.Post
		days  string
	}{
		// a Tuesday at noon
		"all at one time": {daily(40, func(i int, p *provider.Post) { p.TakenAt = measuredAt.AddDate(0, 0, -7*(i+1)) }),
			"weekdays"},
		"all alike": {daily(40, func(i int, p *provider.Post) { noon(i, p); p.Likes = new(int64(7)) }),
			"weekdays"},
		"some posts too young": {young, "weekdays"},
		"weekend better at many hours": {daily(40, func(i int, p *provider.Post) {
			noon(i, p)
			// each hour has too few posts to compare
			if p.TakenAt.Weekday() == time.Saturday || p.TakenAt.Weekday() == time.Sunday {
				p.TakenAt, p.Likes = p.TakenAt.Add(time.Duration(i%6-3)*4*time.Hour), new(int64(150+i%7))
			}
		}), "weekend"},
	} {
		got := analyzePosts(test.posts)
		if best := got.BestTime; best == nil || best.StandsOut || best.Days != test.days {
			t.Errorf("%s: %+v", name, best)
		}
		if !strings.Contains(strings.Join(got.Notes, "\n"), "he best time is a guess") {
			t.Errorf("%s: the expected note is missing: %q", name, got.Notes)
		}
	}
}

// The best time depends on the time zone.
func TestTimesInTeamTimeZone(t *testing.T) {
	t.Parallel()
	posts := daily(90, func(i int, p *provider.Post) {
		p.TakenAt = p.TakenAt.Add(time.Duration(i%3)*4*time.Hour + 30*time.Minute)
		p.Likes = new(int64(100 + i%13))
		// half past four in the afternoon
		if i%3 == 1 && p.TakenAt.Weekday() != time.Saturday && p.TakenAt.Weekday() != time.Sunday {
			p.Likes = new(int64(400 + i%17))
		}
	})
	for name, want := range map[string]int{"UTC": 16, "Asia/Tokyo": 0, "America/New_York": 12} {
		zone := must.Get(time.LoadLocation(name))(t)
		got := analysis.Analyze(analysis.ProfileInput{Posts: posts, Zone: zone, At: measuredAt})
		if got.BestTime == nil || got.BestTime.Hour != want {
			t.Errorf("%s: %+v, want %d o'clock", name, got.BestTime, want)
		}
	}
}

// Hashtags that always occur together are not separated. Three posts with unusually high engagement do not rank a
// hashtag first.
func TestConfoundedHashtags(t *testing.T) {
	t.Parallel()
	draw := rand.New(rand.NewPCG(7, 7))
	got := analyzePosts(daily(120, func(i int, p *provider.Post) {
		likes := 100 + draw.IntN(100)
		if draw.IntN(3) == 0 {
			p.Caption, likes = "#harbour #boats", 2*likes
		}
		if draw.IntN(3) == 0 {
			p.Caption += " #daily"
		}
		if i < 3 {
			p.Caption, likes = "#lucky", 900
		}
		p.Likes = new(int64(likes))
	}))
	places := map[string]int{}
	byName := map[string]result.FindingHashtag{}
	for i, tag := range got.TopHashtags {
		places[tag.Hashtag], byName[tag.Hashtag] = i, tag
	}
	if places["boats"] != 0 || places["harbour"] != 1 || !*byName["boats"].Works || !*byName["harbour"].Works {
		t.Errorf("the effective hashtags are not first: %+v", got.TopHashtags)
	}
	if diff := cmp.Diff(byName["boats"].Ratio, byName["harbour"].Ratio); diff != "" {
		t.Errorf("hashtags that occur together have different effects:\n%s", diff)
	}
	if byName["lucky"].Ratio != nil || byName["lucky"].Posts != 3 || *byName["daily"].Works {
		t.Errorf("ineffective hashtags are claimed: %+v", got.TopHashtags)
	}
	if !slices.Contains(got.Notes, "Some hashtags always occur together: their effects cannot be separated.") {
		t.Errorf("the expected note is missing: %q", got.Notes)
	}
}

// If format and time are confounded, neither has a ratio.
func TestConfoundedFormatAndTime(t *testing.T) {
	t.Parallel()
	got := analyzePosts(daily(120, func(_ int, p *provider.Post) {
		p.Format = provider.FormatImage
		if day := p.TakenAt.Weekday(); day == time.Saturday || day == time.Sunday {
			p.Format, p.Likes = provider.FormatReel, new(*p.Likes*5)
		}
	}))
	if got.BestTime == nil || got.BestTime.StandsOut {
		t.Errorf("a best time is claimed: %+v", got.BestTime)
	}
	for _, format := range got.Sections.Formats.Formats {
		if format.Ratio != nil {
			t.Errorf("%s has the ratio %+v", format.Format, *format.Ratio)
		}
		if format.Engagement == nil {
			t.Errorf("%s has no median", format.Format)
		}
	}
}

// Hashtags are the distinct normalized hashtags from the caption and the provider.
func TestPostHashtags(t *testing.T) {
	t.Parallel()
	got := analyzePosts([]provider.Post{
		{ID: "1", Caption: "Low water #Tide #tide", Hashtags: []string{"TIDE", "#Boats", "no hashtag"}},
		{ID: "2", Hashtags: []string{"boats"}},
	})
	want := []result.FindingHashtag{{Hashtag: "boats", Posts: 2, Works: new(bool)}, {Hashtag: "tide", Posts: 1,
		Works: new(bool)}}
	if diff := cmp.Diff(want, got.TopHashtags); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]result.FindingWord{{Word: "low", Posts: 1}, {Word: "water", Posts: 1}}, got.TopWords); diff != "" {
		t.Error(diff)
	}
}

func TestGrowth(t *testing.T) {
	t.Parallel()
	shot := func(hours int, followers int64) analysis.Snapshot {
		return analysis.Snapshot{At: measuredAt.Add(-time.Duration(hours) * time.Hour), Followers: &followers}
	}
	ahead := shot(-1, 7)
	for name, test := range map[string]struct {
		shots []analysis.Snapshot
		want  *result.FindingGrowth
	}{
		"none":                  {nil, nil},
		"one":                   {[]analysis.Snapshot{shot(0, 100)}, nil},
		"two within the hour":   {[]analysis.Snapshot{shot(1, 100), shot(0, 120)}, nil},
		"the same time twice":   {[]analysis.Snapshot{shot(0, 100), shot(0, 120)}, nil},
		"one untold, one ahead": {[]analysis.Snapshot{shot(0, 100), {At: measuredAt.AddDate(0, 0, -3)}, ahead}, nil},
		"two": {[]analysis.Snapshot{shot(0, 120), shot(48, 100)}, &result.FindingGrowth{
			Snapshots: 2, Days: 2, FollowersPerDay: &result.FindingEstimate{Value: 10}, PercentPerMonth: &result.FindingEstimate{
				Value: 250},
		}},
		"nobody left": {[]analysis.Snapshot{shot(0, 0), shot(48, 100)}, &result.FindingGrowth{
			Snapshots: 2, Days: 2, FollowersPerDay: &result.FindingEstimate{Value: -50},
		}},
		"no change": {[]analysis.Snapshot{shot(0, 100), shot(24, 100), shot(48, 100)}, &result.FindingGrowth{
			Snapshots: 3, Days: 2, FollowersPerDay: &result.FindingEstimate{}, PercentPerMonth: &result.FindingEstimate{},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := analysis.Analyze(analysis.ProfileInput{Snapshots: test.shots, At: measuredAt})
			if diff := cmp.Diff(test.want, got.Sections.Growth); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A single wrong number of followers does not affect growth.
func TestGrowthIgnoresOutlier(t *testing.T) {
	t.Parallel()
	in := input(synthetic.Generate(synthetic.Plan{Seed: 3, Posts: 60}))
	before := analysis.Analyze(in).Sections.Growth.FollowersPerDay
	in.Snapshots[12].Followers = new(int64(0))
	after := analysis.Analyze(in).Sections.Growth.FollowersPerDay
	if after.Value < *before.Low || after.Value > *before.High {
		t.Errorf("from %v–%v to %v", *before.Low, *before.High, after.Value)
	}
}

// The weights of the known components sum to 1 if some components are missing.
func TestScoreWithoutSomeComponents(t *testing.T) {
	t.Parallel()
	got := analysis.Analyze(analysis.ProfileInput{Posts: daily(20, func(_ int, p *provider.Post) {
		p.Views = new(int64(4000))
	}), At: measuredAt})
	var names []string
	weight := 0.0
	for _, c := range got.Sections.Score.Components {
		names = append(names, c.Name+" by "+c.Figure)
		weight += c.Weight
	}
	if diff := cmp.Diff([]string{"engagement by rate_by_views", "activity by posts_per_week",
		"consistency by evenness"}, names); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"reach", "growth"}, got.Sections.Score.Missing); diff != "" {
		t.Error(diff)
	}
	if weight < 0.999 || weight > 1.001 || got.Score.Value != got.Sections.Score.Value ||
		len(got.Score.Components) != 3 {
		t.Errorf("weights sum to %v: %+v", weight, got.Score)
	}
}

// Engagement without likes is reported, but excluded from the score.
func TestScoreWithHiddenLikes(t *testing.T) {
	t.Parallel()
	hidden := func(_ int, p *provider.Post) { p.Likes, p.Views = nil, new(int64(400)) }
	got := analyzePosts(daily(20, hidden))
	if rate := got.Engagement.RateByFollowers; rate == nil || rate.Median != 0.005 {
		t.Errorf("the rate of comments is %+v", rate)
	}
	var names []string
	weight := 0.0
	for _, c := range got.Score.Components {
		names = append(names, c.Name)
		weight += c.Weight
	}
	if diff := cmp.Diff([]string{"reach", "activity", "consistency"}, names); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"engagement", "growth"}, got.Sections.Score.Missing); diff != "" {
		t.Error(diff)
	}
	const note = "Most posts hide their likes: engagement counts only comments, and the score excludes it."
	if weight < 0.999 || weight > 1.001 || !slices.Contains(got.Notes, note) {
		t.Errorf("weights sum to %v, notes %q", weight, got.Notes)
	}
	if shown := analyzePosts(daily(20, func(int, *provider.Post) {})); slices.Contains(shown.Notes, note) {
		t.Errorf("public likes are reported as hidden: %q", shown.Notes)
	}
}

func TestShares(t *testing.T) {
	t.Parallel()
	got := analyzePosts(daily(9, func(i int, p *provider.Post) {
		if i < 8 {
			p.Shares = new(int64(i))
		}
	}))
	want := &result.FindingMedian{Median: 3.5, Low: got.Engagement.Shares.Low, High: got.Engagement.Shares.High,
		LowerQuartile: 1.75, UpperQuartile: 5.25, Posts: 8}
	if diff := cmp.Diff(want, got.Engagement.Shares); diff != "" {
		t.Error(diff)
	}
	if none := analyzePosts(daily(9, func(int, *provider.Post) {})).Engagement.Shares; none != nil {
		t.Errorf("unknown shares are %+v", *none)
	}
}

func TestMissingScoreNote(t *testing.T) {
	t.Parallel()
	const note = "There is no score: it needs five posts with metrics, or growth data."
	for _, count := range []int{0, 4, 5} {
		got := analyzePosts(daily(count, func(int, *provider.Post) {}))
		if missing := slices.Contains(got.Notes, note); missing != (got.Score == nil) || missing != (count < 5) {
			t.Errorf("%d posts: score %+v, notes %q", count, got.Score, got.Notes)
		}
	}
}
